package program

import (
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// checkWatched refuses an `abort` that can never end a run, and `every` or `within` on what is not
// known for a window.
func checkWatched(d *draft, c Check, s *scope) {
	a := c.Assertion
	if verdict.Every(a) > 0 {
		checkWindows(d, c)
		return
	}
	if !a.Abort {
		return
	}
	var why source.Diagnostics
	for _, n := range nodesReadBy(d.byNode, c.Program, s.node) {
		own := func(r expression.Ref) bool { return !r.Baseline && nodeOf(d.byNode, r, s.node) == n }
		if why = whyUnwatchable(n, a, c.Program, own); why == nil {
			return
		}
	}
	d.add(why...)
}

// whyUnwatchable returns nil where the assertion can become certainly false while n runs.
func whyUnwatchable(
	n *Node, a scenario.Assertion, p *expression.Program, own func(expression.Ref) bool,
) source.Diagnostics {
	const code = "not-watchable"
	for _, r := range p.Refs {
		if !own(r) {
			continue
		}
		if why := unknownWhileRunning(n, r); why != "" {
			return source.Diagnostics{source.Errorf(code, "`abort` cannot watch %s: %s", r, why).
				Help("it can watch: counts, in_flight.max; .min, .max and .count of times; ratios of "+
					"requests; percentiles against a constant. "+
					"With `every` it can watch what is known for a window").At("", a.That.At(r.At[0]), 0)}
		}
	}
	if verdict.CanAbort(a, p, own) {
		return nil
	}
	return source.Diagnostics{
		source.Errorf(code, "`abort` has no effect: %s is never certainly false before the end", a.That.Text).
			Help("a count or a maximum can pass an upper limit, a minimum a lower one; a percentile must "+
				"be compared with a constant; leave `abort` out, or compare otherwise").At("", a.That.Pos, 0),
	}
}

// unknownWhileRunning says why a reference to the node has no number that counts while it runs; "":
// it has.
func unknownWhileRunning(n *Node, r expression.Ref) string {
	row := r.Leaf.Row
	dropped := row.Name == metric.DroppedCount || row.Name == metric.DroppedRatio
	switch {
	case r.Phase == expression.Steady:
		return "which span is the steady one is known when the stage is over"
	case row.Name == metric.Incomplete:
		return "it is known when the stage is over"
	case !r.Leaf.Watchable() && row.From != metric.Sample && !row.From.Counted():
		return "it is read when the stage is over"
	case !r.Leaf.Watchable():
		return "it can come back until the stage is over"
	case dropped && n.Open && n.Load.Stored.Overflow != "drop":
		return "nothing is dropped before the end where `overflow` is wait"
	case dropped && (r.Phase != "" || r.Mix != "" || n.holds() != nil):
		return "drops are counted for a stage as a whole, not for its parts"
	}
	return ""
}

// checkWindows refuses `every` and `within` on metrics that have no value for a window, and on windows
// of two phases: no window lies in both. Windows are those of the node that is named first; others
// answer as a whole.
func checkWindows(d *draft, c Check) {
	var first *expression.Ref
	reported := false
	for i := range c.Refs {
		r := &c.Refs[i]
		switch {
		case r.Baseline:
			continue
		case first == nil:
			first = r
		case r.Node != first.Node:
			continue
		}
		pos := c.That.At(r.At[0])
		if !reported && !r.Leaf.Row.From.OfRequests() {
			reported = true
			d.fail(pos, "no-window", "%s is not known for a window, only for a stage as a whole", r).
				Detail = "leave out `every` and `within`"
		}
		if r.Phase == expression.Steady {
			d.fail(pos, "no-window", "%s is not known for a window: the steady span is one", r).
				Detail = "leave out `every` and `within`, or `steady`"
		}
		if r.Leaf.Stat.Adjusted {
			d.fail(pos, "no-window", "%s is not known for a window: drops are counted for a stage as a whole", r).
				Detail = "leave out `every` and `within`, or limit the percentile itself and errors.ratio"
		}
		if r.Phase != first.Phase {
			d.fail(pos, "does-not-fit", "windows of %s cannot be compared with windows of %s",
				phaseWords(first.Phase), phaseWords(r.Phase)).
				Detail = "`every` and `within` judge windows of one phase, or of the whole stage: leave " +
				"them out here"
		}
	}
}

func phaseWords(name string) string {
	if name == "" {
		return "the whole stage"
	}
	return "phase " + strconv.Quote(name)
}

// nodesReadBy lists the nodes that an expression on n reads.
func nodesReadBy(byNode map[string]*Node, p *expression.Program, n *Node) (list []*Node) {
	for _, r := range p.Refs {
		if at := nodeOf(byNode, r, n); at != nil && !r.Baseline && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// nodeOf returns the node that a reference of an expression on n is to.
func nodeOf(byNode map[string]*Node, r expression.Ref, n *Node) *Node {
	if r.Node == "" {
		return n
	}
	return byNode[r.Node]
}
