package program

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// playText returns what the label of a node says besides its load: live sequences, the mix, the
// extent, repeats.
func playText(n *Node) (text string) {
	if q := n.Sequences; q != nil && n.Open && !q.Begin {
		what := "steps of %d live sequences"
		if q.Sessions {
			what = "turns of %d live sessions"
		}
		text += ", " + fmt.Sprintf(what, q.Live)
	}
	if n.Stage.Mix != nil {
		text += ", " + mixText(n.Stage.Mix)
	}
	switch e := n.Stage.Extent.(type) {
	case scenario.For:
		text += " for " + spanText(e.Span)
	case scenario.UntilStable:
		text += fmt.Sprintf(" until stable (%d windows of %s)", e.Windows, spanText(e.Window))
	case scenario.UntilPrecise:
		text += " until " + preciseText(e)
	case scenario.UntilOthers:
		text += " until the others are done"
	}
	if n.Stage.Repeat > 1 {
		text += fmt.Sprintf(", %d repeats", n.Stage.Repeat)
	}
	return text
}

// timesText describes the times of a schedule, from the file or data called name.
func timesText(s scenario.Schedule, name string) string {
	text, comma := "times of "+name, ","
	if s.From > 0 {
		text, comma = text+", from "+source.Duration(s.From), ""
	}
	if s.To > 0 {
		text += comma + " to " + source.Duration(s.To)
	}
	if s.Speed != 1 {
		text += fmt.Sprintf(", %v times as fast", s.Speed)
	}
	return text
}

// quantityText describes the amounts of a load, without their unit.
func quantityText(n *Node) string {
	switch q := quantity(n.Stage).(type) {
	case scenario.Ramp:
		var steps []string
		for _, s := range q.Steps {
			steps = append(steps, valueText(s.To))
		}
		return "ramp to " + strings.Join(steps, ", ")
	case scenario.Search:
		return fmt.Sprintf("search from %s to %s", valueText(q.From), valueText(q.To))
	}
	return valueText(n.Level)
}

// valueText returns a value as it was written.
func valueText(l scenario.Level) string {
	if l.Expr != nil {
		return "${" + l.Expr.Text + "}"
	}
	return l.Text
}

func arrivalText(a scenario.Arrivals) string {
	text := " " + cmp.Or(a.Word, fmt.Sprint("cv ", a.CV))
	if a.Exact {
		text += " exact"
	}
	return text
}

func mixText(entries []scenario.Entry) string {
	var parts []string
	for _, e := range entries {
		part := e.Name
		if e.Weight > 0 {
			part = fmt.Sprint(e.Weight, " ", part)
		}
		parts = append(parts, part)
	}
	return "mix of " + strings.Join(parts, ", ")
}

func spanText(s scenario.Span) string {
	for _, c := range []struct {
		n         int64
		one, many string
	}{
		{s.Requests, "request", "requests"},
		{s.Sequences, "sequence", "sequences"},
		{s.Sessions, "session", "sessions"},
		{s.Passes, "pass", "passes"},
	} {
		switch {
		case c.n == 1:
			return "1 " + c.one
		case c.n > 1:
			return fmt.Sprintf("%d %s", c.n, c.many)
		}
	}
	return source.Duration(s.Duration)
}

// preciseText says how precisely a node is measured: "latency.p99 is within 5 %".
func preciseText(u scenario.UntilPrecise) string {
	var parts []string
	for _, x := range u.Within {
		parts = append(parts, fmt.Sprintf("%s is within %s", x.Metric.Text,
			expression.Format(metric.Ratio, x.Share)))
	}
	return strings.Join(parts, ", ")
}
