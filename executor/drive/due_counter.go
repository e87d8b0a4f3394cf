package drive

import (
	"slices"

	"github.com/sluice-bench/sluice/executor/load"
)

// dueCounter counts arrivals that are due and not sent. It replays the schedule as far as it is
// asked for, independently of the pacer.
type dueCounter struct {
	o        *Options
	schedule load.Schedule
	next     int64   // number of the arrival that schedule returns next, from 0
	measured int64   // arrivals before next that are not warm-up
	unsent   []int64 // on the run clock: due times before next that were not sent at the last call
	entryOf  func(n uint64) int
	entries  []int // entry of the mix of each of unsent; nil if unknown
}

// before counts the arrivals due before due, except the first sent ones; of one entry of the mix
// or, with -1, of all. It returns 0 for an entry if entries are unknown.
func (q *dueCounter) before(due, sent int64, entry int) int64 {
	q.advance(due, sent)
	n, _ := slices.BinarySearch(q.unsent, due)
	if entry < 0 {
		return int64(n)
	}
	of := int64(0)
	for _, kind := range q.entries[:min(n, len(q.entries))] {
		if kind == entry {
			of++
		}
	}
	return of
}

// advance replays the schedule up to due and drops what has been sent.
func (q *dueCounter) advance(due, sent int64) {
	if gone := sent - (q.next - int64(len(q.unsent))); gone > 0 {
		n := int(min(gone, int64(len(q.unsent))))
		q.unsent, q.entries = slices.Delete(q.unsent, 0, n),
			slices.Delete(q.entries, 0, min(n, len(q.entries)))
	}
	for len(q.unsent) == 0 || q.unsent[len(q.unsent)-1] < due {
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
		q.unsent = append(q.unsent, due)
		if q.entryOf != nil {
			q.entries = append(q.entries, q.entryOf(q.o.Shard.Number(uint64(q.next-1))))
		}
	}
	return true
}
