package scenario

import (
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Limits of a whole plan. Each node has a result, and each assertion a verdict on every node.
const (
	maxNodes  = 10_000  // points of matrices times levels, of all stages
	maxChecks = 100_000 // assertions on nodes, of all stages
)

// oversize says what a plan has too many of; nil: of nothing.
func oversize(nodes, checks int) *source.Diagnostic {
	switch {
	case nodes > maxNodes:
		return source.Errorf(source.CodeTooMany,
			"the plan has more than %d nodes: points of matrices times levels", maxNodes).
			Help("use fewer levels, or matrices with fewer points, counted before `exclude`")
	case checks > maxChecks:
		return source.Errorf(source.CodeTooMany,
			"the plan has more than %d assertions on its nodes: assertions times nodes", maxChecks).
			Help("assert on fewer stages, use fewer levels, or join assertions with `and`")
	}
	return nil
}

// tooLarge reports a plan whose stages and matrices alone ask for too much, before anything is made of
// them: a few lines can ask for millions of assertions. root has its defaults. Levels are counted by
// checkSize.
func tooLarge(root *source.Node) source.Diagnostics {
	nodes, checks := 0, 0
	for _, s := range layer.Stages(root.Get("stages")) {
		n := points(s.Get("matrix"))
		nodes, checks = nodes+n, checks+n*assertions(s.Get("assert"), root.Get("slos"))
		if d := oversize(nodes, checks); d != nil {
			return source.Diagnostics{d.At("", s.Pos, 0)}
		}
	}
	return nil
}

// checkSize counts nodes with their levels, of stages without mistakes, before any node or level is made.
func checkSize(c *checker) {
	nodes, checks := 0, 0
	for _, s := range c.raw.Flat {
		n := 1
		if l := s.Play.Load; l != nil {
			n = levelsOf(l.Concurrency) * levelsOf(l.Rate) // one of them is nil
		}
		nodes, checks = nodes+n, checks+n*len(s.Play.Assert)
		if d := oversize(nodes, checks); d != nil {
			c.at(s.At, d)
			return
		}
	}
}

func levelsOf[T language.Amount, X any](q *language.Quantity[T, X]) int {
	switch {
	case q == nil:
	case q.Many != nil:
		return len(q.Many)
	case q.Levels != nil:
		return len(q.Levels.Values())
	}
	return 1
}

// assertions counts those of a list, with those of the slos that it uses.
func assertions(list, slos *source.Node) (n int) {
	for _, a := range itemsOf(list) {
		n++
		if slo := a.Get("slo"); slo != nil {
			n += max(len(itemsOf(slos.Get(slo.Text)))-1, 0)
		}
	}
	return n
}

// points counts those of a matrix, before any is excluded.
func points(matrix *source.Node) int {
	n, more := 1, 0
	if matrix == nil {
		return n
	}
	for _, e := range matrix.Entries {
		switch e.Key {
		case "exclude":
		case "include":
			more = len(e.Value.Items)
		default:
			n = min(n*max(len(e.Value.Items), 1), maxNodes+1)
		}
	}
	return n + more
}

// itemsOf are those of a list, which may be absent.
func itemsOf(n *source.Node) []*source.Node {
	if n == nil {
		return nil
	}
	return n.Items
}
