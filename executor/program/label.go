package program

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// labelOf is a node in a few words, for graphs and tables.
func labelOf(n *Node) string {
	what := loadText(n)
	if r, ok := n.Stage.Load.(scenario.Rate); ok {
		what += arrivalText(r.Arrivals)
		if r.Of != "requests" && r.Of != "" {
			what += ", of " + r.Of
		}
	}
	if q := n.Sequences; q != nil && n.Open && !q.Begin {
		what += fmt.Sprintf(", steps of %d live sequences", q.Live)
	}
	if n.Stage.Mix != nil {
		what += ", " + mixText(n.Stage.Mix)
	}
	if e := extentText(n.Stage.Extent); e != "" {
		what += " " + e
	}
	if n.Stage.Repeat > 1 {
		what += fmt.Sprintf(", %d repeats", n.Stage.Repeat)
	}
	return what
}

// loadText is what a node is driven by, without its extent.
func loadText(n *Node) string {
	unit := ""
	if !n.Open {
		unit = " in flight"
		if n.Sequences != nil {
			unit = " live sequences"
		}
	}
	switch l := n.Stage.Load.(type) {
	case scenario.Intervals:
		return "gaps of " + filepath.Base(l.File.Name)
	case scenario.Schedule:
		name := "the data's rows"
		if l.File != nil {
			name = filepath.Base(l.File.Name)
		}
		text := "times of " + name
		switch {
		case l.From > 0 && l.To > 0:
			text += ", from " + source.Duration(l.From) + " to " + source.Duration(l.To)
		case l.From > 0:
			text += ", from " + source.Duration(l.From)
		case l.To > 0:
			text += ", to " + source.Duration(l.To)
		}
		if l.Speed != 1 {
			text += fmt.Sprintf(", %s times as fast", strconv.FormatFloat(l.Speed, 'g', -1, 64))
		}
		return text
	}
	switch q := quantity(n.Stage).(type) {
	case scenario.Ramp:
		var steps []string
		for _, s := range q.Steps {
			steps = append(steps, valueText(s.To))
		}
		return "ramp to " + strings.Join(steps, ", ") + unit
	case scenario.Search:
		return fmt.Sprintf("search from %s to %s%s", valueText(q.From), valueText(q.To), unit)
	case scenario.Periodic:
		return fmt.Sprintf("%d to %d in flight, %d more each time", q.From, q.To, q.Step)
	}
	return valueText(n.Level) + unit
}

// valueText is a value as it was written.
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

func extentText(e scenario.Extent) string {
	switch e := e.(type) {
	case scenario.For:
		return "for " + spanText(e.Span)
	case scenario.UntilStable:
		return fmt.Sprintf("until stable (%d windows of %s)", e.Windows, spanText(e.Window))
	case scenario.UntilOthers:
		return "until the others are done"
	}
	return ""
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
