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

// Texts shared by the summary file, the terminal and JUnit.

// loadText describes the load of a node: "concurrency 4", "100/s poisson", "160/s poisson = 0.8 *
// stage(\"find\").capacity".
func loadText(n *result.Node) string {
	return clean.Line(strings.TrimSpace(amount(n) + arrivals(n) + formulaText(n)))
}

// amount returns the amount of a node's load, or where it is defined.
func amount(n *result.Node) string {
	switch l := n.Load; {
	case len(l.Ramp) > 0:
		return rampText(n)
	case l.Periodic != nil:
		return fmt.Sprintf("%s %d to %d", l.Kind, l.Periodic.From, l.Periodic.To)
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
	case l.Value == 0: // it was skipped: its value comes from an earlier result
		return l.Kind
	default:
		return levelText(n, l.Value)
	}
}

// arrivals describes the arrivals of a rate: " poisson", " cv 2 exact".
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

// formulaText returns the formula of a value that comes from an earlier result.
func formulaText(n *result.Node) string {
	if n.Load.Formula == "" {
		return ""
	}
	const most = 48
	return " = " + cut(strings.TrimSuffix(strings.TrimPrefix(n.Load.Formula, "${"), "}"), most)
}

// rampText returns the lowest and highest value of a ramp: "ramp 500/s to 2000/s".
func rampText(n *result.Node) string {
	lowest, highest := n.Load.Ramp[0].To, n.Load.Ramp[0].To
	for _, s := range n.Load.Ramp {
		lowest, highest = min(lowest, s.To), max(highest, s.To)
	}
	text := "ramp to " + levelText(n, highest)
	if lowest < highest {
		text = "ramp " + levelText(n, lowest) + " to " + levelText(n, highest)
	}
	return text
}

// levelText formats one value of a node's load: "100/s", "concurrency 4".
func levelText(n *result.Node, v float64) string {
	if users := n.Load.Users; users > 0 {
		return fmt.Sprintf("%s of each of %d users", result.Format("1/s", v), users)
	}
	if n.Load.Kind == "rate" {
		return result.Format("1/s", v)
	}
	return clean.Line(n.Load.Kind + " " + result.Format("1", v))
}

// observed formats the observed value and the limit of an assertion so that different values look
// different.
func sides(a result.Assertion) (observed, limit string) {
	observed, limit = "no data", ""
	switch {
	case a.Within > 0:
		if a.Observed != nil {
			observed = trueFrom(*a.Observed)
		}
		return observed, trueFrom(a.Within)
	case a.Infinite && a.Limit != nil:
		return "infinite", result.Format(a.Unit, *a.Limit)
	case a.Observed != nil && a.Limit != nil:
		return result.FormatApart(a.Unit, *a.Observed, *a.Limit)
	case a.Observed != nil:
		observed = result.Format(a.Unit, *a.Observed)
	case a.Limit != nil:
		limit = result.Format(a.Unit, *a.Limit)
	}
	return observed, limit
}

// trueFrom formats the time from which on an assertion is true.
func trueFrom(t float64) string {
	if t == 0 {
		return "from the start"
	}
	return "from " + result.Format("s", t)
}

// resultLine describes an assertion and its result in one line.
func resultLine(a result.Assertion) string {
	if a.Reason != "" {
		return clean.Line(a.That) + ": " + clean.Line(a.Reason)
	}
	observed, limit := sides(a)
	text := clean.Line(a.That) + ": observed " + observed
	if limit != "" {
		text += ", limit " + limit
	}
	if a.Samples > 0 {
		text += " (" + plural(a.Samples, "sample") + worthText(a) + ")"
	}
	return text
}

// worthText says how many independent samples those of an assertion are worth, "" if they are independent.
func worthText(a result.Assertion) string {
	if a.Effective == 0 || a.Effective >= a.Samples {
		return ""
	}
	return fmt.Sprintf(", worth %d independent", a.Effective)
}

// reasonText returns the reason of a verdict if observed value and limit do not show it, else what its
// samples are worth if they depend on each other.
func reasonText(a result.Assertion) string {
	shown := a.Infinite || a.Observed != nil
	if a.Verdict == result.Pass || a.Verdict == result.Fail && shown && a.Limit != nil {
		if worth := worthText(a); worth != "" {
			return plural(a.Samples, "sample") + worth
		}
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

// advice returns what to do about an assertion that proved nothing, "" if its reason or the node's
// findings say it.
func advice(a result.Assertion, n *result.Node) string {
	if a.Verdict != result.Inconclusive {
		return ""
	}
	if n != nil && n.Outcome == result.Unstable {
		return "allow more windows, longer ones, or a larger within"
	}
	if a.Cause == result.CauseBounds && a.Effective > 0 {
		return "" // the reason says how long a hold would do, or how many requests
	}
	have := cmp.Or(a.Effective, a.Samples)
	if n == nil || n.Outcome != result.Done || have >= a.Needed || a.LacksScrape() {
		return "" // more time does not bring series that a server does not show
	}
	if len(n.Trials) > 0 && a.Observed == nil {
		return "" // nor what a search did not find
	}
	if have == 0 || n.Duration <= 0 {
		return "measure for longer"
	}
	longer := n.Duration * float64(a.Needed) / float64(have)
	if longer > 10 {
		longer = math.Ceil(longer)
	}
	return "measure for about " + result.Format("s", longer) + " instead of " +
		result.Format("s", n.Duration)
}

// judgedAssertion is an assertion and its node; nil: an assertion of the plan.
type judgedAssertion struct {
	node *result.Node
	result.Assertion
}

func (j judgedAssertion) where() string {
	if j.node == nil {
		return "plan"
	}
	return clean.Line(j.node.ID)
}

// assertions returns those of all nodes, then of the plan.
func assertions(r *result.Result) (list []judgedAssertion) {
	for n, a := range r.Judged() {
		list = append(list, judgedAssertion{n, a})
	}
	return list
}
