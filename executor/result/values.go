package result

import (
	"fmt"
	"math"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Stored answers references from a stored result. It is expression.Values, and verdict's order statistics.
type Stored struct {
	result *Result
	node   *Node
}

var _ expression.Values = Stored{}

// Values is r as seen from node n; n nil: from the plan, where every reference names its node.
func Values(r *Result, n *Node) Stored { return Stored{r, n} }

// Quantity is the quantity of a reference. What another node measured counts only when that measurement can be trusted:
// an invalid, unstable or interrupted one is unknown here, as its own assertions would be inconclusive.
func (s Stored) Quantity(ref expression.Ref) expression.Quantity {
	need := int64(1)
	if ref.Leaf.Stat.Kind == metric.Percentile {
		need = stats.MinSamples(ref.Leaf.Stat.P)
	}
	unknown := func(why string) expression.Quantity { return expression.Quantity{Need: need, Why: why} }
	n, why := s.find(ref.Node)
	if here := (expression.Place{Node: ref.Node}); why == "" && ref.Place != here {
		why = ref.Place.String() + "… was not measured"
	}
	if why != "" {
		return unknown(why)
	}
	m := n.Metrics[ref.Leaf.Row.Name]
	if m == nil {
		return unknown(n.prefix(s.node) + ref.Leaf.Row.Name + " was not measured")
	}
	v, ok := m.Stat(ref.Leaf.Stat)
	if !ok {
		return unknown(n.prefix(s.node) + ref.Leaf.String() + " has no value")
	}
	if n.idle() && dependsOnRequests(ref.Leaf.Row) {
		return unknown(n.prefix(s.node) + "no request was sent")
	}
	if ref.Leaf.Row.Name == metric.Latency && ref.Leaf.Stat.Kind == metric.Percentile {
		var why string
		if v, why = n.overAll(m, ref.Leaf.Stat.P, v); why != "" {
			return unknown(n.prefix(s.node) + why)
		}
	}
	return expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: samples(n, m, ref.Leaf), Need: need}
}

// overAll is a percentile of latency over all requests that were due. Those without an outcome took longer than any that
// has one: leaving them out would make a server that cannot keep up look fast. v is the percentile of the others.
func (n *Node) overAll(m *Metric, p, v float64) (all float64, why string) {
	missing, _ := n.Metrics[metric.Incomplete].Stat(metric.Stat{})
	if missing == 0 || m.Dist == nil {
		return v, ""
	}
	have := float64(m.Dist.N())
	rank := math.Ceil(p / 100 * (have + missing))
	if rank > have {
		return 0, fmt.Sprintf("%.0f of %.0f requests that were due have no outcome, so the p%v of all of them is not known", missing, have+missing, p)
	}
	all, _ = m.Stat(metric.Stat{Kind: metric.Percentile, P: 100 * rank / have})
	return all, ""
}

// Above is how many of the n values behind a reference are larger than limit, in base units. False: the reference is no
// percentile of a stored distribution, or its node cannot be trusted.
func (s Stored) Above(ref expression.Ref, limit float64) (over, n int64, ok bool) {
	node, why := s.find(ref.Node)
	if why != "" || ref.Leaf.Stat.Kind != metric.Percentile {
		return 0, 0, false
	}
	m := node.Metrics[ref.Leaf.Row.Name]
	if m == nil || m.Dist == nil || m.Dist.N() == 0 {
		return 0, 0, false
	}
	return m.above(limit), m.Dist.N(), true
}

// find is the node that id names, or why it has nothing to say.
func (s Stored) find(id string) (n *Node, why string) {
	if id == "" || (s.node != nil && id == s.node.ID) {
		if s.node == nil {
			return nil, "no stage is named"
		}
		return s.node, ""
	}
	for _, n := range s.result.Nodes {
		if n.ID == id {
			return n, n.distrust()
		}
	}
	return nil, fmt.Sprintf("there is no stage %q in the result", id)
}

// distrust is why another node's numbers are not to be used; "" when they are.
func (n *Node) distrust() string {
	if n.Outcome == Done && n.Validity.OK {
		return ""
	}
	reason := n.Reason
	for _, f := range n.Validity.Findings {
		if reason == "" && f.Severity == Invalidating {
			reason = f.Text
		}
	}
	word := map[Outcome]string{
		SkippedNode: "was skipped", Unstable: "did not become stable", InterruptedNode: "was interrupted",
		Failed: "could not run",
	}[n.Outcome]
	if word == "" {
		word = "has no valid measurement"
	}
	if reason == "" {
		return fmt.Sprintf("stage %q %s", n.ID, word)
	}
	return fmt.Sprintf("stage %q %s: %s", n.ID, word, reason)
}

// prefix names n in a message where it is not the judged node.
func (n *Node) prefix(judged *Node) string {
	if n == judged {
		return ""
	}
	return fmt.Sprintf("stage %q: ", n.ID)
}

// idle reports that the node sent nothing at all in hold.
func (n *Node) idle() bool {
	sent, ok := n.Metrics[metric.RequestsCount].Stat(metric.Stat{})
	return ok && sent == 0
}

// dependsOnRequests reports whether row says nothing when nothing was sent.
func dependsOnRequests(row *metric.Row) bool {
	switch row.From {
	case metric.Sample, metric.Flow, metric.Counts:
		return row.Name != metric.RequestsCount
	case metric.Driver, metric.Series, metric.Client:
	}
	return false
}

// samples is how many measurements are behind a leaf: the values of a distribution, the requests behind a rate or a
// ratio, 1 for what is read once.
func samples(n *Node, m *Metric, l metric.Leaf) int64 {
	switch {
	case l.Stat.Kind == metric.N || !dependsOnRequests(l.Row):
		return 1
	case m.Count != nil:
		return *m.Count
	}
	sent, _ := n.Metrics[metric.RequestsCount].Stat(metric.Stat{})
	return int64(sent)
}
