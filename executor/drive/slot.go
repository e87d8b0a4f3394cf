package drive

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// never is the due time of nothing.
const never = math.MaxInt64

// slot is a place on a lane and the request in flight there. Whoever picks the arrival (pacer or
// the slot's goroutine) fills it with take; the slot's goroutine empties it with player.finish.
type slot struct {
	mux      *mux
	laneSlot int // place on the lane
	index    int // among all slots, as Handoff counts
	pool     *pool
	// due is the due time of the request in flight, else never. gen is stored before due: a reader
	// that sees the same due before and after reading gen has a consistent pair. Loading due after
	// Recv makes the writes of take visible.
	due   atomic.Int64
	gen   atomic.Uint32
	entry atomic.Int32 // Call.Entry of the request in flight, stored like gen
	// floor is a lower bound of the due times that this slot still has to Put.
	floor  atomic.Int64
	sample *backends.Sample
	call   *backends.Call
	fields backends.Fields
	// wake starts the slot's goroutine: in an open loop to Send the request that take stored, in a
	// closed loop when the profile opens the slot again. It holds one token.
	wake          chan struct{}
	awaitsProfile atomic.Bool // closed loop: waits for the profile
	// Large calls of an open loop, on a lane whose other calls the pacer sends.
	hasSender  bool          // the goroutine for them runs; used by the pacer
	handedOver bool          // the request in flight is a large call
	sendDone   chan struct{} // one token: its Send has returned
	replied    chan struct{} // shared lane: one token of the reader, the request in flight has ended
	// Sequences.
	seq       *sequence   // that its requests belong to; shared by the slots of the same index in all pools
	stepsLeft uint32      // requests of its sequence after the one in flight
	closing   atomic.Bool // the request in flight closes a sequence
	// sendReturned says that Send has returned: a reply can come before, and the receiving
	// goroutine may then want to send. Used only if receiverSends.
	sendReturned atomic.Bool
	turn         feed.Turn // used by the receiving goroutine
	pause        pause     // between turns of a session; the same
	// Options.Cancels: the time from the begin of its send until the request in flight is closed (0: never),
	// and that time on the run clock, stored as its send begins. gen is stored after cancelAt is never.
	cancelAfter int64
	cancelAt    atomic.Int64
	_           [64]byte
}

func (sl *slot) init(g *pool, at int) {
	sl.index, sl.pool = g.firstIndex+at, g
	sl.seq = &g.player.sequences[at/g.player.pipelineDepth]
	sl.due.Store(never)
	sl.floor.Store(never)
	sl.cancelAt.Store(never)
	sl.wake, sl.sendDone, sl.replied = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
}

// arrival is one request to be sent. Times are ns on the run clock.
type arrival struct {
	n         uint64
	due, free int64
	flags     backends.Flags
	queued    bool // it waited in a backlog, where Sent already counted it
}

// take makes the arrival the slot's request in flight.
func (p *player) take(sl *slot, a arrival, s *backends.Sample, t *feed.Turn) {
	gen := sl.gen.Load() + 1
	s.Due, s.Free, s.N, s.Flags = a.due, a.free, a.n, a.flags
	s.Row, s.Items, s.Entry = t.Call.Row, t.Call.Items, t.Call.Entry
	s.Lane, s.Slot, s.Gen = uint32(sl.index), uint16(sl.laneSlot), gen
	t.Fields.ID = p.o.IDBase | a.n
	s.ID = t.Fields.ID
	t.Fields.Region = uint32(sl.index - sl.pool.firstIndex)
	s.Region = t.Fields.Region
	sl.sample, sl.call, sl.fields = s, t.Call, t.Fields
	sl.handedOver = sl.pool.inline > 0 && t.Call.Size > sl.pool.inline
	sl.floor.Store(a.due)
	closing := a.flags&backends.Closing != 0
	if t.Fields.Sequence != 0 {
		sl.seq.stamp(s, t)
		sl.stepsLeft = t.Left
		sl.closing.Store(closing)
	}
	if sl.receiverSends() {
		sl.sendReturned.Store(false)
	}
	if p.o.Cancels {
		if sl.cancelAfter = t.CancelAfter; closing {
			sl.cancelAfter = 0
		}
		sl.cancelAt.Store(never)
	}
	if !closing && !a.queued {
		p.c.Sent.Add(1) // before due, so that the arrival is not counted both in flight and as to come
	}
	sl.gen.Store(gen)
	sl.entry.Store(int32(t.Call.Entry))
	sl.due.Store(a.due)
}

