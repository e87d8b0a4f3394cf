package drive

import (
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// closeSequenceTime is the time that requests which close sequences have when all others are
// cancelled, and the least timeout that they have: a server that stalls for longer than a short
// timeout still gets the END of its open sequences.
const closeSequenceTime = 2 * time.Second

// closingNumber is set in the number of a request that closes a sequence; no other request has it.
const closingNumber = 1 << 39

// sequence is the sequence that a slot plays, or several slots together (see pipeline). It belongs
// to the goroutine that uses the slot.
type sequence struct {
	number  int    // that identifies it to the feed
	open    bool   // begun on the server, as far as is known, and not ended
	begunAt int64  // due time of its first request
	index   uint64 // number among the sequences that began
	retired bool   // begins no more; used by the pacer
	// Sessions: when the reply to its latest turn ended, and what its Turn says about the next one.
	endedAt, think, nextDue int64
	pipeline
	_ [64]byte
}

// stamp marks a request of the sequence in its sample.
func (q *sequence) stamp(s *backends.Sample, t *feed.Turn) {
	s.Sequence = t.Fields.Sequence
	if t.Text != nil {
		s.Text = t.Text
	}
	q.think, q.nextDue = t.Think, t.NextDue
	if t.Fields.Start {
		q.open, q.begunAt = true, s.Due
		s.Flags |= backends.SequenceStart
	}
	if t.Fields.End && !t.Cut && s.Flags&backends.Closing == 0 {
		s.SequenceDue = q.begunAt
		s.Flags |= backends.SequenceEnd
	}
}

// counters are the counts that several goroutines write.
type counters struct {
	sequencesBegun atomic.Uint64 // with WarmCountsSequences
	limitCount     atomic.Int64  // requests or sequences that Limit counts
	closingSent    atomic.Uint64
	leftOpen       atomic.Int64
	steps          atomic.Uint64 // with ArrivalBegins: requests
	stepsSent      atomic.Int64  // with ArrivalBegins: measured steps after the first of their sequence
	warmStepsSent  atomic.Int64
	paused         atomic.Int64
	strays         atomic.Int64 // replies that belong to no request
}

// primary returns the slot of the first pool that corresponds to a slot.
func (p *player) primary(sl *slot) *slot {
	return &p.slots[sl.index-sl.pool.firstIndex]
}

// stepOutcome says what an answered request means for its sequence.
type stepOutcome uint8

const (
	continues stepOutcome = iota
	ended
	needsEnd   // END must be sent
	neverBegan // nothing reached the server
	endUnknown // END may have reached it
)

func outcomeOf(s *backends.Sample, f *backends.Fields) stepOutcome {
	switch {
	case f.End && reachedServer(s):
		return ended
	case s.BytesSent == 0 && f.Start:
		return neverBegan
	case f.End:
		return endUnknown
	case s.Class == backends.OK || s.Class == backends.Mismatch:
		return continues
	}
	return needsEnd
}

// reachedServer reports whether the server has received the whole request: its reply says something
// about it.
func reachedServer(s *backends.Sample) bool {
	switch s.Class {
	case backends.OK, backends.Status, backends.Decode, backends.Mismatch, backends.Server:
		return true
	default:
		return false
	}
}

// endOf returns when a request ended that the caller has just received: with the last byte of a whole reply,
// else now, as the last byte of a reply that broke off may have come long before.
func (p *player) endOf(s *backends.Sample) int64 {
	if reachedServer(s) && s.LastByte != 0 {
		return s.LastByte
	}
	return p.now()
}

// turnOutcome is outcomeOf for a turn of a session, which is never closed on the server. What can be read
// from the reply is read here, as the sample changes hands next.
func (p *player) turnOutcome(sl *slot) stepOutcome {
	s := sl.sample
	sl.seq.endedAt = p.endOf(s)
	good := s.Class == backends.OK || s.Class == backends.Mismatch
	switch {
	case sl.fields.End:
		return ended
	case good && (p.o.Follow == nil || p.o.Follow(sl.seq.number, s)):
		return continues
	case s.Flags&backends.Incomplete == 0: // else nothing more would have been sent
		s.Dropped = sl.stepsLeft
	}
	return neverBegan
}

// finishStep hands an answered request off, and closes its sequence if that cannot go on. t is
// scratch space for a turn.
func (p *player) finishStep(sl *slot, t *feed.Turn) (f stepOutcome) {
	if sl.fields.Sequence == 0 {
		p.finish(sl)
		return continues
	}
	s, q := sl.sample, sl.seq
	if p.o.Sequences.Sessions {
		f = p.turnOutcome(sl)
	} else if f = outcomeOf(s, &sl.fields); f != continues && f != ended && s.Flags&backends.Incomplete == 0 {
		s.Dropped = sl.stepsLeft
	}
	call, fields := sl.call, sl.fields
	p.finish(sl)
	switch f {
	case continues:
		return f
	case ended:
	case needsEnd:
		if p.src.Finish(q.number, t) {
			p.sendEnd(sl, t)
		}
	case neverBegan:
		p.src.Finish(q.number, t)
	case endUnknown:
		t.Call, t.Fields, t.Left = call, backends.Fields{Sequence: fields.Sequence, End: true}, 0
		p.sendEnd(sl, t)
	}
	q.open = false
	return f
}

// endOpenSequence ends the sequence that is open on an idle slot. Not for a pacer, which must not
// wait for a reply.
func (p *player) endOpenSequence(primary *slot, t *feed.Turn) {
	if primary.seq.open && p.src.Finish(primary.seq.number, t) {
		sl := &p.pools[t.Pool].slots[primary.index]
		if p.sendEnd(sl, t); sl != primary {
			sl.floor.Store(never)
		}
	}
	primary.seq.open = false
}

// sendEnd sends the request that closes a sequence on an idle slot, and waits for its reply.
func (p *player) sendEnd(sl *slot, t *feed.Turn) {
	if !p.takeClosing(sl, t) {
		return
	}
	sl.handedOver = false // its reply is awaited here
	sl.send()
	if !sl.receive() {
		p.leftOpen.Add(1)
		return
	}
	p.finishClosing(sl)
}

// takeClosing makes the request that closes a sequence the one in flight of an idle slot. It sets the
// slot's floor before it reads the clock again: no scan in between may publish a bound later than
// the due time. It returns false, and leaves the sequence open, if there is no sample for it.
func (p *player) takeClosing(sl *slot, t *feed.Turn) bool {
	s := p.spareSample(sl)
	if s == nil {
		p.leftOpen.Add(1)
		return false
	}
	sl.floor.Store(p.now())
	now := p.now()
	n := closingNumber | p.closingSent.Add(1)
	p.take(sl, arrival{n: n, due: now, free: now, flags: backends.Closing}, s, t)
	return true
}

// finishClosing hands off the answered request that was to close a sequence.
func (p *player) finishClosing(sl *slot) {
	if !reachedServer(sl.sample) {
		p.leftOpen.Add(1)
	}
	p.finish(sl)
	sl.closing.Store(false)
}

// spareSample returns an empty sample even if the player was halted, nil after closeSequenceTime
// without one.
func (p *player) spareSample(sl *slot) *backends.Sample {
	for until := p.now() +
		int64(closeSequenceTime); p.now() < until; time.Sleep(coarseSleep) {
		if s := p.out.Get(sl.index); s != nil {
			return s
		}
	}
	return nil
}

// admit counts request k, which is about to be sent on a slot, or the sequence that it begins where
// sequences are counted. It returns the flags of the request, and false if nothing more is to
// begin.
func (p *player) admit(primary *slot, k uint64, due int64) (flags backends.Flags, ok bool) {
	q, unit, counts := p.o.Sequences, k, true
	begins := q != nil && !primary.seq.open
	if q != nil && q.WarmCountsSequences {
		if begins {
			primary.seq.index = p.sequencesBegun.Add(1) - 1
		}
		unit = primary.seq.index
	}
	if q != nil && q.LimitCountsSequences {
		counts = begins
	}
	if p.isWarmup(unit, due) {
		return backends.Warmup, true
	}
	if counts && p.o.Limit > 0 && p.limitCount.Add(1) > p.o.Limit {
		return 0, false
	}
	return 0, true
}

// addTo adds the counts to those of p.
func (c *counters) addTo(p *Played) {
	p.Planned += c.stepsSent.Load()
	p.Sent += c.stepsSent.Load()
	p.WarmSent += c.warmStepsSent.Load()
	p.Paused += c.paused.Load()
	p.Strays = c.strays.Load()
	p.Closed, p.LeftOpen = int64(c.closingSent.Load()), c.leftOpen.Load()
}
