package scenario

import (
	"fmt"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// expand puts the long form in the place of the short ones, before the defaults are filled in: `{slo: NAME}` becomes
// the assertions of that name, `until: stable` its map, and a plan without data gets `generate: random`.
func (c *checker) expand() {
	slos := c.raw.SLOs.items()
	for _, s := range slos {
		for _, a := range *s.Value {
			if a.SLO != nil {
				c.at(a.SLO.at, &source.Diagnostic{Code: codeDoesNotFit, Summary: "an slo cannot use another one"})
			}
		}
	}
	c.raw.flatten()
	for _, s := range c.raw.flat {
		s.Play.Assert = c.useSLOs(s.Play.Assert, s.ID.or(""))
		if l := s.Play.Load; l != nil {
			expandWhile(c, l.Concurrency)
			expandWhile(c, l.Rate)
		}
		if u := s.Play.Until; u != nil && u.Word != nil && u.Word.V == "stable" {
			u.Stable, u.Word = &rawStable{At: place{node: &source.Node{Kind: source.Map}, implied: true}}, nil
		}
	}
	c.raw.Assert = c.useSLOs(c.raw.Assert, "plan")
	for _, t := range c.targets() {
		if t.Value.Streaming.or(false) && t.Value.At.node.Entry("timeout") == nil {
			t.Value.Timeout = &val[time.Duration]{10 * time.Minute, place{node: source.Plain("10m", source.Pos{}), implied: true}}
		}
	}
	if root := c.raw.At.node; root.Entry("data") == nil && root.Entry("datasets") == nil {
		c.raw.Data = &rawDataset{At: place{implied: true}, Generate: &rawGenerate{Word: &val[string]{
			V: "random", at: place{node: source.Plain("random", source.Pos{}), implied: true},
		}}}
	}
}

// useSLOs replaces the uses of slos by their assertions.
func (c *checker) useSLOs(list []*rawAssertion, owner string) []*rawAssertion {
	if list == nil {
		return nil
	}
	all := []*rawAssertion{}
	for _, a := range list {
		switch {
		case a.SLO == nil && a.That != nil:
			all = append(all, a)
		case a.SLO != nil:
			for _, named := range c.slo(a.SLO) {
				all = append(all, named.usedBy(a, owner))
			}
		}
	}
	return all
}

// slo finds the assertions of a name.
func (c *checker) slo(name *val[string]) []*rawAssertion {
	var names []string
	for _, s := range c.raw.SLOs.items() {
		if s.Key == name.V {
			c.used[s.Key] = true
			return *s.Value
		}
		names = append(names, s.Key)
	}
	if !c.known["/slos"] {
		m := &source.Diagnostic{Code: codeUnknownName, Summary: fmt.Sprintf("no slo is named %q", name.V), Allowed: names}
		m.Nearest = source.Nearest(name.V, names)
		if len(names) == 0 {
			m.Detail = "the plan has no `slos`"
		}
		c.at(name.at, m)
	}
	return nil
}

// expandWhile replaces the uses of slos in the conditions of levels and searches.
func expandWhile[T amount, X any](c *checker, q *rawQuantity[T, X]) {
	for _, w := range whiles(q) {
		c.conditions(w)
	}
}

// whiles are the conditions of a quantity that may be absent.
func whiles[T amount, X any](q *rawQuantity[T, X]) []*rawConditions {
	switch {
	case q == nil:
	case q.Levels != nil && q.Levels.While != nil:
		return []*rawConditions{q.Levels.While}
	case q.Search != nil && q.Search.While != nil:
		return []*rawConditions{q.Search.While}
	}
	return nil
}

func (c *checker) conditions(w *rawConditions) {
	var all []*rawCondition
	for _, e := range w.Many {
		switch {
		case e.That != nil:
			all = append(all, e)
		case e.SLO != nil:
			for _, a := range c.slo(e.SLO) {
				if a.That != nil {
					all = append(all, &rawCondition{At: e.At, That: a.That})
				}
			}
		case !c.doubtful(e.At.path):
			c.at(e.At, &source.Diagnostic{Code: codeMissing, Summary: "a condition is an expression or {slo: NAME}"})
		}
	}
	if w.At.node.Kind == source.List && len(w.At.node.Items) == 0 && !c.doubtful(w.At.path) {
		c.at(w.At, &source.Diagnostic{Code: codeMissing, Summary: "while has no condition"})
	}
	w.Many = all
}
