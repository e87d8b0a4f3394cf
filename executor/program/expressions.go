package program

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// compileExpressions compiles every assertion, condition and stability metric. It reads nodes,
// catalogues, edges and the baseline, and adds the checks of nodes and plan and the edges of what
// they read.
func compileExpressions(d *draft) {
	for _, n := range d.Nodes {
		if slices.Contains(n.entries, nil) || n.Catalogue == nil {
			continue // its target is wrong, which has been reported
		}
		n.scope = &scope{draft: d, node: n}
		for _, that := range conditions(n.Stage) {
			n.While = appendCheck(d, n.While, scenario.Assertion{That: that}, n.scope)
		}
		if n.Best != nil {
			for _, that := range n.Stage.Best.Where {
				n.Best.Where = appendCheck(d, n.Best.Where, scenario.Assertion{That: that}, n.scope)
			}
		}
		for _, a := range n.Stage.Assert {
			n.Checks = appendCheck(d, n.Checks, a, n.scope)
		}
		if u, ok := n.Stage.Extent.(scenario.UntilStable); ok {
			compileStability(d, n, u)
		}
		if u, ok := n.Stage.Extent.(scenario.UntilPrecise); ok {
			compilePrecise(d, n, u)
		}
		connectReads(d.Program, n)
	}
	for _, a := range d.Plan.Assert {
		d.Assert = appendCheck(d, d.Assert, a, &scope{draft: d})
	}
}

// conditions lists the `while` of a stage's load.
func conditions(s *scenario.Stage) []source.Text {
	switch q := quantity(s).(type) {
	case scenario.Levels:
		return q.While
	case scenario.Search:
		return q.While
	}
	return nil
}

// connectReads draws where a node's expressions take numbers from other nodes, unless it comes
// directly after them anyway.
func connectReads(p *Program, n *Node) {
	drawn := make(map[string]bool)
	for _, e := range p.Graph.Incoming(n.ID) {
		drawn[e.From] = true
	}
	for _, c := range slices.Concat(n.Checks, n.While) {
		for _, r := range c.Refs {
			if from := lastOf(p, r); from != nil {
				r.Node = from.ID
			}
			if r.Node == "" || r.Node == n.ID || r.Baseline || drawn[r.Node] {
				continue
			}
			drawn[r.Node] = true
			reason := "its `while`"
			if c.ID != "" {
				reason = "assertion " + c.ID
			}
			p.Graph.Connect(graph.Edge{From: r.Node, To: n.ID, Reason: reason, Reads: true})
		}
	}
}

// cacheKey identifies an expression about one node by all that decides how it is understood.
type cacheKey struct {
	text      string
	sort      string
	catalogue *metric.Catalogue
}

// appendCheck compiles an assertion and adds it to checks, unless it has a mistake.
func appendCheck(d *draft, checks []Check, a scenario.Assertion, s *scope) []Check {
	c := Check{Assertion: a, Program: compileText(d, a.That, s), Planned: -1}
	if c.Program == nil {
		return checks
	}
	possible := false
	if c.Needed, possible = verdict.SamplesNeeded(a, c.Program); !possible {
		d.warn(a.That.Pos, "never-proven", "no number of requests can prove %s with a confidence",
			a.That.Text).
			Detail = "allow a share, however small, or compare a count: errors.count == 0"
	}
	checkWatched(d, c, s)
	lintAllHolds(d, c, s.node)
	lintStored(d, c)
	return append(checks, c)
}

// compileText compiles an expression in a scope. References to other nodes are written out:
// stage("s") of an equal matrix is its node.
func compileText(d *draft, t source.Text, s *scope) *expression.Program {
	var key cacheKey
	if s.here() {
		key = cacheKey{t.Text, s.node.sort, s.node.Catalogue}
		if p := d.compiled[key]; p != nil {
			return p
		}
	}
	p, diags := expression.Compile(t, s)
	d.add(diags...)
	if p == nil {
		return nil
	}
	own := true
	for i, r := range p.Refs {
		if r.Node == "" {
			continue
		}
		own = false
		if r.Leaf.Row.Name == metric.Best && !r.Baseline {
			continue // of the stage as a whole
		}
		if n, err := s.named(r.Node); err == nil {
			p.Refs[i].Node = n.ID
		}
	}
	if own && len(diags) == 0 && s.here() {
		d.compiled[key] = p
	}
	return p
}

// compileStability resolves the metrics that windows are compared by.
func compileStability(d *draft, n *Node, u scenario.UntilStable) {
	for _, m := range u.Metrics {
		leaf, err := n.scope.Resolve(expression.Place{}, strings.TrimSpace(m.Text))
		switch {
		case err != nil:
			d.fail(m.Pos, "stability-metric", "%s", err)
		case leaf.Stat.Adjusted:
			d.fail(m.Pos, "stability-metric", "windows are not compared by %s", leaf.String()).
				Detail = "compare them by the percentile itself, and by errors.ratio"
		case !leaf.Row.From.OfRequests():
			d.fail(m.Pos, "stability-metric", "%s is not known for a window, only for the whole node",
				leaf.String())
		default:
			n.Stability = append(n.Stability, leaf)
		}
	}
}
