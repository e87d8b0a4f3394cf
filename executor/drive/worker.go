package drive

import (
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// dialPause is the wait of a slot after a failed connection, in ns. Without it a server that is
// gone gets tens of thousands of attempts a second, and the client drowns in its own failures; with
// it each slot still finds the server within 10 ms of its return. An open loop has its schedule.
const dialPause = int64(10 * time.Millisecond)

// worker plays one slot. The padding separates the counters of neighbours.
type worker struct {
	*closed
	// in the first pool: its floor is that of all pools' slots, and it is woken there
	primary *slot
	turn    feed.Turn
	pause   pause
	// its sequence could not go on: the steps that are left over may serve another
	sequenceBroke bool
	finished      bool // nothing follows the request that the mux's reader has ended
	// when the server completed the reply that the next request follows at once; 0: unknown
	repliedAt    int64
	endedAt      int64 // when the request before ended
	freeAt       int64 // when the slot could send again, with Options.Late
	sent, warmed int64
	_            [64]byte
}

func (w *worker) addTo(p *Played) {
	p.Sent += w.sent
	p.WarmSent += w.warmed
}

func (w *worker) run() {
	defer w.senderDone()
	defer w.pause.close()
	w.play()
	w.closeSequence()
	w.primary.floor.Store(never) // not after a panic: the mux's reader may still hand off what is in flight
}

func (w *worker) play() {
	for ready := w.awaitStart(); ; {
		due, ok := w.awaitAdmission(ready)
		if !ok {
			return
		}
		if sl := w.sendNext(due, nil); sl == nil || !w.awaitReply(sl) {
			return
		}
		if w.steps != nil {
			w.markServed(w.primary.index)
			return
		}
		ready = w.awaitTurn(due)
	}
}

// awaitTurn waits until the slot's next request is due, after the one that was due at due. It returns
// that time, which has passed where this client is late; 0: at once.
func (w *worker) awaitTurn(due int64) int64 {
	switch t := &w.turn; {
	case w.o.Every > 0:
		return w.thinkUntil(max(due+w.o.Every, w.endedAt))
	case t.Think <= 0:
		return 0
	default:
		return w.thinkUntil(w.endedAt + t.Think)
	}
}

// thinkUntil waits until a time and returns it.
func (w *worker) thinkUntil(until int64) int64 {
	if until > w.now() {
		w.think(until)
	}
	return until
}

// awaitStart sleeps in steps so that a stop is noticed. Slots with a pace of their own begin one after the
// other: it returns the time of this one's first request; 0: at once.
func (w *worker) awaitStart() int64 {
	for !w.halt.Load() {
		ahead := w.o.Start - w.now()
		if ahead <= 0 {
			break
		}
		time.Sleep(min(time.Duration(ahead), scanPeriod))
	}
	if w.o.Every == 0 {
		return 0
	}
	return w.thinkUntil(w.o.Start + w.o.Every/int64(w.slotCount)*int64(w.primary.index))
}

// awaitAdmission waits while the profile has no place for this slot. It returns the due time of the
// next request: ready (0: now) if there is a place at once, else the time at which there is one. It
// returns false at the end.
func (w *worker) awaitAdmission(ready int64) (due int64, ok bool) {
	for !w.halt.Load() && w.exhaustedAt.Load() == 0 &&
		(w.primary.seq.open || w.sequenceBroke || !w.beginsNoSequence.Load()) {
		now := w.now()
		due = now
		if ready != 0 {
			due = ready
		}
		if due >= w.c.StopAt.Load() {
			return 0, false
		}
		if w.primary.index < w.profile.Slots(now-w.o.Start) {
			return due, true
		}
		ready, w.repliedAt = 0, 0
		w.closeSequence()
		// A later due time is after the scan that reads never here.
		w.primary.floor.Store(never)
		w.primary.awaitsProfile.Store(true)
		<-w.primary.wake
		w.primary.awaitsProfile.Store(false)
		w.primary.floor.Store(w.now())
	}
	return 0, false
}

// sendNext sends a request with the sample s; with nil it gets one. From then on the worker belongs
// to the mux's reader, if there is one. It returns nil if nothing more is to be sent on this slot.
func (w *worker) sendNext(due int64, s *backends.Sample) *slot {
	k := w.nextNumber.Add(1) - 1
	a := arrival{n: w.o.Shard.Number(k), due: due, free: max(due, w.freeAt)}
	var ok bool
	if a.flags, ok = w.admit(w.primary, k, due); !ok {
		w.stopSending(w.o.Sequences != nil && w.o.Sequences.LimitCountsSequences)
		return nil
	}
	if !w.src.Next(w.primary.seq.number, a.n, &w.turn) {
		w.stopSending(w.o.Sequences != nil)
		return nil
	}
	if w.repliedAt != 0 {
		a.free, a.flags, w.repliedAt = w.repliedAt, a.flags|backends.Followed, 0
	}
	sl := &w.pools[w.turn.Pool].slots[w.primary.index]
	if s == nil {
		if s = w.emptySample(sl, coarseSleep); s == nil {
			return nil
		}
	}
	if w.o.Delay != nil {
		w.o.Delay(a.n)
	}
	w.c.beginRequest()
	if a.flags&backends.Warmup != 0 {
		w.warmed++
	} else {
		w.sent++
	}
	w.take(sl, a, s, &w.turn)
	if sl != w.primary {
		w.primary.floor.Store(due)
	}
	sl.send()
	return sl
}

// awaitReply waits for a request's reply and hands it off, unless the mux's reader does. It returns
// false if nothing more is to be sent on this slot.
func (w *worker) awaitReply(sl *slot) bool {
	switch answered := sl.receive(); {
	case answered && sl.mux.onReply != nil:
		return !w.finished
	case answered:
		w.finishReply(sl)
		return true
	}
	if sl != w.primary {
		sl.floor.Store(never)
	}
	w.endRequest()
	return false
}

// finishReply hands an answered request off.
func (w *worker) finishReply(sl *slot) {
	think := w.turn.Think
	w.endedAt = w.endOf(sl.sample)
	if class := sl.sample.Class; class == backends.Dial || class == backends.TLS {
		think = max(think, dialPause)
	}
	w.repliedAt = 0
	if sl.pool.InProcess && think == 0 && w.o.Every == 0 && sl.sample.Class == backends.OK {
		w.repliedAt = sl.sample.LastByte
	}
	outcome := w.finishStep(sl, &w.turn)
	if w.o.Late != nil {
		w.freeAt = w.now() // an END may have been sent, and waited for
	}
	w.sequenceBroke = outcome == needsEnd || outcome == neverBegan
	w.turn.Think = think
	if sl != w.primary {
		sl.floor.Store(never)
	}
	w.endRequest()
}

// sendFollowing does awaitReply and the next sendNext in the mux's reader. It returns false if the
// next request has to wait for something, or there is none; then the worker goes on from
// awaitReply.
func (w *worker) sendFollowing(sl *slot) bool {
	w.finishReply(sl)
	now := w.now()
	if w.turn.Think > 0 || w.o.Every > 0 || w.halt.Load() || w.exhaustedAt.Load() != 0 ||
		now >= w.c.StopAt.Load() || sl.index >= w.profile.Slots(now-w.o.Start) {
		return false
	}
	s := w.out.Get(sl.index)
	if s == nil {
		return false
	}
	w.finished = w.sendNext(now, s) == nil
	return !w.finished
}

// closeSequence ends the slot's open sequence when the slot sends nothing more, or nothing for a
// while.
func (w *worker) closeSequence() {
	if w.primary.seq.open {
		w.c.InFlight.Add(1)
		w.endOpenSequence(w.primary, &w.turn)
		w.endRequest()
	}
}

// think waits until the slot's next request is due, or nothing more is to be sent.
func (w *worker) think(until int64) {
	w.primary.floor.Store(until)
	w.noteIdle()
	w.pause.wait(until, w.now, w.primary.wake, func(now int64) bool {
		return w.halt.Load() || w.exhaustedAt.Load() != 0 || now >= w.c.StopAt.Load()
	})
}
