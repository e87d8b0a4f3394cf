package executor

import (
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
	if !t.node.Open {
		return 0
	}
	schedule := t.course.arrivals()
	for {
		due, ok := schedule.Next()
		at := due + t.start - total.From
		if !ok || at >= total.To-total.From {
			return n
		}
		if at >= 0 && s.Within(at) {
			n++
		}
	}
}
