package executor

import (
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
)

// share enters into the sums of a part of a node what the player knows of it: how many requests were due there, and how many
// of those were never sent. The player keeps one book for all; only where something was dropped is the schedule gone
// through once more.
func (t *trial) share(a *measure.Aggregate, s measure.Scope, total *measure.Total) {
	a.Planned = a.Sent
	if t.played.DroppedPool+t.played.DroppedStop > 0 {
		a.Planned = max(a.Sent, t.plannedIn(s, total))
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
}

// plannedIn is how many arrivals of the schedule were due in a part of hold.
func (t *trial) plannedIn(s measure.Scope, total *measure.Total) (n int64) {
	if t.course.arrivals == nil {
		return 0 // a closed loop drops nothing
	}
	schedule, source, turn := t.course.arrivals(), t.source(), feed.Turn{}
	for number := uint64(0); ; number++ {
		due, ok := schedule.Next()
		at := due + t.start - total.From
		if !ok || at >= total.To-total.From || t.course.limit > 0 && int64(number) >= t.played.WarmSent+t.played.Planned {
			return n
		}
		if at < 0 || !s.Within(at) {
			continue
		}
		if s.Entry >= 0 && (!source.Next(0, number, &turn) || int(turn.Call.Entry) != s.Entry) {
			continue
		}
		n++
	}
}
