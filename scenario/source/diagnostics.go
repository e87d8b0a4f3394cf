package source

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Errorf returns an error that is not placed yet: what a function finds that knows a value and not
// where it is.
func Errorf(code, format string, args ...any) *Diagnostic {
	return &Diagnostic{Severity: Error, Code: code, Summary: fmt.Sprintf(format, args...)}
}

// Warnf is Errorf for a warning.
func Warnf(code, format string, args ...any) *Diagnostic {
	d := Errorf(code, format, args...)
	d.Severity = Warning
	return d
}

// Help says in d what to do next.
func (d *Diagnostic) Help(detail string) *Diagnostic {
	d.Detail = detail
	return d
}

// Among says in d what is allowed, and which of it was likely meant; "": that is open.
func (d *Diagnostic) Among(nearest string, allowed []string) *Diagnostic {
	d.Nearest, d.Allowed = nearest, allowed
	return d
}

// At is d placed at a value: the JSON pointer to it, its position, and how many characters of the line
// are marked.
func (d *Diagnostic) At(path string, pos Pos, width int) Diagnostic {
	placed := *d
	placed.Path, placed.Pos, placed.Width = path, pos, width
	return placed
}

// AtKey is d placed at a key, or at another word that is written at pos.
func (d *Diagnostic) AtKey(path string, pos Pos, key string) Diagnostic {
	return d.At(path, pos, utf8.RuneCountInString(key))
}

// Diagnostics is every mistake found.
type Diagnostics []Diagnostic

// HasErrors reports whether any of them stops the plan.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sorted gives the diagnostics in the order of file, line, column and code. What is said of several paths
// at one place (a default is read once for each stage) is there once.
func (ds Diagnostics) Sorted() Diagnostics {
	sorted := slices.Clone(ds)
	slices.SortStableFunc(sorted, compare)
	return slices.CompactFunc(sorted, func(a, b Diagnostic) bool { return compare(a, b) == 0 })
}

func compare(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Pos.File, b.Pos.File),
		cmp.Compare(a.Pos.Line, b.Pos.Line),
		cmp.Compare(a.Pos.Column, b.Pos.Column),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Summary, b.Summary),
	)
}

// Error implements error: it lists all of them, one a line.
func (ds Diagnostics) Error() string {
	var lines []string
	for _, d := range ds {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// String is the diagnostic in one line: file:line:column: severity: summary.
func (d Diagnostic) String() string {
	return fmt.Sprintf("%s: %s: %s", d.Pos, d.Severity, d.Summary)
}

// String is file:line:column, without the parts that are not known.
func (p Pos) String() string {
	if p.Line == 0 {
		return cmp.Or(p.File, "-")
	}
	return fmt.Sprintf("%s:%d:%d", cmp.Or(p.File, "-"), p.Line, p.Column)
}

// Short is a position in the plan without the file's name, or one on the command line with it.
func Short(p Pos) string {
	if strings.HasPrefix(p.File, "--") {
		return p.String()
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// QuoteAll joins words: "a", "b" and "c".
func QuoteAll(words []string, last string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, strconv.Quote(w))
	}
	if n := len(words) - 1; n > 0 {
		return strings.Join(quoted[:n], ", ") + " " + last + " " + quoted[n]
	}
	return strings.Join(quoted, "")
}

// Codes that several packages report.
const (
	CodeValue       = "invalid-value"
	CodeType        = "wrong-type"
	CodeNoPlan      = "not-a-plan"
	CodeRange       = "out-of-range"
	CodeNotInBinary = "not-in-binary"
	CodeUnknownKey  = "unknown-key"
	CodeUnknownName = "unknown-name"
	CodeDuplicate   = "duplicate-name"
	CodeExactlyOne  = "exactly-one-of"
	CodeDoesNotFit  = "does-not-fit"
	CodeMissing     = "missing-key"
	CodeNull        = "null-value"
	CodeSet         = "set-matches-nothing"
	CodeShortSecret = "short-secret"
	CodeVarMissing  = "variable-without-value"
	CodeVarUnknown  = "unknown-variable"
	CodeVarUnused   = "unused-variable"
	CodeIdle        = "unused-entry"
	CodeNoEffect    = "no-effect"
	CodeVarSyntax   = "variable-syntax"
	CodeURL         = "invalid-url"
	CodeHeader      = "invalid-header"
	CodeFile        = "file-missing"
	CodeTLSUnused   = "tls-not-used"
	CodeLevels      = "invalid-levels"
	CodeTooMany     = "too-many-nodes"
	CodeVersion     = "unsupported-version"
	CodeExtends     = "extends-cycle"
	CodeProfile     = "unknown-profile"
	CodeOverlay     = "overlay-matches-nothing"
	CodeMatrix      = "invalid-matrix"
)
