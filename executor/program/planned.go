package program

import (
	"math"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario"
)

// planNodes fills what each node will do, and labels the graph.
func planNodes(d *draft) {
	for _, n := range d.program.Nodes {
		n.Planned = planNode(d, n)
		d.program.Graph.Label(n.ID, labelOf(n))
	}
}

// bounds are the least and the most of something; most -1: there is no bound.
type bounds struct{ least, most float64 }

func exactly(v float64) bounds { return bounds{v, v} }

func (a bounds) plus(b bounds) bounds {
	if a.most < 0 || b.most < 0 {
		return bounds{a.least + b.least, -1}
	}
	return bounds{a.least + b.least, a.most + b.most}
}

// planNode is what one repeat of a node will do.
func planNode(d *draft, n *Node) Planned {
	p := Planned{Requests: -1, Outside: -1, Longest: -1, Repeats: max(n.Stage.Repeat, 1), InFlight: inFlight(n), Formula: formula(n)}
	if n.Stage.Warmup.IsZero() {
		p.Outside = 0
	}
	p.climbs = len(conditions(n.Stage)) > 0
	a, known := duesOf(n), plannedRequests(d, n)
	warm, hold := warmupBounds(n, a), holdBounds(n, a, known)
	switch {
	case known > 0:
		p.Requests = known
		if a.ramp != nil {
			p.Requests = a.held(n, math.MaxInt64, int64(known))
		}
	case a.even != nil && hold.least == hold.most || isStable(n):
		p.Requests = a.measured(n, warm, hold)
		p.SD = a.sd(p.Requests)
	}
	if p.Requests >= 0 && a.even != nil && hold.most >= 0 && warm.most >= 0 && hold.least == hold.most {
		all := a.count(0, inNs(warm.most+hold.most))
		if known > 0 {
			all = known + float64(n.Stage.Warmup.Requests) + a.count(0, int64(n.Stage.Warmup.Duration))
		}
		p.Outside = max(all-p.Requests, 0)
	} else if n.Stage.Warmup.Requests > 0 {
		p.Outside = float64(n.Stage.Warmup.Requests)
	}
	length := warm.plus(hold)
	if s, ok := quantity(n.Stage).(scenario.Search); ok {
		p.Trials, p.MostTrials = trialsOf(s, n.Open)
		length.least *= float64(p.Trials)
		if length.most >= 0 {
			length.most = (length.most + n.Stage.Drain.Seconds()) * float64(p.MostTrials) * MaxAttempts
		}
		if p.MostTrials == 0 {
			length.most = -1
		}
	}
	p.Shortest, p.Longest = withLimits(n, length)
	if n.Sequences != nil {
		planSequences(n, &p, plannedSequences(d, n))
	}
	if p.Requests < 0 {
		p.Decides = decidedBy(n)
	}
	return p
}

// decidedBy is what the number of requests depends on that nobody knows before the run.
func decidedBy(n *Node) string {
	_, others := n.Stage.Extent.(scenario.UntilOthers)
	switch {
	case others:
		return "group"
	case len(amountsOf(n.Stage, n.Level)) > 0:
		return "result"
	case n.Open && quantity(n.Stage) == nil:
		return "data"
	}
	return "server"
}

func inNs(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }

func isStable(n *Node) bool {
	_, is := n.Stage.Extent.(scenario.UntilStable)
	return is
}

// withLimits adds the drain and the delay to what a node takes, within its max_duration.
func withLimits(n *Node, b bounds) (shortest, longest float64) {
	drain := n.Stage.Drain.Seconds()
	shortest, longest = b.least, -1
	if b.most >= 0 {
		longest = b.most + drain
	}
	if most := n.Stage.MaxDuration.Seconds(); most > 0 {
		shortest = min(shortest, most)
		if longest < 0 || longest > most+drain {
			longest = most + drain
		}
	}
	return shortest, longest
}

// warmupBounds is how long the warm-up takes, s.
func warmupBounds(n *Node, a dues) bounds {
	w := n.Stage.Warmup
	switch {
	case w.Requests > 0 && n.Open:
		if due, ok := a.due(w.Requests); ok {
			return exactly(float64(due) / 1e9)
		}
		return bounds{0, -1}
	case w.Requests > 0, w.Sequences > 0, w.Sessions > 0, w.Passes > 0:
		return bounds{0, -1}
	}
	return exactly(w.Duration.Seconds())
}

