package drive

import (
	"math"
	"runtime"

	"github.com/sluice-bench/sluice/backends"
)

// isMeasured reports whether arrival k is measured, sent or not.
func (p *pacer) isMeasured(k uint64, due int64) bool {
	if q := p.o.Sequences; q != nil && (q.WarmCountsSequences || q.ArrivalBegins) && p.o.WarmCount > 0 {
		return p.c.HoldStart.Load() != 0 // WarmCount counts sequences or requests, not arrivals
	}
	return !p.isWarmup(k, due)
}

// playStep plays an arrival of a load of sequences. The slot comes first: it decides which sequence
// goes on. It returns false if nothing more is to be sent.
func (p *pacer) playStep(due int64) bool {
	k, hold := p.arrivals, p.isMeasured(p.arrivals, due)
	p.arrivals++
	for {
		p.turn.Pool = 0
		primary, _ := p.awaitSlot(arrival{due: due}, hold)
		switch {
		case primary == nil && p.retired > 0:
			return !p.halt.Load() // fewer sequences are left than the schedule assumes
		case primary == nil:
			return p.countUnsent(hold)
		}
		if p.halt.Load() { // it may be idle only because its request was cancelled
			p.pools[0].idle.push(primary)
			return p.countUnsent(hold)
		}
		if p.pipelineDepth > 1 && !primary.seq.claim() {
			primary.seq.idle = append(primary.seq.idle, primary)
			continue
		}
		if p.arrivalBegins {
			k = p.steps.Add(1) - 1
		}
		a := arrival{n: p.o.Shard.Number(k), due: due, free: max(due, p.poolFreeAt)}
		flags, ok := p.admit(primary, k, due)
		a.flags = flags
		if !ok && !p.o.Sequences.LimitCountsSequences {
			p.unclaimStep(primary)
			p.markExhausted()
			return false
		}
		if ok && p.src.Next(primary.seq.number, a.n, &p.turn) {
			return p.sendStep(primary, a)
		}
		if p.arrivalBegins {
			p.pools[0].idle.push(primary)
			return false
		}
		primary.seq.reset()
		primary.seq.retired = true
		if p.retired++; p.retired == p.sequenceSlots() {
			return false
		}
	}
}

// sequenceSlots returns the maximum of concurrent sequences.
func (p *pacer) sequenceSlots() int {
	return (int(p.pools[0].attached.Load()) + p.pipelineDepth - 1) / p.pipelineDepth
}

// sendStep sends the turn. It returns false after the last.
func (p *pacer) sendStep(primary *slot, a arrival) bool {
	sl := &p.pools[p.turn.Pool].slots[primary.index]
	hold := a.flags&backends.Warmup == 0
	s := p.emptySample(sl, bufferRetry)
	if s == nil {
		p.unclaimStep(primary)
		return p.countUnsent(hold)
	}
	if p.pipelineDepth > 1 && p.turn.Fields.Start {
		primary.seq.word.Add(uint64(p.turn.Left) * oneStep)
	}
	p.send(sl, a, s)
	switch {
	case !hold:
		p.WarmSent++
	case p.arrivalBegins:
		p.Arrivals++
		fallthrough
	default:
		p.Planned++
		p.Sent++
	}
	if p.o.Limit == 0 || p.limitCount.Load() < p.o.Limit {
		return true
	}
	if !p.o.Sequences.LimitCountsSequences {
		p.markExhausted()
		return false
	}
	return !p.arrivalBegins
}

// finishSequenceStep hands off the answered request of a sequence and plays what follows. Called by
// the receiving goroutine.
func (op *open) finishSequenceStep(primary, sl *slot) {
	op.awaitSendReturn(sl)
	switch {
	case sl.closing.Load():
		op.finishClosing(sl)
		return
	case op.pipelineDepth > 1:
		op.finishPipelined(sl)
		return
	}
	op.finishStep(sl, &sl.turn)
	for primary.seq.open && op.arrivalBegins && op.sendNextStep(primary, sl) {
		op.finishStep(sl, &sl.turn)
	}
}

// awaitSendReturn waits until the pacer has returned from the Send of the answered request: a lane
// takes one Send at a time.
func (op *open) awaitSendReturn(sl *slot) {
	for !sl.mux.shared() && !sl.sendReturned.Load() && !op.crashed() {
		runtime.Gosched() // it is about to return
	}
}

