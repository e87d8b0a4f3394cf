package source

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The shape of `terraform validate -json`, format 1.0, so that editors and CI plug-ins that read it
// read ours. Bytes and highlight offsets count bytes from 0, lines and columns from 1. Fields of our
// own come last.
type (
	jsonReport struct {
		FormatVersion string           `json:"format_version"`
		Valid         bool             `json:"valid"`
		ErrorCount    int              `json:"error_count"`
		WarningCount  int              `json:"warning_count"`
		Diagnostics   []jsonDiagnostic `json:"diagnostics"`
		Values        any              `json:"values,omitempty"`
	}
	jsonDiagnostic struct {
		Severity Severity     `json:"severity"`
		Summary  string       `json:"summary"`
		Detail   string       `json:"detail"`
		Range    *jsonRange   `json:"range,omitempty"`
		Snippet  *jsonSnippet `json:"snippet,omitempty"`
		Code     string       `json:"code"`
		Path     string       `json:"path"`
		Allowed  []string     `json:"allowed,omitempty"`
		Nearest  string       `json:"nearest,omitempty"`
	}
	jsonRange struct {
		Filename string  `json:"filename"`
		Start    jsonPos `json:"start"`
		End      jsonPos `json:"end"`
	}
	jsonPos struct {
		Line   int `json:"line"`
		Column int `json:"column"`
		Byte   int `json:"byte"`
	}
	jsonSnippet struct {
		Context              *string `json:"context"` // the path, null for the whole plan
		Code                 string  `json:"code"`
		StartLine            int     `json:"start_line"`
		HighlightStartOffset int     `json:"highlight_start_offset"`
		HighlightEndOffset   int     `json:"highlight_end_offset"`
		Values               []any   `json:"values"` // always empty: a plan has no values while it is checked
	}
)

// JSON is the diagnostics for programs, in the shape of `terraform validate -json`, with code, path,
// allowed and nearest added to each. values, if any, come after them.
func JSON(ds Diagnostics, sources Sources, values any) ([]byte, error) {
	report := jsonReport{
		FormatVersion: "1.0", Valid: !ds.HasErrors(), Diagnostics: []jsonDiagnostic{},
		Values: values,
	}
	files := filesOf(sources)
	for _, d := range ds {
		if d.Severity == Error {
			report.ErrorCount++
		} else {
			report.WarningCount++
		}
		report.Diagnostics = append(report.Diagnostics, d.json(files))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // `latency.p99 < 50ms` stays readable
	enc.SetIndent("", "  ")
	if err := enc.Encode(report); err != nil {
		return nil, fmt.Errorf("encode diagnostics: %w", err)
	}
	return b.Bytes(), nil
}

func (d Diagnostic) json(files func(string) (lines, bool)) jsonDiagnostic {
	j := jsonDiagnostic{
		Severity: d.Severity, Summary: d.Summary, Detail: d.Detail,
		Code: d.Code, Path: d.Path, Allowed: d.Allowed, Nearest: d.Nearest,
	}
	if d.Pos.Line == 0 {
		return j
	}
	end := d.Pos.Column + max(1, d.Width)
	j.Range = &jsonRange{
		Filename: d.Pos.File,
		Start:    jsonPos{Line: d.Pos.Line, Column: d.Pos.Column},
		End:      jsonPos{Line: d.Pos.Line, Column: end},
	}
	file, ok := files(d.Pos.File)
	if d.Hidden || !ok || d.Pos.Line > file.count() {
		return j
	}
	j.Range.Start.Byte = file.byteOffset(d.Pos.Line, d.Pos.Column)
	j.Range.End.Byte = file.byteOffset(d.Pos.Line, end)
	code := file.text(d.Pos.Line)
	j.Snippet = &jsonSnippet{
		Code: code, StartLine: d.Pos.Line, Values: []any{},
		HighlightStartOffset: len(runePrefix(code, d.Pos.Column-1)),
		HighlightEndOffset:   len(runePrefix(code, end-1)),
	}
	if d.Path != "" {
		j.Snippet.Context = &d.Path
	}
	return j
}
