package drive

import (
	"slices"

	"github.com/sluice-bench/sluice/executor/load"
)

// queue is a schedule as someone else sees it than the pacer: what is due and not sent. It plays the schedule once more, as
// far as it is asked for.
type queue struct {
	o     *Options
	s     load.Schedule
	next  int64   // number of the arrival that s gives next, from 0
	hold  int64   // of those before it, how many are no warm-up
	ahead []int64 // run clock: due times of the latest arrivals before next that were not sent when it was last asked
	kind  func(n uint64) int
	kinds []int // of ahead, by kind; nil where it is not known
}

// before is how many arrivals are due before due, but for the first sent ones; of one entry of the mix, or -1: of all. Where
// kinds are not known there are none of an entry.
func (q *queue) before(due, sent int64, entry int) int64 {
	q.play(due, sent)
	n, _ := slices.BinarySearch(q.ahead, due)
	if entry < 0 {
		return int64(n)
	}
	of := int64(0)
	for _, kind := range q.kinds[:min(n, len(q.kinds))] {
		if kind == entry {
			of++
		}
	}
	return of
}

// play plays the schedule up to due, and forgets what has been sent.
func (q *queue) play(due, sent int64) {
	if gone := sent - (q.next - int64(len(q.ahead))); gone > 0 {
		n := int(min(gone, int64(len(q.ahead))))
		q.ahead, q.kinds = slices.Delete(q.ahead, 0, n), slices.Delete(q.kinds, 0, min(n, len(q.kinds)))
	}
	for len(q.ahead) == 0 || q.ahead[len(q.ahead)-1] < due {
		if !q.walk(sent) {
			return
		}
	}
}

// walk plays one arrival. False: there is none, or it is beyond Limit.
func (q *queue) walk(sent int64) bool {
	if q.o.Limit > 0 && q.hold >= q.o.Limit {
		return false
	}
	after, ok := q.s.Next()
	if !ok {
		return false
	}
	due := q.o.Start + after
	if due >= q.o.WarmUntil && q.next >= q.o.WarmCount {
		q.hold++
	}
	if q.next++; q.next > sent {
		q.ahead = append(q.ahead, due)
		if q.kind != nil {
			q.kinds = append(q.kinds, q.kind(q.o.Shard.Number(uint64(q.next-1))))
		}
	}
	return true
}
