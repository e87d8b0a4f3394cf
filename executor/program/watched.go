package program

import (
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// watched refuses an `abort` that can never end a run, and `every` or `within` on what is not known for a window.
func (b *build) watched(c Check, s *scope) {
	if c.Program == nil {
		return
	}
	a := c.Assertion
	if verdict.Every(a) > 0 {
		b.inWindows(a, c.Program)
		return
	}
	if !a.Abort {
		return
	}
	var why *unwatched
	for _, n := range b.readBy(c.Program, s.node) {
		own := func(r expression.Ref) bool { return !r.Baseline && b.of(r, s.node) == n }
		if why = n.unwatched(a, c.Program, own); why == nil {
			return
		}
	}
	if why != nil {
		b.fail(why.pos, codeUnwatched, "%s", why.text).Detail = why.detail
	}
}

// unwatched says why an assertion with `abort` cannot end a run.
type unwatched struct {
	pos          source.Pos
	text, detail string
}

// unwatched is nil where the assertion can become certainly false while n runs.
func (n *Node) unwatched(a scenario.Assertion, p *expression.Program, own func(expression.Ref) bool) *unwatched {
	for _, r := range p.Refs {
		if !own(r) {
			continue
		}
		if why := n.unknownLive(r); why != "" {
			return &unwatched{
				a.That.At(r.At[0]), fmt.Sprintf("`abort` cannot watch %s: %s", r, why),
				"it can watch: counts, in_flight.max; .min, .max and .count of times; ratios of requests; percentiles against a constant. " +
					"With `every` it can watch what is known for a window",
			}
		}
	}
	if verdict.Watched(a, p, own) {
		return nil
	}
	return &unwatched{
		a.That.Pos, fmt.Sprintf("`abort` has no effect: %s is never certainly false before the end", a.That.Text),
		"a count or a maximum can pass an upper limit, a minimum a lower one; a percentile must be compared with a constant; leave `abort` out, or compare otherwise",
	}
}

// unknownLive says why a reference to the node has no number that counts while it runs; "": it has.
func (n *Node) unknownLive(r expression.Ref) string {
	row := r.Leaf.Row
	dropped := row.Name == metric.DroppedCount || row.Name == metric.DroppedRatio
	switch pool, open := scenario.Open(n.Stage.Load); {
	case row.Name == metric.Incomplete:
		return "it is known when the stage is over"
	case !r.Leaf.Watchable() && row.From != metric.Sample && !row.From.Counted():
		return "it is read when the stage is over"
	case !r.Leaf.Watchable():
		return "it can come back until the stage is over"
	case dropped && open && pool.Overflow != "drop":
		return "nothing is dropped before the end where `overflow` is wait"
	case dropped && (r.Phase != "" || r.Mix != "" || holds(n.phases()) != nil):
		return "drops are counted for a stage as a whole, not for its parts"
	}
	return ""
}

// inWindows refuses `every` and `within` on metrics that have no value for a window. Windows are those of the node that is
// named first; others answer as a whole.
func (b *build) inWindows(a scenario.Assertion, p *expression.Program) {
	node := ""
	for _, r := range p.Refs {
		if !r.Baseline && node == "" {
			node = r.Node + "/"
		}
		if !r.Baseline && r.Node+"/" == node && !r.Leaf.Row.From.OfRequests() {
			b.fail(a.That.At(r.At[0]), codeWindow, "%s is not known for a window, only for a stage as a whole", r).
				Detail = "leave out `every` and `within`"
			return
		}
	}
}

// readBy lists the nodes that an expression on n reads.
func (b *build) readBy(p *expression.Program, n *Node) (list []*Node) {
	for _, r := range p.Refs {
		if at := b.of(r, n); at != nil && !r.Baseline && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// of is the node that a reference of an expression on n is to.
func (b *build) of(r expression.Ref, n *Node) *Node {
	if r.Node == "" {
		return n
	}
	return b.byNode[r.Node]
}