// send sends the slot's request.
func (sl *slot) send() {
	if o := sl.pool.player.o; o.Late != nil {
		now := o.Clock.Now()
		o.Late.Late(now, now-max(sl.sample.Due, sl.sample.Free))
	}
	if sl.mux.shared() {
		sl.mux.send(sl)
		return
	}
	relays := sl.receiverSends()
	sl.sendOnLane()
	if relays {
		sl.sendReturned.Store(true)
	}
}

// sendOnLane sends the slot's request; no other goroutine may be sending on the lane. The time until a
// planned cancellation counts from here: a Send may block, and the slot may be at its next request when
// it returns.
func (sl *slot) sendOnLane() {
	if sl.cancelAfter > 0 {
		sl.cancelAt.Store(sl.pool.player.now() + sl.cancelAfter)
	}
	sl.mux.lane.Send(sl.laneSlot, sl.call, sl.fields, sl.sample)
}

// receiverSends reports whether the goroutine that receives the reply to the slot's request may
// send the next one.
func (sl *slot) receiverSends() bool { return sl.fields.Sequence != 0 || sl.pool.backlog != nil }

// receive waits for the end of a request. It returns false at the end of the lane.
func (sl *slot) receive() bool {
	if sl.mux.shared() {
		return sl.awaitMux()
	}
	for {
		at, done := sl.mux.lane.Recv()
		switch {
		case at == backends.None && !done:
			return false
		case at == backends.None:
			sl.pool.player.strays.Add(1)
		case !done:
			sl.putEvents()
		case sl.due.Load() != never:
			return true
		}
	}
}

// awaitMux waits for the reader of the slot's mux. It returns false if that has ended without a
// reply.
func (sl *slot) awaitMux() bool {
	select {
	case <-sl.replied:
		return true
	case <-sl.mux.readerDone:
	}
	select {
	case <-sl.replied:
		return true
	default:
		return false
	}
}

// emptySample returns an empty sample, nil if the player was halted before there was one. It tries
// every retry, at most a few ms.
func (p *player) emptySample(sl *slot, retry time.Duration) *backends.Sample {
	s := p.out.Get(sl.index)
	if s != nil {
		return s
	}
	p.paused.Add(1)
	for s == nil && !p.halt.Load() {
		time.Sleep(retry)
		s = p.out.Get(sl.index)
	}
	return s
}

// putEvents hands off the events of an unfinished request. While the folder is behind, no more of
// the reply is read; after a halt the events are discarded.
func (sl *slot) putEvents() {
	p := sl.pool.player
	if p.onProgress != nil {
		p.onProgress(sl)
	}
	for paused := int64(1); !p.out.PutEvents(sl.index, sl.sample); paused = 0 {
		p.paused.Add(paused)
		if p.halt.Load() {
			sl.sample.Events = sl.sample.Events[:0]
			return
		}
		time.Sleep(coarseSleep)
	}
}

// finish hands the answered request's sample off. The slot's floor stays: the caller knows what
// comes next.
func (p *player) finish(sl *slot) {
	s := sl.sample
	sl.due.Store(never)
	sl.sample, sl.call = nil, nil
	p.out.Put(sl.index, s)
}

// endRequest counts the request out of flight and wakes the supervisor after the last.
func (p *player) endRequest() {
	if p.c.InFlight.Add(-1) == 0 && p.senders.Load() == 0 {
		p.notify()
	}
}

// cancelPlanned closes the slot's request if its time has come.
func (sl *slot) cancelPlanned(now int64) {
	gen := sl.gen.Load()
	if sl.cancelAt.Load() <= now && sl.due.Load() != never && sl.gen.Load() == gen {
		sl.mux.lane.Cancel(sl.laneSlot, gen, backends.CauseClosed)
	}
}

// cancelInactive cancels the slot's request if its last activity was before limit. While a slot has
// not sent its request, its lane still reports the activity of the one before.
func (sl *slot) cancelInactive(limit int64) {
	due := sl.due.Load()
	gen := sl.gen.Load()
	if at := sl.mux.lane.Activity(sl.laneSlot); due != never && at >= due && at < limit &&
		sl.due.Load() == due {
		sl.mux.lane.Cancel(sl.laneSlot, gen, backends.CauseInactivity)
	}
}

// cancel cancels the slot's request if it is due before limit.
func (sl *slot) cancel(limit int64, why backends.Cause) {
	due := sl.due.Load()
	if due >= limit {
		return
	}
	gen := sl.gen.Load()
	if sl.due.Load() == due {
		sl.mux.lane.Cancel(sl.laneSlot, gen, why)
	}
}
