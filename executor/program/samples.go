package program

import (
	"math"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// planChecks fills in how many requests are planned for what each check looks at. It reads loads
// and Node.Planned.
func planChecks(d *draft) {
	for n, c := range d.checks() {
		planCheck(d.byNode, n, c)
	}
}

// planCheck fills how many requests are planned for what a check looks at: the smallest of its
// references. n is the node that it is judged on, nil for one of the plan.
func planCheck(byNode map[string]*Node, n *Node, c *Check) {
	for _, r := range c.Refs {
		at := nodeOf(byNode, r, n)
		if at == nil || r.Baseline || r.Model != "" || !r.Leaf.Row.Summed() {
			continue
		}
		if k := plannedFor(at, r.Place, c.Assertion); k >= 0 && (c.Planned < 0 || k < c.Planned) {
			c.Planned, c.SD = k, spreadOf(at, r.Place, k)
		}
	}
}

// plannedFor counts the requests that are planned for a place of the node, over all its repeats; of
// assertions with `every` or `within`, for one of its windows; of the steady span, at most. -1: not known.
func plannedFor(n *Node, at expression.Place, as scenario.Assertion) float64 {
	k, l := n.Planned.Requests, n.Load
	hold := holdBounds(n, k)
	if at.Phase != "" && at.Phase != expression.Steady { // whose span is at most all of hold
		spans, end := n.phase(at.Phase), inNs(hold.most)
		if !l.openRamp() || !hold.known() {
			return -1
		}
		k, hold = within(l, spans, end, math.MaxInt64), exactly(length(spans, end))
	}
	if k < 0 {
		return -1
	}
	if at.Mix != "" {
		k *= mixWeight(n, at.Mix)
	}
	if every := verdict.Every(as).Seconds(); every > 0 {
		if !hold.known() {
			return -1
		}
		return k * every / max(hold.most, every)
	}
	return k * float64(n.Planned.Repeats)
}

// spreadOf returns the standard deviation of k requests at a place: that of the arrivals, and of the
// draw of a mix.
func spreadOf(n *Node, at expression.Place, k float64) float64 {
	l, variance := n.Load, 0.0
	if at.Mix == "" {
		return l.sd(k)
	}
	w := mixWeight(n, at.Mix)
	if n.Stage.Mix[0].Weight > 0 {
		variance = k * (1 - w)
	}
	sd := w * l.sd(k/w)
	return math.Sqrt(variance + sd*sd)
}

// length returns the total length of spans that end at the latest at end, s.
func length(spans []measure.Span, end int64) float64 {
	total := int64(0)
	for _, s := range spans {
		total += max(min(s.To, end)-s.From, 0)
	}
	return float64(total) / 1e9
}

// mixWeight returns the share of an entry in the mix.
func mixWeight(n *Node, name string) float64 {
	sum, own := 0.0, 0.0
	for _, e := range n.Stage.Mix {
		sum += e.Weight
		if e.Name == name {
			own = e.Weight
		}
	}
	if sum == 0 {
		return 1 / float64(len(n.Stage.Mix))
	}
	return own / sum
}
