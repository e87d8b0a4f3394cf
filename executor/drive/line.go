package drive

import (
	"runtime"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// line is a lane with the slots whose requests it carries: one, or as many as its depth, which then share it.
//
// A lane takes one Send and one Recv at a time. Slots that share one keep to that without waiting for each other:
//
//	sends      who has a request puts it into the queue; who finds nobody sending there sends all that the queue holds. So
//	           requests go out in the order in which they were queued, nobody waits, and a Send never blocks (backends.Lane)
//	receives   one goroutine, the reader, that gives each reply to its slot's own; or, where the lane keeps the reader's processor
//	           (backends.Limits.BlocksThread), does itself what follows
type line struct {
	lane  backends.Lane
	slots []*slot // by place
	shut  bool    // the lane is closed; of the supervisor

	// Of a line with several slots.
	queue  *ring
	turns  atomic.Int64     // slots in queue, with the one that is being sent
	closed atomic.Bool      // what is sent now is answered after the lane's end
	late   chan struct{}    // a token: something was sent on a closed lane
	over   chan struct{}    // closed: nobody reads any more
	goOn   func(*slot) bool // does what follows a reply, unless it would have to wait; nil: the slot's own goroutine does
}

// newLine puts a lane before the slots that are to share it; one slot has it to itself.
func newLine(lane backends.Lane, slots ...*slot) *line {
	l := &line{lane: lane, slots: slots}
	if len(slots) > 1 {
		l.queue, l.late, l.over = newRing(len(slots)), make(chan struct{}, 1), make(chan struct{})
	}
	return l
}

// shared reports whether several slots have the lane.
func (l *line) shared() bool { return l.queue != nil }

// send queues a slot's request, and sends what is queued unless another does so.
func (l *line) send(sl *slot) {
	l.queue.push(sl)
	if l.turns.Add(1) > 1 {
		return
	}
	for more := true; more; more = l.turns.Add(-1) > 0 {
		next := l.queue.pop()
		for next == nil { // another is just putting it there
			runtime.Gosched()
			next = l.queue.pop()
		}
		l.lane.Send(next.place, next.call, next.fields, next.sample)
		if l.closed.Load() {
			select {
			case l.late <- struct{}{}:
			default:
			}
		}
	}
}

// read gives what comes to the slots, until the lane has ended and the player has finished: until then something may still be
// sent on the lane, and wants its answer.
func (l *line) read(p *player) {
	defer close(l.over)
	for {
		at, done := l.lane.Recv()
		switch {
		case at == backends.None && !done:
			select {
			case <-l.late:
			case <-p.finished:
				return
			case <-p.broken: // what is queued may have lost its sender
				return
			}
		case at == backends.None:
			p.strays.Add(1)
		case !done:
			l.slots[at].part()
		case l.goOn == nil || !l.goOn(l.slots[at]):
			l.slots[at].answer <- struct{}{} // has room: one request has one
		}
	}
}

// closing reports whether a request that closes a sequence is under way.
func (l *line) closing() bool {
	for _, sl := range l.slots {
		if sl.closing.Load() && sl.due.Load() != never {
			return true
		}
	}
	return false
}

// close ends the lane, once. Of the supervisor.
func (l *line) close() {
	if !l.shut {
		l.shut = true
		l.closed.Store(true)
		_ = l.lane.Close() // what it could report concerns no request: those have samples
	}
}
