package drive

import (
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// Sequences says how requests that belong together are played. A slot plays one sequence at a time, on one lane, and has
// one of its requests in flight, so that a server gets the steps in their order whatever its transport. Only where AtOnce
// says so has a sequence several slots on a lane that keeps the order of requests.
//
//	player                 who sends the next step
//	Closed                 the slot's worker, when the step before is answered
//	Open                   the pacer, at an arrival, on the slot that has been idle longest
//	Open, AtOnce           the same, be the steps before it answered or not
//	Open, Begin            the goroutine that received the step before; an arrival sends the first
//
// Whatever becomes of a sequence, what was begun on the server is ended there. What that takes is sent unmeasured
// (backends.Closing):
//
//	the last request was …                then
//	answered                              the sequence is over
//	sent, and nothing came back           the same request once more, without START
//
//	another request was …                 then
//	answered, though not as expected      the sequence goes on
//	failed, or stopped                    the steps to come are dropped; END
//	never sent, and it was the first      the steps to come are dropped
//	the last before a slot was closed,
//	or before the player ended            END
type Sequences struct {
	// CountsWarm and CountsLimit say that WarmCount, and Limit, are of sequences that begin, not of requests.
	CountsWarm, CountsLimit bool
	// Begin, of an open loop: an arrival begins a sequence, which then goes on by itself. Else an arrival is a step.
	Begin bool
	// AtOnce, of an open loop without Begin, is how many requests of a sequence may be in flight; 0, 1: one. It is one too
	// where a pool's lanes have less room.
	AtOnce int
}

// finishTime is how long the requests that close sequences may take when all others are cancelled, and in which they may be
// answered where others have less: a server that stands still for longer than their timeout is not left with what it has open.
const finishTime = 2 * time.Second

// closer is set in the number of a request that closes a sequence: none of the load's has it.
const closer = 1 << 39

// sequence is what a slot is in the middle of, or several together. Of whoever has the slot; of several see abreast.
type sequence struct {
	number  int    // by which the feed knows it
	open    bool   // begun on the server, as far as is known, and not ended
	begun   int64  // when its first request was due
	unit    uint64 // number of the sequence among those that began
	retired bool   // begins no more; of the pacer
	abreast
	_ [64]byte
}

// enter notes a request of the sequence in its sample.
func (q *sequence) enter(s *backends.Sample, t *feed.Turn) {
	s.Sequence = t.Fields.Sequence
	if t.Fields.Start {
		q.open, q.begun = true, s.Due
		s.Flags |= backends.SequenceStart
	}
	if t.Fields.End && s.Flags&backends.Closing == 0 {
		s.SequenceDue = q.begun
		s.Flags |= backends.SequenceEnd
	}
}

// tally is what is counted on several goroutines.
type tally struct {
	units    atomic.Uint64 // CountsWarm: sequences that began
	held     atomic.Int64  // what Limit counts
	closers  atomic.Uint64
	leftOpen atomic.Int64
	steps    atomic.Uint64 // Begin: requests
	sent     atomic.Int64  // Begin: steps of hold after the first of their sequences
	warmed   atomic.Int64
	paused   atomic.Int64
	strays   atomic.Int64 // replies that belong to no request
}

// home is the slot of the first pool that a slot belongs to.
func (p *player) home(sl *slot) *slot {
	if sl.pool.first == 0 {
		return sl
	}
	return &p.slots[sl.index-sl.pool.first]
}

// fate is what an answered request means for its sequence.
type fate uint8

const (
	goesOn fate = iota
	over
	broken   // END has to be sent
	unbegun  // nothing reached the server
	doubtful // END may have reached it
)

// undone reports whether steps of the sequence were left out.
func (f fate) undone() bool { return f == broken || f == unbegun }

func fateOf(s *backends.Sample, f *backends.Fields) fate {
	switch {
	case f.End && answered(s):
		return over
	case s.BytesSent == 0 && f.Start:
		return unbegun
	case f.End:
		return doubtful
	case s.Class == backends.OK || s.Class == backends.Mismatch:
		return goesOn
	}
	return broken
}

// answered reports whether the server has seen a request to its end: it said something about it.
func answered(s *backends.Sample) bool {
	switch s.Class {
	case backends.OK, backends.Status, backends.Decode, backends.Mismatch, backends.Server:
		return true
	default:
		return false
	}
}

// conclude hands an answered request off, and closes its sequence if it cannot go on. t has room for a turn.
func (p *player) conclude(sl *slot, src feed.Source, t *feed.Turn) {
	if sl.fields.Sequence == 0 {
		p.finish(sl)
		return
	}
	s, live := sl.sample, sl.live
	f := fateOf(s, &sl.fields)
	if f != goesOn && f != over && s.Class.Failed() {
		s.Dropped = sl.left
	}
	call, fields := sl.call, sl.fields
	p.finish(sl)
	switch f {
	case goesOn:
		return
	case over:
	case broken:
		if src.Finish(live.number, t) {
			p.end(sl, t)
		}
	case unbegun:
		src.Finish(live.number, t)
	case doubtful:
		t.Call, t.Fields, t.Left = call, backends.Fields{Sequence: fields.Sequence, End: true}, 0
		p.end(sl, t)
	}
	live.open = false
}

// closeOpen ends the sequence that is open on an idle slot. Not of a pacer, which must not wait for a reply.
func (p *player) closeOpen(home *slot, src feed.Source, t *feed.Turn) {
	if home.live.open && src.Finish(home.live.number, t) {
		sl := &p.pools[t.Pool].slots[home.index]
		if p.end(sl, t); sl != home {
			sl.floor.Store(never)
		}
	}
	home.live.open = false
}

// end sends what closes a sequence on an idle slot, and waits for what comes of it.
func (p *player) end(sl *slot, t *feed.Turn) {
	s := p.spare(sl)
	if s == nil {
		p.leftOpen.Add(1)
		return
	}
	p.take(sl, p.closing(sl), s, t)
	sl.handed = false // whoever ends it waits here
	sl.send()
	if !sl.receive() {
		p.leftOpen.Add(1)
		return
	}
	p.settled(sl)
}

// closing is the arrival of a request that closes a sequence on an idle slot, whose floor is first: a look at it after the clock
// was read would find nothing there that is due before that look.
func (p *player) closing(sl *slot) arrival {
	sl.floor.Store(p.o.Clock.Now())
	now := p.o.Clock.Now()
	return arrival{n: closer | p.closers.Add(1), due: now, free: now, flags: backends.Closing}
}

// settled hands off the answered request that was to close a sequence.
func (p *player) settled(sl *slot) {
	if !answered(sl.sample) {
		p.leftOpen.Add(1)
	}
	p.finish(sl)
	sl.closing.Store(false)
}

// spare is an empty sample, also when the player was halted; nil when there is none in good time.
func (p *player) spare(sl *slot) *backends.Sample {
	for until := p.o.Clock.Now() + int64(finishTime); p.o.Clock.Now() < until; time.Sleep(coarse) {
		if s := p.out.Get(sl.index); s != nil {
			return s
		}
	}
	return nil
}

// admit counts request k, which is about to be sent on a slot, or the sequence that it begins where those are counted. It gives the
// flags of the request, and false where nothing more is to begin.
func (p *player) admit(home *slot, k uint64, due int64) (flags backends.Flags, ok bool) {
	q, unit, counts := p.o.Sequences, k, true
	begins := q != nil && !home.live.open
	if q != nil && q.CountsWarm {
		if begins {
			home.live.unit = p.units.Add(1) - 1
		}
		unit = home.live.unit
	}
	if q != nil && q.CountsLimit {
		counts = begins
	}
	if p.warm(unit, due) {
		return backends.Warmup, true
	}
	if counts && p.o.Limit > 0 && p.held.Add(1) > p.o.Limit {
		return 0, false
	}
	return 0, true
}

// addTo enters what was counted here.
func (c *tally) addTo(p *Played) {
	p.Planned += c.sent.Load()
	p.Sent += c.sent.Load()
	p.WarmSent += c.warmed.Load()
	p.Paused += c.paused.Load()
	p.Strays = c.strays.Load()
	p.Closed, p.LeftOpen = int64(c.closers.Load()), c.leftOpen.Load()
}
