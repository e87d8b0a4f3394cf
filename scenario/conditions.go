package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/source"
)

// conditions looks for mistakes in expressions that nobody will compile: all of them where the plan has other mistakes,
// so that these do not hide them; else those of stages that never run and of slos that nobody uses. What depends on
// targets and on the order of stages stays for the compiler.
func (r *reading) conditions() source.Diagnostics {
	c := conditions{reading: r, names: places{reading: r}, all: r.diags.HasErrors(), used: map[string]bool{}}
	for _, s := range r.raw.flat {
		never := s.never()
		c.at, c.names.stage, c.names.idle = r.subs.pointOf(s.At.node), s, never
		c.assertions(s.Play.Assert, never)
		if l := s.Play.Load; l != nil {
			quantityOf(&c, l.Concurrency, never)
			quantityOf(&c, l.Rate, never)
		}
		if u := s.Play.Until; u != nil && u.Stable != nil && c.all {
			for _, m := range u.Stable.Metrics {
				if m.at.node != nil && !m.at.implied {
					c.look(m, expression.CheckQuantity)
				}
			}
		}
	}
	c.at, c.names.stage, c.names.idle = nil, nil, false
	c.assertions(r.raw.Assert, false)
	c.names.free = true
	for _, s := range r.raw.SLOs.items() {
		c.assertions(*s.Value, !c.used[s.Key])
	}
	return c.diags
}

type conditions struct {
	*reading
	all   bool            // the plan has other mistakes
	used  map[string]bool // slos, by name
	names places
	at    *point // of the stage at hand
	diags source.Diagnostics
}

// assertions looks at a list of them. idle: nobody else will.
func (c *conditions) assertions(list []*rawAssertion, idle bool) {
	for _, a := range list {
		c.used[a.fromSLO] = c.used[a.fromSLO] || !idle
		if a.That != nil && (idle || c.all) {
			c.look(a.That, expression.Check)
		}
	}
}

func quantityOf[T amount, X any](c *conditions, q *rawQuantity[T, X], idle bool) {
	if !idle && !c.all {
		return
	}
	for _, v := range amounts(q) {
		if v != nil && v.V.Expr != nil {
			c.look(&val[source.Text]{*v.V.Expr, v.at}, expression.CheckQuantity)
		}
	}
	for _, w := range whiles(q) {
		if w.One != nil {
			c.look(w.One, expression.Check)
		}
		for _, e := range w.Many {
			if e.That != nil {
				c.look(e.That, expression.Check)
			}
		}
	}
}

// amounts are the values of a quantity that may come from an earlier result.
func amounts[T amount, X any](q *rawQuantity[T, X]) []*val[derived[T]] {
	if q == nil {
		return nil
	}
	all := []*val[derived[T]]{q.One}
	for _, step := range q.Ramp {
		all = append(all, step.To)
	}
	if q.Search != nil {
		all = append(all, q.Search.From, q.Search.To)
	}
	return all
}

func (c *conditions) look(e *val[source.Text], check func(source.Text, expression.Names) source.Diagnostics) {
	if c.reported(func(d source.Diagnostic) bool {
		return d.Pos == e.at.node.Pos || d.Path == "" && d.Pos.Line == e.at.node.Pos.Line // of the YAML
	}) {
		return
	}
	for _, at := range referenceForm.FindAllString(e.V.Text, -1) {
		m := nameInside.FindStringSubmatch(at)
		if m == nil {
			continue
		}
		if strings.HasPrefix(m[1], "matrix.") && (c.at == nil || c.at.open) {
			return // what it is depends on the stage, or is reported
		}
		if v := c.vars.find(m[1]); v != nil && (!v.known || c.wrong(v)) {
			return // what follows from its value is not known
		}
	}
	c.diags = append(c.diags, check(e.V, expressionNames{c.names, c.vars, c.at})...)
}

// wrong reports whether a mistake in the declaration of v is known.
func (c *conditions) wrong(v *variable) bool {
	return c.reported(func(d source.Diagnostic) bool { return d.Path == v.path || strings.HasPrefix(d.Path, v.path+"/") })
}

func (c *conditions) reported(which func(source.Diagnostic) bool) bool {
	return slices.ContainsFunc(c.reading.diags, func(d source.Diagnostic) bool { return d.Severity == source.Error && which(d) })
}

// expressionNames are the places, the plan's variables and the values of a point as expressions see them.
type expressionNames struct {
	places
	*variables
	at *point
}

// Variable implements expression.Names.
func (vs expressionNames) Variable(name string) (literal, typ string, err error) {
	v, names := vs.find(name), vs.names()
	if strings.HasPrefix(name, "matrix.") && vs.at != nil {
		v, names = vs.at.find(name), vs.at.names()
	}
	switch {
	case v == nil:
		return "", "", expression.NoVariable(name, names)
	case v.Secret:
		return "", "", fmt.Errorf("${%s} is a secret and cannot be compared with anything", name)
	}
	return v.Text, v.Type, nil
}
