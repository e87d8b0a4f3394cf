package program

import (
	"math"

	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario"
)

// planNodes fills in what each node will do, and labels the graph. It reads the loads and adds
// Node.Planned.
func planNodes(d *draft) {
	for _, n := range d.Nodes {
		n.Planned = planNode(n)
		d.Graph.Label(n.ID, n.Load.Label)
	}
}

// planNode plans one repeat of a node.
func planNode(n *Node) Planned {
	p := Planned{
		Requests: -1, Outside: -1, Repeats: max(n.Stage.Repeat, 1), InFlight: inFlight(n),
		climbs: len(conditions(n.Stage)) > 0,
	}
	if n.Stage.Warmup.IsZero() {
		p.Outside = 0
	}
	l, known := n.Load, plannedRequests(n)
	warm, hold := warmupBounds(n), holdBounds(n, known)
	switch {
	case known > 0:
		p.Requests = known
		if l.openRamp() {
			p.Requests = held(n, math.MaxInt64, int64(known))
		}
	case l.arrivals != nil && hold.least == hold.most || isStable(n):
		p.Requests = measured(n, warm, hold)
		p.SD = l.sd(p.Requests)
	}
	if p.Requests >= 0 && l.arrivals != nil && warm.least == warm.most && hold.least == hold.most {
		all := l.count(0, inNs(warm.most+hold.most))
		if known > 0 {
			all = known + float64(n.Stage.Warmup.Requests) + l.count(0, int64(n.Stage.Warmup.Duration))
		}
		p.Outside = max(all-p.Requests, 0)
	} else if n.Stage.Warmup.Requests > 0 {
		p.Outside = float64(n.Stage.Warmup.Requests)
	}
	length := warm.plus(hold)
	if l.Search != nil {
		if l.Formula == "" {
			p.Trials, p.MostTrials = trialsOf(*l.Search)
		}
		length.least *= float64(p.Trials)
		length.most = (length.most + n.Stage.Drain.Seconds()) * float64(p.MostTrials) * MaxAttempts
		if p.MostTrials == 0 {
			length = unbounded()
		}
	}
	if len(n.While) > 0 && l.Search == nil {
		length.most = (length.most+n.Stage.Drain.Seconds())*MaxAttempts - n.Stage.Drain.Seconds()
	}
	length = length.within(n.Stage.MaxDuration.Seconds())
	p.Shortest, p.Longest = length.least, length.most+n.Stage.Drain.Seconds()
	if n.Sequences != nil {
		planSequences(n, &p)
	}
	if p.Requests < 0 {
		p.Decides = decidedBy(n)
	}
	return p
}

// decidedBy names what the number of requests depends on where it is unknown before the run.
func decidedBy(n *Node) string {
	switch {
	case n.WaitsForOthers():
		return "group"
	case n.Load.Formula != "":
		return "result"
	case n.Open && quantity(n.Stage) == nil:
		return "data"
	}
	return "server"
}

func isStable(n *Node) bool {
	_, is := n.Stage.Extent.(scenario.UntilStable)
	return is
}

// warmupBounds returns the length of the warm-up, s.
func warmupBounds(n *Node) bounds {
	w := n.Stage.Warmup
	switch {
	case w.Requests > 0 && n.Open:
		if due, ok := n.Load.due(w.Requests); ok {
			return exactly(float64(due) / 1e9)
		}
		return unbounded()
	case w.Requests > 0, w.Sequences > 0, w.Sessions > 0, w.Passes > 0:
		return unbounded()
	}
	return exactly(w.Duration.Seconds())
}

// holdBounds returns the length of hold, s, which ends after a number of requests; -1: not by
// their number.
func holdBounds(n *Node, requests float64) bounds {
	l := n.Load
	switch e := n.Stage.Extent.(type) {
	case scenario.For:
		if e.Span.Duration > 0 {
			if l.end > 0 && !l.openRamp() && l.end < int64(e.Span.Duration) {
				return exactly(float64(l.end) / 1e9)
			}
			return exactly(e.Span.Duration.Seconds())
		}
		if requests > 0 && n.Level.Value > 0 && n.Open && !l.openRamp() {
			return exactly(requests / n.Level.Value)
		}
		if requests > 0 {
			if due, ok := l.due(int64(requests) + n.Stage.Warmup.Requests); ok {
				return exactly(float64(due-l.Warm) / 1e9)
			}
		}
	case scenario.UntilStable:
		w := e.Window.Duration.Seconds()
		if e.Window.Requests > 0 && n.Open && n.Level.Value > 0 {
			w = float64(e.Window.Requests) / n.Level.Value
		}
		if w > 0 {
			return bounds{float64(e.Windows) * w, float64(e.MaxWindows) * w}
		}
	case scenario.UntilPrecise:
		return bounds{FirstLook.Seconds(), LongestPrecise.Seconds()}
	case scenario.ByLoad:
		if l.end > 0 {
			return exactly(float64(l.end) / 1e9)
		}
		if r, ok := quantity(n.Stage).(scenario.Ramp); ok {
			return exactly(rampLength(r))
		}
	}
	return unbounded()
}

