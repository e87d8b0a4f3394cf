package program

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// playText returns what the label of a node says besides its load: live sequences, the mix, the
// extent, repeats.
func playText(n *Node) (text string) {
	if q := n.Sequences; q != nil && n.Open && !q.Begin {
		text += fmt.Sprintf(", steps of %d live sequences", q.Live)
	}
	if n.Stage.Mix != nil {
		text += ", " + mixText(n.Stage.Mix)
	}
	switch e := n.Stage.Extent.(type) {
	case scenario.For:
		text += " for " + spanText(e.Span)
	case scenario.UntilStable:
		text += fmt.Sprintf(" until stable (%d windows of %s)", e.Windows, spanText(e.Window))
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
	text := "times of " + name
	if s.From > 0 || s.To > 0 {
		text += ","
	}
	if s.From > 0 {
		text += " from " + source.Duration(s.From)
	}
	if s.To > 0 {
		text += " to " + source.Duration(s.To)
	}
	if s.Speed != 1 {
		text += fmt.Sprintf(", %s times as fast", strconv.FormatFloat(s.Speed, 'g', -1, 64))
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
	text := " " + cmp.Or(a.Word, "cv "+strconv.FormatFloat(a.CV, 'g', -1, 64))
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
			part = strconv.FormatFloat(e.Weight, 'g', -1, 64) + " " + part
		}
		parts = append(parts, part)
	}
	return "mix of " + strings.Join(parts, ", ")
}

func spanText(s scenario.Span) string {
	for _, c := range []struct {
		n    int64
		unit string
	}{{s.Requests, "request"}, {s.Sequences, "sequence"}, {s.Sessions, "session"}, {s.Passes, "pass"}} {
		switch {
		case c.n == 1:
			return "1 " + c.unit
		case c.n > 1 && c.unit == "pass":
			return fmt.Sprintf("%d passes", c.n)
		case c.n > 1:
			return fmt.Sprintf("%d %ss", c.n, c.unit)
		}
	}
	return source.Duration(s.Duration)
}
