package drive

import (
	"cmp"
	"slices"

	"github.com/sluice-bench/sluice/executor/load"
)

// dueCounter counts arrivals that are due and not sent. It replays the schedule as far as it is
// asked for, independently of the pacer.
type dueCounter struct {
	o        *Options
	schedule load.Schedule
	next     int64           // number of the arrival that schedule returns next, from 0
	measured int64           // arrivals before next that are not warm-up
	unsent   []unsentArrival // before next, not sent at the last call
	entryOf  func(n uint64) int
}

type unsentArrival struct {
	due   int64 // on the run clock
	entry int   // of the mix; -1: unknown
}

// before counts the arrivals due before due, except the first sent ones; of one entry of the mix
// or, with -1, of all. It returns 0 for an entry if entries are unknown.
func (q *dueCounter) before(due, sent int64, entry int) int64 {
	q.advance(due, sent)
	n, _ := slices.BinarySearchFunc(q.unsent, due,
		func(a unsentArrival, due int64) int { return cmp.Compare(a.due, due) })
	if entry < 0 {
		return int64(n)
	}
	of := int64(0)
	for _, a := range q.unsent[:n] {
		if a.entry == entry {
			of++
		}
	}
	return of
}

// advance replays the schedule up to due and drops what has been sent.
func (q *dueCounter) advance(due, sent int64) {
	if gone := sent - (q.next - int64(len(q.unsent))); gone > 0 {
		q.unsent = slices.Delete(q.unsent, 0, int(min(gone, int64(len(q.unsent)))))
	}
	for len(q.unsent) == 0 || q.unsent[len(q.unsent)-1].due < due {
		if !q.advanceOne(sent) {
			return
		}
	}
}

// advanceOne replays one arrival. It returns false at the end of the schedule or of Limit.
func (q *dueCounter) advanceOne(sent int64) bool {
	if q.o.Limit > 0 && q.measured >= q.o.Limit {
		return false
	}
	after, ok := q.schedule.Next()
	if !ok {
		return false
	}
	due := q.o.Start + after
	if due >= q.o.WarmUntil && q.next >= q.o.WarmCount {
		q.measured++
	}
	if q.next++; q.next > sent {
		a := unsentArrival{due, -1}
		if q.entryOf != nil {
			a.entry = q.entryOf(q.o.Shard.Number(uint64(q.next - 1)))
		}
		q.unsent = append(q.unsent, a)
	}
	return true
}
