package executor

import (
	"cmp"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// phase is a named part of a ramp: one or more stretches of hold.
type phase struct {
	name  string
	spans []measure.Span
}

// phases cuts a ramp in its named holds, those without a name, and what lies between; in the order in which they begin.
// `for` and `until: others` hold the last value until the node is over. nil: the node is no ramp.
func (n *Node) phases() []phase {
	ramp, ok := scenario.QuantityOf(n.Stage.Load).(scenario.Ramp)
	if !ok {
		return nil
	}
	_, itself := n.Stage.Extent.(scenario.ByLoad)
	var list []phase
	for _, p := range ramp.Phases(!itself) {
		i := slices.IndexFunc(list, func(o phase) bool { return o.name == p.Name })
		if i < 0 {
			i, list = len(list), append(list, phase{name: p.Name})
		}
		list[i].spans = append(list[i].spans, measure.Span{From: int64(p.From), To: int64(p.To)})
	}
	return list
}

// holds are the stretches that count in a ramp's unscoped numbers: all holds, or everything where there is none. nil: all.
func holds(list []phase) []measure.Span {
	var spans []measure.Span
	for _, p := range list {
		if p.name != scenario.RampPhase {
			spans = append(spans, p.spans...)
		}
	}
	slices.SortFunc(spans, func(a, b measure.Span) int { return cmp.Compare(a.From, b.From) })
	if len(spans) == 1 && spans[0] == (measure.Span{From: 0, To: math.MaxInt64}) {
		return nil
	}
	return spans
}

// scopes are the parts of a node that have numbers of their own: each phase of a ramp, each entry of a mix, and what else
// an expression asks for; the windows that assertions are judged on; and what makes a request good.
type scopes struct {
	places []expression.Place // Phase and Mix of each part
	series []windowed
	parts  measure.Parts
}

// windowed is one series of windows and the rows that are stored of each.
type windowed struct {
	place expression.Place
	every int64 // ns
	rows  []*metric.Row
}

// scopes lists what is to be measured apart on node n of p.
func (p *Program) scopes(n *Node) scopes {
	var s scopes
	phases := n.phases()
	s.parts.Holds = holds(phases)
	for _, ph := range phases {
		s.add(n, expression.Place{Phase: ph.name}, phases)
	}
	for _, e := range n.Stage.Mix {
		s.add(n, expression.Place{Mix: e.Name}, phases)
	}
	for _, c := range p.checksOn(n) {
		for _, ref := range c.refs {
			s.add(n, expression.Place{Phase: ref.Phase, Mix: ref.Mix}, phases)
			if every := c.window(); every > 0 {
				s.window(expression.Place{Phase: ref.Phase, Mix: ref.Mix}, every, ref.Leaf.Row)
			}
		}
	}
	for i, w := range s.series {
		e := measure.Every{Length: w.every, Scope: -1}
		if w.place != (expression.Place{}) {
			e.Scope = slices.Index(s.places, w.place)
		}
		for _, row := range w.rows {
			if row.From == metric.Sample {
				e.Rows = append(e.Rows, row)
			}
		}
		slices.SortFunc(s.series[i].rows, func(a, b *metric.Row) int { return cmp.Compare(a.Name, b.Name) })
		s.parts.Every = append(s.parts.Every, e)
	}
	s.parts.Goodput = n.Goodput
	return s
}

// add makes a part of its own of a place, unless it is the node as a whole or there already.
func (s *scopes) add(n *Node, at expression.Place, phases []phase) {
	if at == (expression.Place{}) || slices.Contains(s.places, at) {
		return
	}
	scope := measure.Scope{Phase: at.Phase, Entry: -1, Spans: s.parts.Holds}
	if at.Phase != "" {
		i := slices.IndexFunc(phases, func(p phase) bool { return p.name == at.Phase })
		if i < 0 {
			return // refused when the expression was compiled
		}
		scope.Spans = phases[i].spans
	}
	if at.Mix != "" {
		if scope.Entry = slices.IndexFunc(n.Stage.Mix, func(e scenario.Entry) bool { return e.Name == at.Mix }); scope.Entry < 0 {
			return
		}
	}
	s.places = append(s.places, at)
	s.parts.Scopes = append(s.parts.Scopes, scope)
}

// reach is what a place covers: stretches of hold, nil: all of it; and one entry of the mix, -1: all.
func (s *scopes) reach(at expression.Place) (spans []measure.Span, entry int) {
	if i := slices.Index(s.places, expression.Place{Phase: at.Phase, Mix: at.Mix}); i >= 0 {
		return s.parts.Scopes[i].Spans, s.parts.Scopes[i].Entry
	}
	return s.parts.Holds, -1
}

// window adds a row to the series of a length and place.
func (s *scopes) window(at expression.Place, every int64, row *metric.Row) {
	i := slices.IndexFunc(s.series, func(w windowed) bool { return w.place == at && w.every == every })
	if i < 0 {
		i, s.series = len(s.series), append(s.series, windowed{place: at, every: every})
	}
	if !slices.Contains(s.series[i].rows, row) {
		s.series[i].rows = append(s.series[i].rows, row)
	}
}

// asking is a check with those of its references that are to one node.
type asking struct {
	Check
	refs []expression.Ref
}

// window is how long the windows are that the check is judged on, ns; 0: it is judged as a whole.
func (c asking) window() int64 { return int64(verdict.Every(c.Assertion)) }

// checksOn are the assertions and conditions of the whole plan that ask something of n, with what they ask.
func (p *Program) checksOn(n *Node) []asking {
	var list []asking
	add := func(checks []Check, own bool) {
		for _, c := range checks {
			if c.Program == nil {
				continue
			}
			a := asking{Check: c}
			for _, ref := range c.Program.Refs {
				if !ref.Baseline && (ref.Node == n.ID || ref.Node == "" && own) {
					a.refs = append(a.refs, ref)
				}
			}
			if a.refs != nil {
				list = append(list, a)
			}
		}
	}
	for _, other := range p.Nodes {
		add(other.Checks, other == n)
		add(other.While, other == n)
	}
	add(p.Assert, false)
	return list
}