// holdBounds is how long the measurement takes, s. requests is after how many it ends; -1: not by their number.
func holdBounds(n *Node, a dues, requests float64) bounds {
	switch e := n.Stage.Extent.(type) {
	case scenario.For:
		if e.Span.Duration > 0 {
			if a.end > 0 && a.ramp == nil && a.end < int64(e.Span.Duration) {
				return exactly(float64(a.end) / 1e9)
			}
			return exactly(e.Span.Duration.Seconds())
		}
		if requests > 0 && n.Level.Value > 0 && n.Open && a.ramp == nil {
			return exactly(requests / n.Level.Value)
		}
		if requests > 0 {
			if due, ok := a.due(int64(requests) + n.Stage.Warmup.Requests); ok {
				return exactly(float64(due-int64(n.Stage.Warmup.Duration)) / 1e9)
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
	case scenario.ByLoad:
		if a.end > 0 {
			return exactly(float64(a.end) / 1e9)
		}
		if r, ok := quantity(n.Stage).(scenario.Ramp); ok {
			return exactly(rampLength(r))
		}
	}
	return bounds{0, -1}
}

// rampLength is how long the steps of a ramp take, s.
func rampLength(r scenario.Ramp) float64 {
	length := 0.0
	for _, s := range r.Steps {
		length += (s.Over + s.Hold).Seconds()
	}
	return length
}

// plannedRequests is the number after which a node's measurement ends; -1: it ends otherwise, or nobody knows.
func plannedRequests(d *draft, n *Node) float64 {
	e, ok := n.Stage.Extent.(scenario.For)
	switch {
	case !ok:
		return -1
	case n.Sequences != nil && e.Span.Requests == 0:
		if count := plannedSequences(d, n); count > 0 {
			return arrivalsOf(n, count)
		}
		return -1
	case e.Span.Requests > 0:
		return float64(e.Span.Requests)
	case e.Span.Passes > 0:
		var shares []feed.Share
		for _, entry := range n.Stage.Entries() {
			rows := d.rows[entry.Request.Data]
			if rows == 0 {
				return -1
			}
			shares = append(shares, feed.Share{Rows: rows, Batch: max(entry.Request.Batch, 1), Weight: entry.Weight})
		}
		seed := load.Seed(d.program.Plan.Seed, n.Stage.ID, n.ID)
		return float64(feed.Passes(e.Span.Passes, shares, seed[1]))
	}
	return -1
}

// measured is how many requests are due while a node is measured.
func (a dues) measured(n *Node, warm, hold bounds) float64 {
	from := inNs(warm.most)
	if e, ok := n.Stage.Extent.(scenario.UntilStable); ok {
		if e.Window.Requests > 0 {
			return float64(e.Windows) * float64(e.Window.Requests)
		}
		return a.count(from, from+int64(e.Windows)*int64(e.Window.Duration))
	}
	if a.ramp != nil {
		return a.held(n, inNs(hold.most), math.MaxInt64)
	}
	if e, ok := n.Stage.Extent.(scenario.For); ok && e.Span.Duration > 0 {
		return a.count(from, from+int64(e.Span.Duration))
	}
	return a.count(from, -1)
}

// held is how many requests are due in the holds of a ramp that lasts until end (ns), most of all that it sends.
func (a dues) held(n *Node, end, most int64) float64 {
	spans := holds(phasesOf(n))
	if spans == nil {
		spans = []measure.Span{{From: 0, To: math.MaxInt64}} // without a hold everything counts
	}
	return a.within(n, spans, end, most)
}

// within is how many of the first most requests are due in spans, ns after the warm-up, and before end.
func (a dues) within(n *Node, spans []measure.Span, end, most int64) float64 {
	warm, total := int64(n.Stage.Warmup.Duration), int64(0)
	early := int64(a.count(0, warm))
	for _, span := range spans {
		s := a.even()
		if most < math.MaxInt64-early {
			s = load.Limit(s, most+early)
		}
		total += load.Count(s, warm+span.From, warm+min(span.To, end, math.MaxInt64-warm))
	}
	return float64(total)
}

// inFlight is how many requests are open at the same time, at most; -1: an earlier result decides.
func inFlight(n *Node) int {
	if pool, open := scenario.Open(n.Stage.Load); open {
		if q := n.Sequences; q != nil && !q.Begin {
			return q.Live * n.AtOnce(pool.MaxInFlight)
		}
		return pool.MaxInFlight
	}
	most := n.Level.Value
	switch q := quantity(n.Stage).(type) {
	case scenario.Ramp:
		for _, s := range q.Steps {
			most = max(most, s.To.Value)
		}
	case scenario.Search:
		most = q.To.Value
	case scenario.Periodic:
		most = float64(q.To)
	}
	if len(amountsOf(n.Stage, n.Level)) > 0 {
		return -1
	}
	return int(most)
}

// formula is how the load of a node comes from earlier results; "" where it does not.
func formula(n *Node) string {
	if all := amountsOf(n.Stage, n.Level); len(all) > 0 {
		return "${" + all[0].Expr.Text + "}"
	}
	return ""
}

// trialsOf is how many measurements a search makes, at least and at most: those that it would make for limits all over
// its range. 0: its bounds come from results.
func trialsOf(s scenario.Search, open bool) (least, most int) {
	if s.From.Expr != nil || s.To.Expr != nil {
		return 0, 0
	}
	search := load.Search{
		From: s.From.Value, To: s.To.Value, Precision: s.Precision, Amount: s.Amount, Confirm: s.Confirm, Whole: !open,
	}
	const limits = 64
	for i := range limits + 1 {
		limit := s.From.Value * math.Pow(s.To.Value/s.From.Value, float64(i)/limits)
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

// probesTo is how many measurements lead to one limit.
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

// MaxAttempts bounds how often a trial of a search is measured until it is valid.
const MaxAttempts = 3
