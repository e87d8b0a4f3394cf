package program

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

// phasesOf cuts a ramp in its named holds, those without a name, and what lies between; in the
// order in which they begin. `for` and `until: others` hold the last value until the node is over.
// nil: the stage has no ramp.
func phasesOf(s *scenario.Stage) (list []phase) {
	ramp, ok := quantity(s).(scenario.Ramp)
	if !ok {
		return nil
	}
	_, itself := s.Extent.(scenario.ByLoad)
	for _, p := range ramp.Phases(!itself) {
		i := slices.IndexFunc(list, func(o phase) bool { return o.name == p.Name })
		if i < 0 {
			i, list = len(list), append(list, phase{name: p.Name})
		}
		list[i].spans = append(list[i].spans, measure.Span{From: int64(p.From), To: int64(p.To)})
	}
	return list
}

// phase returns the spans of a phase of the node; nil: it has none of that name.
func (n *Node) phase(name string) []measure.Span {
	for _, p := range n.phases {
		if p.name == name {
			return p.spans
		}
	}
	return nil
}

// holds returns the spans that count in a ramp's unscoped numbers: all holds, or everything where
// there is none. nil: all.
func (n *Node) holds() (spans []measure.Span) {
	for _, p := range n.phases {
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

// Parts holds the parts of a node that have numbers of their own: each phase of a ramp, each entry
// of a mix, and what else an expression asks for; the windows that assertions are judged on; and
// what makes a request good.
type Parts struct {
	Places   []expression.Place // Phase and Mix of each part
	Series   []WindowSeries
	Measured measure.Breakdown
}

// WindowSeries holds one series of windows and the rows that are stored of each.
type WindowSeries struct {
	Place expression.Place
	Every int64 // ns
	Rows  []*metric.Row
}

// Parts lists what is to be measured apart on node n of p.
func (p *Program) Parts(n *Node) Parts {
	var s Parts
	s.Measured.Holds = n.holds()
	for _, p := range n.phases {
		s.add(n, expression.Place{Phase: p.name})
	}
	for _, e := range n.Stage.Mix {
		s.add(n, expression.Place{Mix: e.Name})
	}
	for _, c := range p.ChecksOn(n) {
		for _, ref := range c.Refs {
			at := expression.Place{Phase: ref.Phase, Mix: ref.Mix}
			s.add(n, at)
			if every := c.Window(); every > 0 {
				s.window(at, every, ref.Leaf.Row)
			}
		}
	}
	for i, w := range s.Series {
		e := measure.Every{Length: w.Every, Scope: -1}
		if w.Place != (expression.Place{}) {
			e.Scope = slices.Index(s.Places, w.Place)
		}
		for _, row := range w.Rows {
			if row.From == metric.Sample {
				e.Rows = append(e.Rows, row)
			}
		}
		slices.SortFunc(s.Series[i].Rows, func(a, b *metric.Row) int { return cmp.Compare(a.Name, b.Name) })
		s.Measured.Every = append(s.Measured.Every, e)
	}
	s.Measured.Goodput = n.Goodput
	return s
}

// add makes a part of its own of a place, unless it is the node as a whole or there already.
func (s *Parts) add(n *Node, at expression.Place) {
	if at == (expression.Place{}) || slices.Contains(s.Places, at) {
		return
	}
	scope := measure.Scope{Phase: at.Phase, Entry: -1, Spans: s.Measured.Holds}
	if at.Phase != "" {
		if scope.Spans = n.phase(at.Phase); scope.Spans == nil {
			return // refused when the expression was compiled
		}
	}
	if at.Mix != "" {
		if scope.Entry = mixEntry(n, at.Mix); scope.Entry < 0 {
			return
		}
	}
	s.Places = append(s.Places, at)
	s.Measured.Scopes = append(s.Measured.Scopes, scope)
}

// Covers returns what a place covers: spans of hold, nil: all of it; and one entry of the mix, -1: all.
func (s *Parts) Covers(at expression.Place) (spans []measure.Span, entry int) {
	if i := slices.Index(s.Places, expression.Place{Phase: at.Phase, Mix: at.Mix}); i >= 0 {
		return s.Measured.Scopes[i].Spans, s.Measured.Scopes[i].Entry
	}
	return s.Measured.Holds, -1
}

// window adds a row to the series of a length and place.
func (s *Parts) window(at expression.Place, every int64, row *metric.Row) {
	i := slices.IndexFunc(s.Series, func(w WindowSeries) bool { return w.Place == at && w.Every == every })
	if i < 0 {
		i, s.Series = len(s.Series), append(s.Series, WindowSeries{Place: at, Every: every})
	}
	if !slices.Contains(s.Series[i].Rows, row) {
		s.Series[i].Rows = append(s.Series[i].Rows, row)
	}
}

// AskedCheck holds a check with those of its references that are to one node.
type AskedCheck struct {
	Check
	Refs []expression.Ref
}

// Window returns the length of the windows that the check is judged on, ns; 0: it is judged as a whole.
func (c AskedCheck) Window() int64 { return int64(verdict.Every(c.Assertion)) }

// ChecksOn lists the assertions and conditions of the whole plan that ask something of n, with what
// they ask.
func (p *Program) ChecksOn(n *Node) []AskedCheck {
	var list []AskedCheck
	for on, c := range p.checks() {
		a := AskedCheck{Check: *c}
		for _, ref := range c.Program.Refs {
			if !ref.Baseline && (ref.Node == n.ID || ref.Node == "" && on == n) {
				a.Refs = append(a.Refs, ref)
			}
		}
		if a.Refs != nil {
			list = append(list, a)
		}
	}
	return list
}

// lintAllHolds warns where a distribution or a rate is taken over several holds of a ramp together:
// a percentile of a base load and a spike is that of neither. Ratios and counts are sums, which
// mean the same over all.
func lintAllHolds(d *draft, c Check, n *Node) {
	if n == nil {
		return
	}
	spans, detail := 0, "with names, phase(\"…\") takes one of them"
	for _, p := range n.phases {
		if p.name == scenario.RampPhase {
			continue
		}
		if spans += len(p.spans); p.name != scenario.HoldPhase {
			detail = "one of them is " + expression.Place{Phase: p.name}.String() + "…"
		}
	}
	if spans < 2 {
		return
	}
	for _, ref := range c.Program.Refs {
		from := ref.Leaf.Row.From
		if ref.Node == "" && ref.Phase == "" && !ref.Baseline &&
			(from == metric.Sample || from == metric.Flow) {
			d.warnOnce(c.Assertion.That.At(ref.At[0]), "all-holds",
				"%s is taken over all %d holds together", ref, spans).
				Detail = detail
		}
	}
}
