package artifact

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
)

// The words that the summary file, the terminal and JUnit have in common.

// load is what was asked of a node: "concurrency 4", "100/s poisson", "160/s poisson = 0.8 * stage(\"find\").capacity".
func load(n *result.Node) string {
	return clean.Line(strings.TrimSpace(amount(n) + arrivals(n) + derived(n)))
}

// amount is how much was asked of a node, or where that stands.
func amount(n *result.Node) string {
	switch l := n.Load; {
	case len(l.Ramp) > 0:
		return ramp(n)
	case l.Periodic != nil:
		return periodic(n)
	case l.Kind == "intervals", l.Kind == "schedule":
		text := l.Kind + " " + filepath.Base(cmp.Or(l.File, "of the data"))
		if l.Speed != 0 && l.Speed != 1 {
			text += fmt.Sprintf(", %.6g times as fast", l.Speed)
		}
		return text
	case l.Kind == "":
		return ""
	case l.Value == 0 && len(n.Trials) > 0: // no trial was confirmed
		return "search"
	case l.Value == 0: // it was skipped: its value is that of an earlier result
		return l.Kind
	default:
		return level(n, l.Value)
	}
}

// arrivals is how the arrivals of a rate lie: " poisson", " cv 2 exact".
func arrivals(n *result.Node) string {
	l := n.Load
	if l.Kind != "rate" {
		return ""
	}
	text := ""
	if word := l.Arrivals; word != "" {
		text = " " + word
	} else if l.CV > 0 {
		text = fmt.Sprintf(" cv %.6g", l.CV)
	}
	if l.Exact {
		text += " exact"
	}
	return text
}

// derived is the formula of a value that comes from an earlier result.
func derived(n *result.Node) string {
	if n.Load.Formula == "" {
		return ""
	}
	const most = 48
	return " = " + cut(strings.TrimSuffix(strings.TrimPrefix(n.Load.Formula, "${"), "}"), most)
}

// ramp is the lowest and the highest value that a ramp holds or goes to: "ramp 500/s to 2000/s".
func ramp(n *result.Node) string {
	lowest, highest := n.Load.Ramp[0].To, n.Load.Ramp[0].To
	for _, s := range n.Load.Ramp {
		lowest, highest = min(lowest, s.To), max(highest, s.To)
	}
	text := "ramp to " + level(n, highest)
	if lowest < highest {
		text = "ramp " + level(n, lowest) + " to " + level(n, highest)
	}
	return text
}

// periodic is where a load that grows with the responses begins and ends: "concurrency 2 to 6".
func periodic(n *result.Node) string {
	p := n.Load.Periodic
	return fmt.Sprintf("%s %d to %d", n.Load.Kind, p.From, p.To)
}

// level is one value of a node's load: "100/s", "concurrency 4".
func level(n *result.Node, v float64) string {
	if n.Load.Kind == "rate" {
		return result.Format("1/s", v)
	}
	return clean.Line(n.Load.Kind + " " + result.Format("1", v))
}

// observed and limit of an assertion, written so that they look different when they are.
func sides(a result.Assertion) (observed, limit string) {
	observed, limit = "no data", ""
	switch {
	case a.Within > 0:
		if a.Observed != nil {
			observed = since(*a.Observed)
		}
		return observed, since(a.Within)
	case a.Observed != nil && a.Limit != nil:
		return result.FormatApart(a.Unit, *a.Observed, *a.Limit)
	case a.Observed != nil:
		observed = result.Format(a.Unit, *a.Observed)
	case a.Limit != nil:
		limit = result.Format(a.Unit, *a.Limit)
	}
	return observed, limit
}

// since is the time from which on an assertion is true.
func since(t float64) string {
	if t == 0 {
		return "from the start"
	}
	return "from " + result.Format("s", t)
}

// said is an assertion with what was found, in one line.
func said(a result.Assertion) string {
	if a.Reason != "" {
		return clean.Line(a.That) + ": " + clean.Line(a.Reason)
	}
	observed, limit := sides(a)
	text := clean.Line(a.That) + ": observed " + observed
	if limit != "" {
		text += ", limit " + limit
	}
	if a.Samples > 0 {
		text += " (" + plural(a.Samples, "sample") + ")"
	}
	return text
}

// why is the reason of a verdict where the observed value beside the limit does not say it.
func why(a result.Assertion) string {
	if a.Verdict == result.Pass || a.Verdict == result.Fail && a.Observed != nil && a.Limit != nil {
		return ""
	}
	return cut(clean.Line(a.Reason), maxText)
}

// invalidBecause joins the findings that make a measurement invalid.
func invalidBecause(n *result.Node) string {
	var list []string
	for _, f := range n.Validity.Findings {
		if f.Severity == result.Invalidating {
			list = append(list, clean.Line(f.Text))
		}
	}
	if len(list) == 0 {
		return clean.Line(n.Reason)
	}
	return strings.Join(list, "; ")
}

// next is what to do about an assertion that proved nothing; "" where its reason or the node's findings say it.
func next(a result.Assertion, n *result.Node) string {
	if a.Verdict != result.Inconclusive {
		return ""
	}
	if n != nil && n.Outcome == result.Unstable {
		return "allow more windows, longer ones, or a larger within"
	}
	if n == nil || n.Outcome != result.Done || a.Samples >= a.Needed || a.LacksScrape() {
		return "" // no time brings series that a server does not show
	}
	if len(n.Trials) > 0 && a.Observed == nil {
		return "" // what a search did not find, no time brings either
	}
	if a.Samples == 0 || n.Duration <= 0 {
		return "measure for longer"
	}
	longer := n.Duration * float64(a.Needed) / float64(a.Samples)
	if longer > 10 {
		longer = math.Ceil(longer)
	}
	return "measure for about " + result.Format("s", longer) + " instead of " + result.Format("s", n.Duration)
}

// judged is an assertion and where it was judged; a nil node is the plan.
type judged struct {
	node *result.Node
	result.Assertion
}

func (j judged) where() string {
	if j.node == nil {
		return "plan"
	}
	return clean.Line(j.node.ID)
}

// assertions of all nodes, then of the plan.
func assertions(r *result.Result) []judged {
	var list []judged
	for _, n := range r.Nodes {
		for _, a := range n.Assertions {
			list = append(list, judged{n, a})
		}
	}
	for _, a := range r.Assertions {
		list = append(list, judged{nil, a})
	}
	return list
}
