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
}

// before is how many arrivals are due before due, but for the first sent ones.
func (q *queue) before(due, sent int64) int64 {
	if gone := sent - (q.next - int64(len(q.ahead))); gone > 0 {
		q.ahead = slices.Delete(q.ahead, 0, int(min(gone, int64(len(q.ahead)))))
	}
	for len(q.ahead) == 0 || q.ahead[len(q.ahead)-1] < due {
		if !q.walk(sent) {
			break
		}
	}
	n, _ := slices.BinarySearch(q.ahead, due)
	return int64(n)
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
	}
	return true
}
