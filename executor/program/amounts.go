package program

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// derived is an earlier node that a load is taken from, and the place in the plan.
type derived struct {
	from *Node
	pos  source.Pos
}

// compileAmounts compiles every value of a load that comes from earlier results. Which stages these
// are decides about the order, so that any other stage may be named; a circle is found there. It
// adds the nodes that each load is taken from.
func compileAmounts(d *draft) {
	for _, n := range d.Nodes {
		if n.Catalogue == nil {
			continue
		}
		for _, l := range amountsOf(n.Stage, n.Level) {
			compileAmount(d, n, l)
		}
	}
}

func compileAmount(d *draft, n *Node, l scenario.Level) {
	s := &scope{draft: d, node: n, early: true}
	p, diags := expression.CompileQuantity(*l.Expr, s)
	d.add(diags...)
	if p == nil {
		return
	}
	want, like := metric.Count, "a count"
	if n.Rated() {
		want, like = metric.Rate, "a rate"
	}
	if _, dim := p.Quantity(nothing{}); dim != want && (n.Rated() || dim != metric.Number) {
		d.fail(l.Expr.Pos, "load-from-result", "this load is %s, and ${%s} is not", like, l.Expr.Text).
			Detail = fmt.Sprintf("write an expression that gives %s, such as 0.8 * "+
			"stage(\"find\").capacity of a "+
			"search for one", like)
		return
	}
	if n.amounts == nil {
		n.amounts = make(map[*source.Text]*expression.Program)
	}
	n.amounts[l.Expr] = p
	for i, r := range p.Refs {
		from := lastOf(d.Program, r)
		if from == nil {
			var err error
			if from, err = s.named(r.Node); err != nil {
				continue
			}
			p.Refs[i].Node = from.ID
		}
		if !slices.ContainsFunc(n.takes, func(take derived) bool { return take.from == from }) {
			n.takes = append(n.takes, derived{from: from, pos: l.Expr.Pos})
		}
	}
}

// nothing holds the values that are known before anything has run: none.
type nothing struct{}

func (nothing) Quantity(expression.Ref) expression.Quantity { return expression.Quantity{} }

// Amount returns the value of one of the node's levels, ramp steps or search bounds when it starts: as
// written, or computed from what earlier nodes gave. why says why there is none; then the node
// cannot run.
func (n *Node) Amount(l scenario.Level, v expression.Values) (value float64, why string) {
	if l.Expr == nil {
		return l.Value, ""
	}
	a := n.amounts[l.Expr]
	if a == nil {
		return 0, fmt.Sprintf("${%s} was not understood", l.Expr.Text)
	}
	q, _ := a.Quantity(v)
	switch {
	case !q.Known:
		return 0, fmt.Sprintf("${%s} has no value: %s", l.Expr.Text, q.Why)
	case n.Rated() && !(q.V > 0 && q.V <= language.MaxRate):
		return 0,
			fmt.Sprintf("${%s} is %.6g/s here; a rate is above 0 and at most %d/s", l.Expr.Text, q.V,
				language.MaxRate)
	case n.Rated():
		return q.V, ""
	}
	if value = math.Round(q.V); !(value >= 1 && value <= language.MaxSlots) {
		return 0,
			fmt.Sprintf("${%s} is %.6g here; requests in flight are from 1 to %d", l.Expr.Text, q.V,
				language.MaxSlots)
	}
	return value, ""
}

// formula returns the expression by which the load of a node comes from earlier results; "": all of
// it is written.
func formula(n *Node) string {
	if all := amountsOf(n.Stage, n.Level); len(all) > 0 {
		return "${" + all[0].Expr.Text + "}"
	}
	return ""
}

// amountsOf lists the values of a node's load that are written as expressions.
func amountsOf(s *scenario.Stage, level scenario.Level) []scenario.Level {
	all := []scenario.Level{level}
	switch q := quantity(s).(type) {
	case scenario.Ramp:
		for _, step := range q.Steps {
			all = append(all, step.To)
		}
	case scenario.Search:
		all = append(all, q.From, q.To)
	}
	return slices.DeleteFunc(all, func(l scenario.Level) bool { return l.Expr == nil })
}
