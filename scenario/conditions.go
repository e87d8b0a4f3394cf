package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// conditions looks for mistakes in expressions that are not compiled later: all of them where the plan
// has other mistakes, so that these do not hide them; else those of stages that never run and of slos
// that are not used. What depends on targets and on the order of stages stays for the compiler.
func (r *reading) conditions() source.Diagnostics {
	c := &conditions{reading: r, all: r.Diags.HasErrors(), used: map[string]bool{}}
	for _, s := range r.raw.Flat {
		never := s.Never()
		c.at, c.stage, c.idle = r.Subs.PointOf(s.At.Node), s, never
		c.assertions(s.Play.Assert, never)
		if l := s.Play.Load; l != nil {
			quantityOf(c, l.Concurrency, never)
			quantityOf(c, l.Rate, never)
		}
		c.best(s.Play.Best, never)
		if u := s.Play.Until; u != nil && u.Stable != nil && c.all {
			for _, m := range u.Stable.Metrics {
				if m.At.Node != nil && !m.At.Implied {
					c.look(m, expression.CheckQuantity)
				}
			}
		}
	}
	c.at, c.stage, c.idle = nil, nil, false
	c.assertions(r.raw.Assert, false)
	c.free = true
	for _, s := range r.raw.SLOs.Items() {
		c.assertions(*s.Value, !c.used[s.Key])
	}
	return c.diags
}

// conditions are what the expressions of a plan with mistakes can name. What a mistake leaves open
// counts as there: what follows from a mistake is not reported.
type conditions struct {
	*reading
	all   bool            // the plan has other mistakes
	used  map[string]bool // slos, by name
	diags source.Diagnostics

	// The expression at hand
	stage *language.Stage // whose it is; nil: of the plan, or of an slo
	at    *layer.Point    // of the stage
	idle  bool            // the stage never runs, so it may name others that never run
	// free: it is judged where it is used, so that a metric need not say of which stage it is.
	free bool
}

// assertions looks at a list of them. idle: they are not compiled later.
func (c *conditions) assertions(list []*language.Assertion, idle bool) {
	for _, a := range list {
		c.used[a.FromSLO] = c.used[a.FromSLO] || !idle
		if a.That != nil && (idle || c.all) {
			c.look(a.That, expression.Check)
		}
	}
}

func quantityOf[T language.Amount, X any](c *conditions, q *language.Quantity[T, X], idle bool) {
	if !idle && !c.all {
		return
	}
	for _, v := range amounts(q) {
		if v != nil && v.V.Expr != nil {
			c.look(&language.Val[source.Text]{V: *v.V.Expr, At: v.At}, expression.CheckQuantity)
		}
	}
	c.each(conditionsOf(q))
}

// best looks at what says which node is the best.
func (c *conditions) best(b *language.Best, idle bool) {
	if b == nil || !idle && !c.all {
		return
	}
	for _, of := range []*language.Val[source.Text]{b.Max, b.Min} {
		if of != nil {
			c.look(of, expression.CheckQuantity)
		}
	}
	c.each(b.Where)
}

// each looks at a list of conditions.
func (c *conditions) each(w *language.Conditions) {
	if w == nil {
		return
	}
	if w.One != nil {
		c.look(w.One, expression.Check)
	}
	for _, e := range w.Many {
		if e.That != nil {
			c.look(e.That, expression.Check)
		}
	}
}

// amounts are the values of a quantity that may come from an earlier result.
func amounts[T language.Amount, X any](q *language.Quantity[T, X]) []*language.Val[language.Derived[T]] {
	if q == nil {
		return nil
	}
	all := []*language.Val[language.Derived[T]]{q.One}
	for _, step := range q.Ramp {
		all = append(all, step.To)
	}
	if q.Search != nil {
		all = append(all, q.Search.From, q.Search.To)
	}
	return all
}

func (c *conditions) look(
	e *language.Val[source.Text], check func(source.Text, expression.Names) source.Diagnostics,
) {
	if c.reported(func(d source.Diagnostic) bool {
		return d.Pos == e.At.Node.Pos || d.Path == "" && d.Pos.Line == e.At.Node.Pos.Line // of the YAML
	}) {
		return
	}
	for _, name := range layer.References(e.V.Text) {
		if strings.HasPrefix(name, "matrix.") && (c.at == nil || c.at.Open) {
			return // what it is depends on the stage, or is reported
		}
		if v := c.Vars.Find(name); v != nil && (!v.Known || c.wrong(v)) {
			return // what follows from its value is not known
		}
	}
	c.diags = append(c.diags, check(e.V, c)...)
}

// wrong reports whether a mistake in the declaration of v is known.
func (c *conditions) wrong(v *layer.Variable) bool {
	return c.reported(func(d source.Diagnostic) bool { return within(v.Path, d.Path) })
}

func (c *conditions) reported(which func(source.Diagnostic) bool) bool {
	return slices.ContainsFunc(c.Diags,
		func(d source.Diagnostic) bool { return d.Severity == source.Error && which(d) })
}

// Variable implements expression.Names.
func (c *conditions) Variable(name string) (literal, typ string, err error) {
	from := c.Vars.Values
	if strings.HasPrefix(name, "matrix.") && c.at != nil {
		from = c.at.Values
	}
	v := from.Find(name)
	switch {
	case v == nil:
		return "", "", expression.NoVariable(name, from.Names())
	case v.Secret:
		return "", "", fmt.Errorf("${%s} is a secret and cannot be compared with anything", name)
	}
	return v.Text, v.Type, nil
}