// rampLength returns the length of all steps of a ramp, s.
func rampLength(r scenario.Ramp) float64 {
	length := 0.0
	for _, s := range r.Steps {
		length += (s.Over + s.Hold).Seconds()
	}
	return length
}

// plannedRequests returns after how many arrivals a node's measurement ends; -1: it ends otherwise,
// or it is not known.
func plannedRequests(n *Node) float64 {
	switch l := n.Load; {
	case l.Limit == 0:
		return -1
	case l.Sequences != nil && l.Sequences.LimitCountsSequences:
		return arrivalsOf(n, float64(l.Limit))
	default:
		return float64(l.Limit)
	}
}

// measured counts the requests that are due while a node is measured.
func measured(n *Node, warm, hold bounds) float64 {
	l, from := n.Load, inNs(warm.least)
	if e, ok := n.Stage.Extent.(scenario.UntilStable); ok {
		if e.Window.Requests > 0 {
			return float64(e.Windows) * float64(e.Window.Requests)
		}
		return l.count(from, from+int64(e.Windows)*int64(e.Window.Duration))
	}
	if l.openRamp() {
		return held(n, inNs(hold.most), math.MaxInt64)
	}
	if lasts := n.Span().Duration; lasts > 0 {
		return l.count(from, from+int64(lasts))
	}
	return l.count(from, math.MaxInt64)
}

func inNs(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }

// held counts the requests that are due in the holds of a ramp that lasts until end (ns), most of all
// that it sends.
func held(n *Node, end, most int64) float64 {
	spans := n.holds()
	if spans == nil {
		spans = []measure.Span{{From: 0, To: math.MaxInt64}} // without a hold everything counts
	}
	return within(n.Load, spans, end, most)
}

// within counts those of the first most requests that are due in spans, ns after the warm-up, before end.
func within(l *Load, spans []measure.Span, end, most int64) float64 {
	warm, total := l.Warm, int64(0)
	early := int64(l.count(0, warm))
	for _, span := range spans {
		s := l.even()
		if most < math.MaxInt64-early {
			s = load.Limit(s, most+early)
		}
		total += load.Count(s, warm+span.From, warm+min(span.To, end, math.MaxInt64-warm))
	}
	return float64(total)
}

// inFlight returns how many requests are open at the same time, at most; +Inf: an earlier result decides.
func inFlight(n *Node) float64 {
	switch l := n.Load; {
	case n.Users():
		return float64(l.Slots)
	case !n.Open && l.Formula != "":
		return math.Inf(1)
	case !n.Open && l.Search != nil:
		return math.Trunc(l.Search.To)
	default:
		return float64(l.Slots)
	}
}

// trialsOf returns how many measurements a search makes, at least and at most: those that it would
// make for limits all over its range.
func trialsOf(search load.Search) (least, most int) {
	const limits = 64
	for i := range limits + 1 {
		limit := search.From * math.Pow(search.To/search.From, float64(i)/limits)
		if i == 0 {
			limit = 0 // not even the first holds
		}
		n := probesTo(search, limit)
		if most = max(most, n); least == 0 || n < least {
			least = n
		}
	}
	return least, most
}

// probesTo counts the measurements that lead to one limit.
func probesTo(s load.Search, limit float64) int {
	const enough = 1000 // a search ends by itself long before
	var history []load.Trial
	for len(history) < enough {
		d := s.Next(history)
		if d.Done {
			break
		}
		history = append(history, load.Trial{Level: d.Level, Met: d.Level <= limit*(1+1e-12)})
	}
	return len(history)
}

// MaxAttempts bounds how often a trial of a search is measured until it is valid, and a level until this
// client does not leave its `while` open.
const MaxAttempts = 3

// bounds are the least and the most of something; most +Inf: there is no bound.
type bounds struct{ least, most float64 }

func exactly(v float64) bounds { return bounds{v, v} }

func (a bounds) plus(b bounds) bounds { return bounds{a.least + b.least, a.most + b.most} }

// within returns a with no more than most, s; 0: without a limit.
func (a bounds) within(most float64) bounds {
	if most > 0 {
		return bounds{min(a.least, most), min(a.most, most)}
	}
	return a
}

// known reports whether there is a bound above 0.
func (a bounds) known() bool { return a.most > 0 && !math.IsInf(a.most, 1) }

// unbounded returns the time that something takes that ends neither by time nor by a known number.
func unbounded() bounds { return bounds{0, math.Inf(1)} }
