package trial

import (
	"fmt"

	"github.com/sluice-bench/sluice/executor/result"
)

// findings holds what a step of a trial found, in order.
type findings []result.Finding

// invalid adds why the measurement cannot be trusted.
func (f *findings) invalid(code, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	*f = append(*f, result.Finding{Code: code, Severity: result.Invalidating, Text: text})
}

// bounded adds why numbers are intervals.
func (f *findings) bounded(code, format string, args ...any) {
	*f = append(*f, result.Finding{Code: code, Severity: result.Bounding, Text: fmt.Sprintf(format, args...)})
}

// note adds what a reader should know, without doubt about the numbers.
func (f *findings) note(code, format string, args ...any) {
	*f = append(*f, result.Finding{Code: code, Severity: result.Note, Text: fmt.Sprintf(format, args...)})
}

// count adds a note if there are n things of a kind: "2 requests were …".
func (f *findings) count(code string, n int64, kind, text string) {
	if n > 0 {
		f.note(code, "%s %s", were(kind, n), text)
	}
}

// addTo adds the findings to a node.
func (f findings) addTo(out *result.Node) {
	v := &out.Validity
	for _, x := range f {
		v.Findings = append(v.Findings, x)
		v.OK = v.OK && x.Severity != result.Invalidating
	}
}
