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

// phase is a named part of a ramp: one or more spans of hold.
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

// Parts holds the parts of a node that have numbers of their own: each phase of a ramp, each entry
// of a mix, and what else an expression asks for; the windows that assertions are judged on; and
// what makes a request good.
type Parts struct {
	Places   []expression.Place // Phase and Mix of each part
	Series   []WindowSeries
	Timed    []TimedPlace
	Measured measure.Breakdown
}

// TimedPlace lists the rows of a place that are kept in equal parts of its time: those whose bounds an
// assertion with `confidence`, or `until: precise`, asks for. Latency is always among them, as it shows a
// queue.
type TimedPlace struct {
	Place expression.Place
	Rows  []*metric.Row
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
		for _, ref := range c.Asked {
			at := expression.Place{Phase: ref.Phase, Mix: ref.Mix}
			s.add(n, at)
			if every := c.Window(); every > 0 {
				s.window(at, every, ref.Leaf.Row)
			} else if c.Confidence > 0 && !verdict.ByRepeats(c.Refs) {
				s.time(n, at, ref.Leaf.Row)
			}
		}
	}
	for _, x := range n.Precise {
		s.time(n, expression.Place{}, x.Leaf.Row)
	}
	for i, w := range s.Series {
		e := measure.Every{Length: w.Every, Scope: s.scope(w.Place)}
		for _, row := range w.Rows {
			if row.From == metric.Sample {
				e.Rows = append(e.Rows, row)
			}
		}
		slices.SortFunc(s.Series[i].Rows, func(a, b *metric.Row) int { return cmp.Compare(a.Name, b.Name) })
		s.Measured.Every = append(s.Measured.Every, e)
	}
	for _, t := range s.Timed {
		m := measure.Timed{Scope: s.scope(t.Place)}
		for _, row := range t.Rows {
			if row.From == metric.Sample {
				m.Rows = append(m.Rows, row)
			}
		}
		s.Measured.Timed = append(s.Measured.Timed, m)
	}
	s.Measured.Goodput = n.Goodput
	return s
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

// add makes a part of its own of a place, unless it is the node as a whole or there already.
func (s *Parts) add(n *Node, at expression.Place) {
	if at == (expression.Place{}) || slices.Contains(s.Places, at) {
		return
	}
	scope := measure.Scope{Phase: at.Phase, Entry: mixEntry(n, at.Mix), Spans: s.Measured.Holds}
	if at.Phase == expression.Steady {
		scope.Spans, scope.Steady = nil, true
	} else if at.Phase != "" {
		scope.Spans = n.phase(at.Phase)
	}
	s.Places = append(s.Places, at)
	s.Measured.Scopes = append(s.Measured.Scopes, scope)
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

// scope returns the index of a place's sums, -1 for the whole node.
func (s *Parts) scope(at expression.Place) int { return slices.Index(s.Places, at) }

// time keeps a row of a place in equal parts of its time, if it can be.
func (s *Parts) time(n *Node, at expression.Place, row *metric.Row) {
	if !measure.IsTimed(row) || !n.steady(at) {
		return
	}
	i := slices.IndexFunc(s.Timed, func(t TimedPlace) bool { return t.Place == at })
	if i < 0 {
		i, s.Timed = len(s.Timed), append(s.Timed, TimedPlace{Place: at})
		if latency, ok := n.Catalogue.Row(metric.Latency); ok {
			s.Timed[i].Rows = append(s.Timed[i].Rows, latency)
		}
	}
	if !slices.Contains(s.Timed[i].Rows, row) {
		s.Timed[i].Rows = append(s.Timed[i].Rows, row)
	}
}

// steady reports whether the load of a place is the same all the time, so that its parts can be compared.
func (n *Node) steady(at expression.Place) bool {
	if _, periodic := quantity(n.Stage).(scenario.Periodic); periodic || at.Phase == expression.Steady {
		return false
	}
	spans := n.holds()
	if at.Phase != "" {
		spans = n.phase(at.Phase)
	}
	return len(n.phases) == 0 || at.Phase != scenario.RampPhase && len(spans) == 1
}

// AskedCheck holds a check with those of its references that are to one node.
type AskedCheck struct {
	Check
	Asked []expression.Ref
}

// Window returns the length of the windows that the check is judged on, ns; 0: it is judged as a whole.
func (c AskedCheck) Window() int64 { return int64(verdict.Every(c.Assertion)) }

// ChecksOn lists the assertions and conditions of the whole plan that ask something of n, with what
// they ask.
func (p *Program) ChecksOn(n *Node) []AskedCheck {
	var list []AskedCheck
	for on, c := range p.checks() {
		a := AskedCheck{Check: *c}
		for _, ref := range c.Refs {
			if !ref.Baseline && (ref.Node == n.ID || ref.Node == "" && on == n) {
				a.Asked = append(a.Asked, ref)
			}
		}
		if a.Asked != nil {
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
	for _, ref := range c.Refs {
		from := ref.Leaf.Row.From
		if ref.Node == "" && ref.Phase == "" && !ref.Baseline &&
			(from == metric.Sample || from == metric.Flow) {
			d.warnOnce(c.That.At(ref.At[0]), "all-holds",
				"%s is taken over all %d holds together", ref, spans).
				Detail = detail
		}
	}
}
