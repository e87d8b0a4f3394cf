package drive

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// never stands for no due time.
const never = math.MaxInt64

// slot is a place on a lane with the request that is in flight there. Whoever picks the arrival (pacer or slot's goroutine)
// fills it by take; the slot's goroutine empties it by player.finish.
type slot struct {
	line  *line
	place int // on the lane
	index int // in the whole, as Handoff counts
	pool  *pool
	// due is that of the request in flight, else never. gen is stored before due: who sees the same due before and
	// after gen has a pair that belongs together. Loading due after Recv makes what take wrote visible.
	due   atomic.Int64
	gen   atomic.Uint32
	entry atomic.Int32 // Call.Entry of the request in flight, which goes with due like gen
	// floor is a lower bound of the due times that this slot still has to Put.
	floor  atomic.Int64
	sample *backends.Sample
	call   *backends.Call
	fields backends.Fields
	// wake starts the slot's goroutine: in the open loop to Send what take left here, in the closed loop when the
	// profile opens the slot again. One token is enough.
	wake   chan struct{}
	parked atomic.Bool // closed loop: waits for the profile
	// A large call of the open loop, on a lane whose other calls the pacer sends.
	sender bool          // the goroutine for them runs; of the pacer
	handed bool          // the request in flight is one
	sent   chan struct{} // its Send has returned
	answer chan struct{} // on a shared line: a token of its reader, the request in flight has ended
	// Of sequences.
	live    *sequence   // what its requests belong to: of the slots with its number in all pools
	left    uint32      // requests of its sequence after the one in flight
	closing atomic.Bool // the request in flight closes a sequence
	// returned says that its Send has: a reply can come before that, and the goroutine that receives may then want to send. Only
	// where it ever does.
	returned atomic.Bool
	turn     feed.Turn // of the goroutine that receives
	_        [64]byte
}

func (sl *slot) init(g *pool, at int) {
	sl.index, sl.pool = g.first+at, g
	sl.live = &g.player.lives[at/g.player.atOnce]
	sl.due.Store(never)
	sl.floor.Store(never)
	sl.wake, sl.sent, sl.answer = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
}

// arrival is one request to be sent.
type arrival struct {
	n         uint64
	due, free int64
	flags     backends.Flags
	parked    bool // it waited in a backlog: Sent counts it since then
}

// take makes the arrival the slot's request in flight.
func (p *player) take(sl *slot, a arrival, s *backends.Sample, t *feed.Turn) {
	gen := sl.gen.Load() + 1
	s.Reset()
	s.Due, s.Free, s.N, s.Flags = a.due, a.free, a.n, a.flags
	s.Row, s.Items, s.Entry = t.Call.Row, t.Call.Items, t.Call.Entry
	s.Lane, s.Slot, s.Gen = uint32(sl.index), uint16(sl.place), gen
	t.Fields.ID = p.o.IDBase | a.n
	s.ID = t.Fields.ID
	t.Fields.Region = uint32(sl.index - sl.pool.first)
	s.Region = t.Fields.Region
	sl.sample, sl.call, sl.fields = s, t.Call, t.Fields
	sl.handed = t.Call.Size > sl.pool.hand
	sl.floor.Store(a.due)
	closing := a.flags&backends.Closing != 0
	if t.Fields.Sequence != 0 {
		sl.live.enter(s, t)
		sl.left = t.Left
		sl.closing.Store(closing)
	}
	if sl.relays() {
		sl.returned.Store(false)
	}
	if !closing && !a.parked {
		p.c.Sent.Add(1) // before due, so that nobody sees the arrival in flight and among those to come
	}
	sl.gen.Store(gen)
	sl.entry.Store(int32(t.Call.Entry))
	sl.due.Store(a.due)
}

// send puts the slot's request on the wire.
func (sl *slot) send() {
	if sl.line.shared() {
		sl.line.send(sl)
		return
	}
	relays := sl.relays()
	sl.line.lane.Send(0, sl.call, sl.fields, sl.sample)
	if relays {
		sl.returned.Store(true)
	}
}

// relays reports whether the goroutine that receives the reply to the slot's request may send what comes next.
func (sl *slot) relays() bool { return sl.fields.Sequence != 0 || sl.pool.backlog != nil }

// receive waits for the end of a request and reports false at the end of the lane.
func (sl *slot) receive() bool {
	if sl.line.shared() {
		return sl.told()
	}
	for {
		at, done := sl.line.lane.Recv()
		switch {
		case at == backends.None && !done:
			return false
		case at == backends.None:
			sl.pool.player.strays.Add(1)
		case !done:
			sl.part()
		case sl.due.Load() != never:
			return true
		}
	}
}

// told waits for what the reader of the slot's line has to tell.
func (sl *slot) told() bool {
	select {
	case <-sl.answer:
		return true
	case <-sl.line.over:
	}
	select {
	case <-sl.answer:
		return true
	default:
		return false
	}
}

// part hands off the events of a request that goes on. While the folder is behind nothing more of it is read; once the
// player was halted they are of no use to anybody.
func (sl *slot) part() {
	p := sl.pool.player
	if p.onPart != nil {
		p.onPart(sl)
	}
	if p.out.Part(sl.index, sl.sample) {
		return
	}
	p.paused.Add(1)
	for !p.out.Part(sl.index, sl.sample) {
		if p.halt.Load() {
			sl.sample.Events = sl.sample.Events[:0]
			return
		}
		time.Sleep(coarse)
	}
}

// finish hands the answered request's sample off. The slot's floor stays: who calls knows what comes next.
func (p *player) finish(sl *slot) {
	s := sl.sample
	sl.due.Store(never)
	sl.sample, sl.call = nil, nil
	p.out.Put(sl.index, s)
}

// leave counts the request out of flight and lets the supervisor see the end.
func (p *player) leave() {
	if p.c.InFlight.Add(-1) == 0 && p.senders.Load() == 0 {
		p.notify()
	}
}

// silent ends the slot's request if it has been silent since before limit. A slot that has not sent its request yet still
// tells of the one before.
func (sl *slot) silent(limit int64) {
	due := sl.due.Load()
	gen := sl.gen.Load()
	if at := sl.line.lane.Activity(sl.place); due != never && at >= due && at < limit && sl.due.Load() == due {
		sl.line.lane.Cancel(sl.place, gen, backends.CauseInactivity)
	}
}

// cancel ends the slot's request if it is due before limit.
func (sl *slot) cancel(limit int64, why backends.Cause) {
	due := sl.due.Load()
	if due >= limit {
		return
	}
	gen := sl.gen.Load()
	if sl.due.Load() == due {
		sl.line.lane.Cancel(sl.place, gen, why)
	}
}
