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
	c := conditions{reading: r, names: places{reading: r}, all: r.Diags.HasErrors(), used: map[string]bool{}}
	for _, s := range r.raw.Flat {
		never := s.Never()
		c.at, c.names.stage, c.names.idle = r.Subs.PointOf(s.At.Node), s, never
		c.assertions(s.Play.Assert, never)
		if l := s.Play.Load; l != nil {
			quantityOf(&c, l.Concurrency, never)
			quantityOf(&c, l.Rate, never)
		}
		if u := s.Play.Until; u != nil && u.Stable != nil && c.all {
			for _, m := range u.Stable.Metrics {
				if m.At.Node != nil && !m.At.Implied {
					c.look(m, expression.CheckQuantity)
				}
			}
		}
	}
	c.at, c.names.stage, c.names.idle = nil, nil, false
	c.assertions(r.raw.Assert, false)
	c.names.free = true
	for _, s := range r.raw.SLOs.Items() {
		c.assertions(*s.Value, !c.used[s.Key])
	}
	return c.diags
}

type conditions struct {
	*reading
	all   bool            // the plan has other mistakes
	used  map[string]bool // slos, by name
	names places
	at    *layer.Point // of the stage at hand
	diags source.Diagnostics
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
	w := conditionsOf(q)
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
	c.diags = append(c.diags, check(e.V, expressionNames{c.names, c.Vars, c.at})...)
}

// wrong reports whether a mistake in the declaration of v is known.
func (c *conditions) wrong(v *layer.Variable) bool {
	return c.reported(func(d source.Diagnostic) bool { return within(v.Path, d.Path) })
}

func (c *conditions) reported(which func(source.Diagnostic) bool) bool {
	return slices.ContainsFunc(c.Diags,
		func(d source.Diagnostic) bool { return d.Severity == source.Error && which(d) })
}

// expressionNames are the places, the plan's variables and the values of a point as expressions see
// them.
type expressionNames struct {
	places
	*layer.Variables
	at *layer.Point
}

// Variable implements expression.Names.
func (vs expressionNames) Variable(name string) (literal, typ string, err error) {
	v, names := vs.Find(name), vs.Names()
	if strings.HasPrefix(name, "matrix.") && vs.at != nil {
		v, names = vs.at.Find(name), vs.at.Names()
	}
	switch {
	case v == nil:
		return "", "", expression.NoVariable(name, names)
	case v.Secret:
		return "", "", fmt.Errorf("${%s} is a secret and cannot be compared with anything", name)
	}
	return v.Text, v.Type, nil
}
