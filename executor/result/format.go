package result

import (
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Format formats a value in its base unit for people: 0.0312 of "s" is "31.2 ms". All messages,
// tables and summaries use it.
func Format(unit string, v float64) string { return expression.Format(dim(unit), v) }

// FormatApart formats two values of a unit so that different values look different.
func FormatApart(unit string, a, b float64) (string, string) {
	return expression.FormatApart(dim(unit), a, b)
}

func dim(unit string) metric.Dim {
	for d := metric.Duration; d < metric.Number; d++ {
		if d.Unit() == unit {
			return d
		}
	}
	return metric.Number
}

// Statement returns the expression of an assertion with the conditions on which it is judged.
func (a *Assertion) Statement() string {
	text := a.That
	if a.Every > 0 {
		text += ", every " + Format("s", a.Every)
	}
	if a.Allow > 0 {
		text += ", " + Format("ratio", a.Allow) + " may be false"
	}
	if a.Within > 0 {
		text += ", within " + Format("s", a.Within)
	}
	if a.Confidence > 0 {
		text += ", at " + Format("ratio", a.Confidence)
	}
	return text
}
