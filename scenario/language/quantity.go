package language

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

var decimalForm = regexp.MustCompile(`^` + decimal + `$`)

// IsDecimal reports whether a text is a number without a sign and a unit.
func IsDecimal(s string) bool { return decimalForm.MatchString(s) }

// scale turns a number in a unit into one in the unit of its type: it is multiplied and divided.
type scale struct{ times, per float64 }

// readQuantity reads a number with a unit as a T.
func readQuantity[T Rate | Ratio | Size | power | energy](
	f *Form, n *source.Node, _ string,
) (any, *source.Diagnostic) {
	number := n.Text[:len(n.Text)-len(strings.TrimLeft(n.Text, "0123456789."))]
	unit, known := f.units[strings.TrimLeft(n.Text[len(number):], " ")]
	if !known || !IsDecimal(number) {
		return nil, f.Mistake(n)
	}
	v, _ := strconv.ParseFloat(number, 64)
	v = v * unit.times / unit.per
	_, whole := any(T(0)).(Size)
	switch {
	case math.IsInf(v, 0), whole && v >= math.MaxInt64:
		return nil, f.tooLarge(n)
	case whole:
		v = math.Round(v)
	}
	return T(v), nil
}

func (f *Form) tooLarge(n *source.Node) *source.Diagnostic {
	return source.Errorf(source.CodeValue, "%s %q is too large", f.Name, n.Text)
}

func readDuration(f *Form, n *source.Node, _ string) (any, *source.Diagnostic) {
	d, ok := source.ParseDuration(n.Text)
	switch {
	case ok:
		return d, nil
	case source.IsDuration(n.Text):
		return nil, source.Errorf(source.CodeValue, "duration %q is too large", n.Text).
			Help("the longest duration is about 292 years")
	}
	return nil, f.Mistake(n)
}

func readSpan(f *Form, n *source.Node, path string) (any, *source.Diagnostic) {
	if source.IsDuration(n.Text) {
		d, wrong := readDuration(f, n, path)
		if wrong != nil {
			return nil, wrong
		}
		return Span{Duration: d.(time.Duration)}, nil
	}
	var span Span
	digits, unit, _ := strings.Cut(n.Text, " ")
	unit = strings.TrimLeft(unit, " ")
	count := map[string]*int64{
		"request": &span.Requests, "requests": &span.Requests,
		"sequence": &span.Sequences, "sequences": &span.Sequences,
		"session": &span.Sessions, "sessions": &span.Sessions,
		"pass": &span.Passes, "passes": &span.Passes,
	}[unit]
	if count == nil || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, f.Mistake(n)
	}
	var err error
	if *count, err = strconv.ParseInt(digits, 10, 64); err != nil {
		return nil, f.tooLarge(n)
	}
	if *count == 0 {
		return nil, source.Errorf(source.CodeValue, "span %q is no number of %s", n.Text, unit).
			Help("give at least 1")
	}
	return span, nil
}
