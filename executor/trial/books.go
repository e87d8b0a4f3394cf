package trial

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
)

// bookkeeper divides the player's counts of a trial among its parts.
type bookkeeper struct {
	*measured
	in    *Input
	plan  *program.Load
	calls [][]*backends.Call
}

// enterBooks enters what the player knows into the sums of a node and of its parts.
func enterBooks(m *measured, in *Input, p *program.Load, calls [][]*backends.Call) {
	total, all := &m.total, m.total.Aggregate
	b := bookkeeper{measured: m, in: in, plan: p, calls: calls}
	if m.end.accepted == nil && in.Parts.Measured.Holds == nil {
		all.PlayerCounts = measure.PlayerCounts{
			Planned: m.played.Planned, DroppedPool: m.played.DroppedPool, DroppedStop: m.played.DroppedStop,
			Arrivals: m.played.Arrivals,
		}
		if in.Node.Open {
			all.Offered = max(offeredSpan(p, m.played, total.To-total.From, m.end.early()), 0)
		}
	} else {
		b.share(all, measure.Scope{Spans: in.Parts.Measured.Holds, Entry: -1})
	}
	all.PeakInFlight = m.played.PeakInFlight
	for i, a := range total.Scopes {
		b.share(a, in.Parts.Measured.Scopes[i])
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
	} else {
		a.DroppedStop = dropped
	}
	if b.in.Node.Open {
		a.Offered = a.Window
	}
	if b.played.Arrivals > 0 {
		a.Arrivals = -1
	}
}

// plannedIn counts the arrivals of the schedule that were due in a part of what is reported.
func (b *bookkeeper) plannedIn(s measure.Scope) (n int64) {
	if !b.plan.Open || b.plan.Sequences != nil {
		return 0 // a closed loop drops nothing; which sequence an arrival would have found is unknown
	}
	schedule, turn := b.plan.Arrivals(), feed.Turn{}
	source, _ := newSource(b.in, b.plan, b.calls)
	for number := uint64(0); ; number++ {
		due, ok := schedule.Next()
		at := b.start + due - b.total.From // since hold began
		limited := b.plan.Limit > 0 && int64(number) >= b.played.WarmSent+b.played.Planned
		if !ok || at >= b.reported.To || limited {
			return n
		}
		if at < max(b.reported.From, 0) || !s.Within(at) {
			continue
		}
		if s.Entry >= 0 && (!source.Next(0, number, &turn) || int(turn.Call.Entry) != s.Entry) {
			continue
		}
		n++
	}
}
