package drive

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// mux carries the requests of its slots on one lane: one slot, or as many as the lane's depth,
// which share it.
//
// A lane takes one Send and one Recv at a time. Slots that share a lane keep to that without
// waiting for each other:
//
//	send      A sender puts its request into the queue; if no other goroutine is sending, it sends all that
//	          the queue holds. So requests go out in the order of the queue, senders do not wait, and a
//	          Send never blocks (backends.Lane).
//	receive   One goroutine, the reader, passes each reply to the goroutine of its slot; if the lane keeps
//	          the reader's processor (backends.Limits.BlocksThread), it does itself what follows the reply.
type mux struct {
	lane  backends.Lane
	slots []*slot // by laneSlot
	shut  bool    // the lane is closed; used by the supervisor

	// The fields below are used only with several slots.
	queue      *ring[slot]
	queued     atomic.Int64  // slots in queue, including the one being sent
	closed     atomic.Bool   // requests sent from now on are answered after the lane's end
	lateSend   chan struct{} // one token: something was sent on a closed lane
	readerDone chan struct{} // closed when the reader has ended
	// does what follows a reply and returns false if that would block; nil: the slot's goroutine
	// does
	onReply func(*slot) bool
}

// newMux returns the mux of a lane; a single slot owns the lane.
func newMux(lane backends.Lane, slots ...*slot) *mux {
	l := &mux{lane: lane, slots: slots}
	if len(slots) > 1 {
		l.queue = newRing[slot](len(slots))
		l.lateSend, l.readerDone = make(chan struct{}, 1), make(chan struct{})
	}
	return l
}

// shared reports whether several slots use the lane.
func (l *mux) shared() bool { return l.queue != nil }

// send queues a slot's request and sends all that is queued, unless another goroutine is doing so.
func (l *mux) send(sl *slot) {
	l.queue.push(sl)
	if l.queued.Add(1) > 1 {
		return
	}
	for more := true; more; more = l.queued.Add(-1) > 0 {
		next := l.queue.pop()
		for next == nil { // another goroutine is just pushing it
			runtime.Gosched()
			next = l.queue.pop()
		}
		next.sendOnLane()
		if l.closed.Load() {
			signal(l.lateSend)
		}
	}
}

// read passes replies to the slots until the lane has ended and the player has finished: until then
// something may still be sent on the lane and needs its answer.
func (l *mux) read(p *player) {
	defer close(l.readerDone)
	for {
		at, done := l.lane.Recv()
		switch {
		case at == backends.None && !done:
			select {
			case <-l.lateSend:
			case <-p.finished:
				return
			case <-p.panicked: // the goroutine that would send the queue may be gone
				return
			}
		case at == backends.None:
			p.strays.Add(1)
		case !done:
			l.slots[at].putEvents()
		case l.onReply == nil || !l.onReply(l.slots[at]):
			l.slots[at].replied <- struct{}{} // never blocks: a slot has one request
		}
	}
}

// mustClose reports whether no request on the lane has time left, since ns after the cancellation:
// one that closes a sequence has more.
func (l *mux) mustClose(since int64) bool {
	closes := func(sl *slot) bool { return sl.closing.Load() && sl.due.Load() != never }
	return since > int64(closeSequenceTime+stuckAfter) || !slices.ContainsFunc(l.slots, closes)
}

// close closes the lane, once. Called by the supervisor.
func (l *mux) close() {
	if !l.shut {
		l.shut = true
		l.closed.Store(true)
		_ = l.lane.Close() // errors concern no request: those are in samples
	}
}
