package scenario

import (
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// expand works before the defaults are filled in: `{slo: NAME}` becomes the assertions of that name,
// `until: stable` its map, and a plan without data gets `generate: random`.
func (c *checker) expand() {
	slos := c.raw.SLOs.Items()
	for _, s := range slos {
		for _, a := range *s.Value {
			if a.SLO != nil {
				c.at(a.SLO.At, doesNotFit("an slo cannot use another one"))
			}
		}
	}
	c.raw.Flatten()
	for _, s := range c.raw.Flat {
		s.Play.Assert = c.useSLOs(s.Play.Assert, s.ID.Or(""))
		if l := s.Play.Load; l != nil {
			c.conditions(conditionsOf(l.Concurrency))
			c.conditions(conditionsOf(l.Rate))
		}
		if b := s.Play.Best; b != nil {
			c.conditions(b.Where)
		}
		if u := s.Play.Until; u != nil && u.Word != nil && u.Word.V == "stable" {
			u.Stable, u.Word = &language.Stable{
				At: language.Place{Node: &source.Node{Kind: source.Map}, Implied: true},
			}, nil
		}
	}
	c.raw.Assert = c.useSLOs(c.raw.Assert, "plan")
	if root := c.raw.At.Node; root.Entry("data") == nil && root.Entry("datasets") == nil {
		c.raw.Data = &language.Dataset{At: language.Place{
			Implied: true,
		}, Generate: &language.Generate{Word: &language.Val[string]{
			V: "random", At: language.Place{Node: source.Plain("random", source.Pos{}), Implied: true},
		}}}
	}
}

// useSLOs replaces the uses of slos by their assertions.
func (c *checker) useSLOs(list []*language.Assertion, owner string) []*language.Assertion {
	if list == nil {
		return nil
	}
	all := []*language.Assertion{}
	for _, a := range list {
		switch {
		case a.SLO == nil && a.That != nil:
			all = append(all, a)
		case a.SLO != nil:
			for _, named := range c.slo(a.SLO) {
				all = append(all, named.UsedBy(a, owner))
			}
		}
	}
	return all
}

// slo finds the assertions of a name.
func (c *checker) slo(name *language.Val[string]) []*language.Assertion {
	var names []string
	for _, s := range c.raw.SLOs.Items() {
		if s.Key == name.V {
			c.used[s.Key] = true
			return *s.Value
		}
		names = append(names, s.Key)
	}
	if !c.Known["/slos"] {
		m := source.Errorf(source.CodeUnknownName, "no slo is named %q", name.V).
			Among(source.Nearest(name.V, names), names)
		if len(names) == 0 {
			m.Detail = "the plan has no `slos`"
		}
		c.at(name.At, m)
	}
	return nil
}

// conditionsOf returns the `while` of a quantity; nil: there is none.
func conditionsOf[T language.Amount, X any](q *language.Quantity[T, X]) *language.Conditions {
	switch {
	case q == nil:
	case q.Levels != nil && q.Levels.While != nil:
		return q.Levels.While
	case q.Search != nil:
		return q.Search.While
	}
	return nil
}

// conditions replaces the uses of slos in the conditions of levels and searches.
func (c *checker) conditions(w *language.Conditions) {
	if w == nil {
		return
	}
	var all []*language.Condition
	for _, e := range w.Many {
		switch {
		case e.That != nil:
			all = append(all, e)
		case e.SLO != nil:
			for _, a := range c.slo(e.SLO) {
				if a.That != nil {
					all = append(all, &language.Condition{At: e.At, That: a.That})
				}
			}
		case !c.Doubtful(e.At.Path):
			c.at(e.At, missing("a condition is an expression or {slo: NAME}"))
		}
	}
	w.Many = all
}