// sendNextStep sends the next step of a sequence that an arrival began, and waits for its reply. It
// returns false if the sequence does not go on. Called by the goroutine that received the step
// before.
func (op *open) sendNextStep(primary, sl *slot) bool {
	now := op.now()
	if op.o.Sequences.Sessions {
		now = op.awaitTurn(sl, now)
	}
	if op.halt.Load() || max(now, op.now()) >= op.c.StopAt.Load() || op.exhaustedAt.Load() != 0 {
		op.endOpenSequence(primary, &sl.turn)
		return false
	}
	k := op.steps.Add(1) - 1
	a := arrival{n: op.o.Shard.Number(k), due: now, free: now}
	var ok bool
	if a.flags, ok = op.admit(primary, k, now); !ok {
		op.markExhausted()
		op.endOpenSequence(primary, &sl.turn)
		return false
	}
	s := op.out.Get(sl.index)
	if s == nil {
		op.paused.Add(1)
		s = op.spareSample(sl)
	}
	if s == nil || !op.src.Next(primary.seq.number, a.n, &sl.turn) {
		op.endOpenSequence(primary, &sl.turn)
		return false
	}
	if a.flags&backends.Warmup != 0 {
		op.warmStepsSent.Add(1)
	} else {
		op.stepsSent.Add(1)
	}
	op.take(sl, a, s, &sl.turn)
	sl.handedOver = false
	sl.send()
	return sl.receive()
}

// awaitTurn waits until the next turn of a slot's session is due, or nothing more is to be sent, and
// returns the due time. Until then the session has nothing in flight.
func (op *open) awaitTurn(sl *slot, now int64) (due int64) {
	if due = sl.seq.endedAt + max(sl.seq.think, 0); sl.seq.nextDue > 0 {
		due = max(due, op.o.Start+sl.seq.nextDue)
	}
	if due <= now { // what making the turn took is send delay
		return due
	}
	sl.floor.Store(due)
	op.senders.Add(1)
	waits := op.maxInFlight == math.MaxInt64 // else another session could take its place meanwhile
	if waits {
		op.c.InFlight.Add(-1)
	}
	if op.pausing.Add(1); op.poolFull.Load() {
		op.noteHeld()
	}
	sl.pause.wait(due, op.now, op.stopping, op.stopsWaiting)
	op.pausing.Add(-1)
	if waits {
		op.c.beginRequest() // first, so that there is always a sender or a request
	}
	op.senders.Add(-1)
	return due
}

// stopsWaiting reports whether no turn that is due from now on is sent.
func (op *open) stopsWaiting(now int64) bool {
	return op.halt.Load() || op.exhaustedAt.Load() != 0 || now >= op.c.StopAt.Load()
}

// wakeSessions wakes the sessions that wait, once they are to send nothing more. Called by the supervisor.
func (op *open) wakeSessions(now int64) {
	if !op.sessionsWoken && op.stopsWaiting(now) {
		op.sessionsWoken = true
		close(op.stopping)
	}
}

// closeSequences ends the open sequences, each when its slot is idle.
func (p *pacer) closeSequences() {
	if p.o.Sequences == nil {
		return
	}
	slots := p.sequenceSlots()
	for left := slots - p.retired; left > 0; {
		primary := p.awaitIdle()
		if primary == nil {
			return
		}
		q := primary.seq
		if q.retired || q.number >= slots {
			continue
		}
		q.retired = true
		left--
		if p.pipelineDepth > 1 && !q.stop() {
			continue // the last to release it closes it
		}
		if q.open && p.src.Finish(q.number, &p.turn) {
			q.open = false
			sl := &p.pools[p.turn.Pool].slots[primary.index]
			if p.takeClosing(sl, &p.turn) {
				p.c.InFlight.Add(1)
				p.dispatch(sl) // the lane's goroutine receives the reply
			}
		}
	}
}

// awaitIdle waits for a slot to become idle, whatever the state of the player. It returns nil after
// a panic.
func (p *pacer) awaitIdle() *slot {
	g := &p.pools[0]
	for !p.crashed() {
		p.pacerWaits.Store(true)
		if sl := p.popSlot(g); sl != nil {
			p.pacerWaits.Store(false)
			return sl
		}
		<-p.slotFreed
	}
	return nil
}
