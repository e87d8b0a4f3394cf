package executor

import (
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
)

// books enters what the player knows into the sums of the node and of its parts. reported is the part of hold that they
// are about, ns since it began.
func (t *trial) books(total *measure.Total, reported measure.Span) {
	p, all := t.played, total.Aggregate
	if t.steer.accepted == nil && t.parts.Measured.Holds == nil {
		all.Books = measure.Books{Planned: p.Planned, DroppedPool: p.DroppedPool, DroppedStop: p.DroppedStop, Arrivals: p.Arrivals}
		if t.node.Open {
			all.Offered = max(t.span(total.To-total.From), 0)
		}
	} else {
		t.share(all, measure.Scope{Spans: t.parts.Measured.Holds, Entry: -1}, total.From, reported)
	}
	all.PeakInFlight = p.PeakInFlight
	for i, a := range total.Scopes {
		t.share(a, t.parts.Measured.Scopes[i], total.From, reported)
	}
}

// share enters into the sums of a part of what was played how many requests were due there, and how many of those were
// never sent. The player keeps one book for all; only where something was dropped is the schedule gone through once more.
func (t *trial) share(a *measure.Aggregate, s measure.Scope, begin int64, reported measure.Span) {
	a.Planned = a.Sent
	if t.played.DroppedPool+t.played.DroppedStop > 0 {
		a.Planned = max(a.Sent, t.plannedIn(s, begin, reported))
	}
	dropped := a.Planned - a.Sent
	if t.played.DroppedPool > 0 {
		a.DroppedPool = dropped
	} else {
		a.DroppedStop = dropped
	}
	if t.node.Open {
		a.Offered = a.Window
	}
	if t.played.Arrivals > 0 {
		a.Arrivals = -1
	}
}

// plannedIn is how many arrivals of the schedule were due in a part of what is reported; begin is the start of hold.
func (t *trial) plannedIn(s measure.Scope, begin int64, reported measure.Span) (n int64) {
	if t.course.arrivals == nil || t.course.sequences != nil {
		return 0 // a closed loop drops nothing; which sequence an arrival would have found nobody knows
	}
	schedule, source, turn := t.course.arrivals(), t.source(), feed.Turn{}
	for number := uint64(0); ; number++ {
		due, ok := schedule.Next()
		at := due + t.start - begin
		if !ok || at >= reported.To || t.course.limit > 0 && int64(number) >= t.played.WarmSent+t.played.Planned {
			return n
		}
		if at < max(reported.From, 0) || !s.Within(at) {
			continue
		}
		if s.Entry >= 0 && (!source.Next(0, number, &turn) || int(turn.Call.Entry) != s.Entry) {
			continue
		}
		n++
	}
}
