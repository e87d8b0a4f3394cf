package trial

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
)

// bookkeeper divides the player's counts of a trial among its parts.
type bookkeeper struct {
	*measured
	*running
	calls [][]*backends.Call
}

// enterBooks enters what the player knows into the sums of a node and of its parts.
func enterBooks(m *measured, r *running, calls [][]*backends.Call) {
	total, all, parts := &m.total, m.total.Aggregate, &r.in.Parts.Measured
	b := bookkeeper{measured: m, running: r, calls: calls}
	if m.end.accepted == nil && parts.Holds == nil {
		all.PlayerCounts = measure.PlayerCounts{
			Planned: m.played.Planned, DroppedPool: m.played.DroppedPool,
			DroppedLate: m.played.DroppedLate, DroppedMore: m.played.DroppedMore,
			DroppedStop: m.played.DroppedStop, Arrivals: m.played.Arrivals,
		}
		if r.plan.Open {
			all.Offered = max(offeredSpan(r.plan, m.played, total.To-total.From, m.end.early()), 0)
		}
	} else {
		b.share(all, measure.Scope{Spans: parts.Holds, Entry: -1})
	}
	all.PeakInFlight = m.played.PeakInFlight
	for i, a := range total.Scopes {
		scope := parts.Scopes[i]
		if scope.Steady {
			scope.Spans = []measure.Span{total.Steady}
		}
		b.share(a, scope)
	}
	for i := range total.Timelines {
		scope := measure.Scope{Spans: parts.Holds, Entry: -1}
		if k := parts.Timed[i].Scope; k >= 0 {
			scope = parts.Scopes[k]
		}
		b.shareParts(&total.Timelines[i], scope)
	}
}

// shareParts enters the requests that were due in each part of a scope's time, sent or not.
func (b *bookkeeper) shareParts(t *measure.Timeline, s measure.Scope) {
	if b.played.DroppedPool+b.played.DroppedStop > 0 {
		b.eachPlanned(s, func(at int64) {
			if a := t.Part(at); a != nil {
				a.Planned++
			}
		})
	}
	for _, a := range append(slices.Clip(t.Parts), t.Rest) {
		if a != nil {
			a.Planned = max(a.Planned, a.Sent)
			a.DroppedPool = a.Planned - a.Sent
		}
	}
}

// share enters the requests that were due in a part of the load, and those never sent, into its
// sums. The player counts them for all parts together; only if something was dropped, the schedule
// is replayed.
func (b *bookkeeper) share(a *measure.Aggregate, s measure.Scope) {
	a.Planned = a.Sent
	if b.played.DroppedPool+b.played.DroppedStop > 0 {
		a.Planned = max(a.Sent, b.plannedIn(s))
	}
	dropped := a.Planned - a.Sent
	if b.played.DroppedPool > 0 {
		a.DroppedPool = dropped
		a.DroppedLate = min(b.played.DroppedLate, dropped) // at most
		a.DroppedMore = b.played.DroppedMore
	} else {
		a.DroppedStop = dropped
	}
	if b.plan.Open {
		a.Offered = a.Window
	}
	if b.played.Arrivals > 0 {
		a.Arrivals = -1
	}
}

// plannedIn counts the arrivals of the schedule that were due in a part of what is reported.
func (b *bookkeeper) plannedIn(s measure.Scope) (n int64) {
	b.eachPlanned(s, func(int64) { n++ })
	return n
}

// eachPlanned calls do with the time of each of them, ns since hold began.
func (b *bookkeeper) eachPlanned(s measure.Scope, do func(at int64)) {
	if !b.plan.Open || b.plan.Sequences != nil {
		return // a closed loop drops nothing; which sequence an arrival would have found is unknown
	}
	schedule, turn := b.plan.Arrivals(), feed.Turn{}
	source, _ := newSource(b.in, b.plan, b.calls)
	for number := uint64(0); ; number++ {
		due, ok := schedule.Next()
		at := b.start + due - b.total.From // since hold began
		limited := b.plan.Limit > 0 && int64(number) >= b.played.WarmSent+b.played.Planned
		if !ok || at >= b.reported.To || limited {
			return
		}
		if at < max(b.reported.From, 0) || !s.Within(at) {
			continue
		}
		if s.Entry >= 0 && (!source.Next(0, number, &turn) || int(turn.Call.Entry) != s.Entry) {
			continue
		}
		do(at)
	}
}
