package scenario

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Limits of a whole plan. Each node has a result, and each assertion a verdict on every node.
const (
	MaxNodes  = 10_000  // points of matrices times levels, of all stages
	MaxChecks = 100_000 // assertions on nodes, of all stages
)

// size counts what a plan would be made of, before anything is made: a few lines can ask for millions
// of assertions.
type planSize struct {
	slos          *source.Node
	nodes, checks int
}

// tooLarge reports a plan with more nodes, or assertions on them, than there may be. root has its
// defaults, and its variables are not resolved yet: levels that hold one count as one here, and as
// they are when the nodes are made.
func tooLarge(root *source.Node) source.Diagnostics {
	s := &planSize{slos: root.Get("slos")}
	for _, stage := range itemsOf(root.Get("stages")) {
		members := []*source.Node{stage}
		if group := stage.Get("parallel"); group != nil {
			members = itemsOf(group)
		}
		for _, m := range members {
			n := points(m.Get("matrix")) * levelsIn(m.Get("load"))
			s.nodes, s.checks = s.nodes+n, s.checks+n*s.assertions(m.Get("assert"))
			if d, over := s.over(m.Pos); over {
				return source.Diagnostics{d}
			}
		}
	}
	return nil
}

// over says what there is too much of.
func (s *planSize) over(at source.Pos) (d source.Diagnostic, over bool) {
	d = source.Errorf(source.CodeTooMany, "").At("", at, 0)
	switch {
	case s.nodes > MaxNodes:
		d.Summary, d.Detail = TooManyNodes()
	case s.checks > MaxChecks:
		d.Summary, d.Detail = TooManyChecks()
	default:
		return d, false
	}
	return d, true
}

// TooManyNodes says that a plan has more than MaxNodes.
func TooManyNodes() (summary, detail string) {
	return fmt.Sprintf("the plan has more than %d nodes: points of matrices times levels", MaxNodes),
		"use fewer levels, or matrices with fewer points, counted before `exclude`"
}

// TooManyChecks says that a plan has more than MaxChecks.
func TooManyChecks() (summary, detail string) {
	return fmt.Sprintf("the plan has more than %d assertions on its nodes: assertions times nodes",
			MaxChecks),
		"assert on fewer stages, use fewer levels, or join assertions with `and`"
}

// assertions counts those of a list, with those of the slos that it uses.
func (s *planSize) assertions(list *source.Node) (n int) {
	for _, a := range itemsOf(list) {
		n++
		if slo := a.Get("slo"); slo != nil && s.slos != nil {
			n += max(len(itemsOf(s.slos.Get(slo.Text)))-1, 0)
		}
	}
	return n
}

// points counts those of a matrix, before any is excluded.
func points(matrix *source.Node) int {
	n, more := 1, 0
	if matrix == nil || matrix.Kind != source.Map {
		return n
	}
	for _, e := range matrix.Entries {
		switch e.Key {
		case "exclude":
		case "include":
			more = len(itemsOf(e.Value))
		default:
			n = min(n*max(len(itemsOf(e.Value)), 1), MaxNodes+1)
		}
	}
	return n + more
}

// levelsIn counts the levels of a load.
func levelsIn(load *source.Node) int {
	for _, key := range [...]string{"concurrency", "rate"} {
		switch q := load.Get(key); {
		case q == nil:
		case q.Kind == source.List:
			return max(len(q.Items), 1)
		default:
			return steps(q.Get("levels"))
		}
	}
	return 1
}

// steps counts the levels from one value to another; 1 where a number is not written plainly.
func steps(levels *source.Node) int {
	from, first := plainAmount(levels.Get("from"))
	to, last := plainAmount(levels.Get("to"))
	if !first || !last || to < from || from <= 0 {
		return 1
	}
	step, rate := 1.0, levels.Get("from").Tag == "!!str"
	if rate {
		step = from
	}
	if v, ok := plainAmount(levels.Get("step")); ok && v > 0 {
		step = v
	}
	n := (to-from)/step + 1
	if f, ok := plainAmount(levels.Get("factor")); ok && f > 1 {
		n = math.Log(to/from)/math.Log(f) + 1
	}
	return int(min(n+1e-9, language.MaxValues))
}

// plainAmount reads an amount or a rate.
func plainAmount(n *source.Node) (float64, bool) {
	if n == nil || n.Kind != source.Scalar {
		return 0, false
	}
	if r, wrong := language.ReadAs("rate", n); wrong == nil {
		return language.Magnitude(r), true
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	return v, err == nil
}

// itemsOf are those of a list; nil: it is none.
func itemsOf(n *source.Node) []*source.Node {
	if n == nil || n.Kind != source.List {
		return nil
	}
	return n.Items
}
