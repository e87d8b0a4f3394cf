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

// expressions compiles every assertion, condition and stability metric.
func (b *build) expressions() {
	for _, n := range b.program.Nodes {
		if slices.Contains(n.entries, nil) || n.Catalogue == nil {
			continue // its target is wrong, which has been reported
		}
		n.scope = &scope{build: b, node: n, here: true}
		for _, c := range conditions(n.Stage) {
			n.While = append(n.While, b.check(scenario.Assertion{That: c.That}, n.scope))
		}
		for _, a := range n.Stage.Assert {
			n.Checks = append(n.Checks, b.check(a, n.scope))
		}
		if u, ok := n.Stage.Extent.(scenario.UntilStable); ok {
			b.stability(n, u)
		}
		b.reads(n)
	}
	for _, a := range b.program.Plan.Assert {
		b.program.Assert = append(b.program.Assert, b.check(a, &scope{build: b}))
	}
}

// conditions are the `while` of a stage's load.
func conditions(s *scenario.Stage) []scenario.Condition {
	switch q := quantity(s).(type) {
	case scenario.Levels:
		return q.While
	case scenario.Search:
		return q.While
	}
	return nil
}

// reads draws where a node's expressions take numbers from other nodes, unless it comes directly after them anyway.
func (b *build) reads(n *Node) {
	drawn := make(map[string]bool)
	for _, e := range b.program.Graph.Incoming(n.ID) {
		drawn[e.From] = true
	}
	for _, c := range slices.Concat(n.Checks, n.While) {
		if c.Program == nil {
			continue
		}
		for _, r := range c.Program.Refs {
			if r.Node == "" || r.Node == n.ID || r.Baseline || drawn[r.Node] {
				continue
			}
			drawn[r.Node] = true
			reason := "its `while`"
			if c.Assertion.ID != "" {
				reason = "assertion " + c.Assertion.ID
			}
			_ = b.program.Graph.Connect(graph.Edge{From: r.Node, To: n.ID, Reason: reason, Reads: true})
		}
	}
}

// cacheKey is what decides how an expression about one node is understood.
type cacheKey struct {
	text      string
	sort      string
	catalogue *metric.Catalogue
}

// compiled is a program that nodes of one sort share: it reads no other node, and there was nothing to say about it.
type compiled struct{ program *expression.Program }

// compile compiles an expression in a scope. References to other nodes are written out: stage("s") of an equal matrix is
// its node.
func (b *build) compile(t source.Text, s *scope) *expression.Program {
	var key cacheKey
	if s.here && s.node != nil {
		key = cacheKey{t.Text, s.node.sort, s.node.Catalogue}
		if c, ok := b.compiled[key]; ok {
			return c.program
		}
	}
	p, diags := expression.Compile(t, s)
	b.add(diags)
	if p == nil {
		return nil
	}
	own := true
	for i, r := range p.Refs {
		if r.Node == "" {
			continue
		}
		own = false
		if n, err := s.named(r.Node); err == nil {
			p.Refs[i].Node = n.ID
		}
	}
	if own && len(diags) == 0 && s.here {
		b.compiled[key] = compiled{p}
	}
	return p
}

func (b *build) check(a scenario.Assertion, s *scope) Check {
	c := Check{Assertion: a, Program: b.compile(a.That, s), Planned: -1}
	if c.Program == nil {
		return c
	}
	possible := false
	if c.Needed, possible = verdict.Needed(a, c.Program); !possible {
		b.warn(a.That.Pos, codeNeverProven, "no number of requests can prove %s with a confidence", a.That.Text).
			Detail = "allow a share, however small, or compare a count: errors.count == 0"
	}
	b.watched(c, s)
	b.hintHolds(c, s.node)
	b.oneTime(c)
	b.warnStored(c)
	return c
}

// stability resolves the metrics that windows are compared by.
func (b *build) stability(n *Node, u scenario.UntilStable) {
	for _, m := range u.Metrics {
		leaf, err := n.scope.Resolve(expression.Place{}, strings.TrimSpace(m.Text))
		switch {
		case err != nil:
			b.fail(m.Pos, codeMetric, "%s", err)
		case !leaf.Row.From.OfRequests():
			b.fail(m.Pos, codeMetric, "%s is not known for a window, only for the whole node", leaf.String())
		default:
			n.Stability = append(n.Stability, leaf)
		}
	}
}
