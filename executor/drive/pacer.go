package drive

import (
	"runtime"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// The pacer waits for a due time in three steps. The runtime's sleep is 1 ms coarse, so it ends
// coarseSleep early; a sleep of the thread ends about 30 µs late, so the rest is a busy wait.
const (
	coarseSleep    = 2 * time.Millisecond
	maxThreadSleep = 500 * time.Microsecond // a stop is noticed within this time
	maxSpin        = 80 * time.Microsecond
	bufferRetry    = 100 * time.Microsecond // between attempts to get an empty sample buffer
)

// pacer sends each arrival when it is due, in one goroutine locked to a thread. It sends itself if
// the lane takes the request without blocking; handing over to the lane's goroutine would cost the
// wake-up of a thread, 16 to 50 µs.
type pacer struct {
	*open
	schedule load.Schedule
	turn     feed.Turn
	hash     load.Hash
	arrivals uint64 // number played
	spin     int64
	retired  int // slots that begin no more sequences
	// poolFreeAt is the end of the latest wait for a full pool. An arrival due before it could not
	// be sent before it, even if a slot was idle at its turn.
	poolFreeAt   int64
	runnable     *ring[sequence] // those with an idle slot that may be able to send, in turn
	scheduleDone bool            // the schedule, the feed or Limit is exhausted
	Played
}

func (p *pacer) run() {
	defer p.senderDone()
	defer p.nextDue.Store(never) // after a panic too
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer sharpTimer()()
	for p.next() {
	}
	p.nextDue.Store(never)
	for p.sendBacklogs() && !p.halt.Load() {
		threadSleep(int64(maxThreadSleep))
	}
	if p.scheduleDone && !p.arrivalBegins { // begun sequences are played to their end
		p.markExhausted()
	}
	p.closeSequences()
	p.boundDrops()
	p.Hash = uint64(p.hash)
}

// next plays one arrival. It returns false at the end.
func (p *pacer) next() bool {
	due := p.nextArrival()
	if due == never {
		p.scheduleDone = true
		return false
	}
	if due >= p.c.StopAt.Load() {
		return false
	}
	p.nextDue.Store(due)
	if !p.awaitDue(due) {
		if p.halt.Load() { // a stop in the future leaves nothing that was due
			p.countRemaining(due)
		}
		return false
	}
	p.hash = p.hash.Add(due - p.o.Start)
	if p.o.Sequences != nil {
		return p.playStep(due)
	}
	return p.playArrival(due)
}

// nextArrival returns the due time of the schedule's next arrival, never at its end.
func (p *pacer) nextArrival() int64 {
	after, ok := p.schedule.Next()
	if !ok {
		return never
	}
	return p.o.Start + after
}

// awaitDue returns at the due time, or at once if it has passed: a late pacer sends what is due
// back to back, and skips or moves nothing. It returns false if the player was halted or due is no
// longer before StopAt.
func (p *pacer) awaitDue(due int64) bool {
	for {
		behind := p.sendBacklogs()
		left := due - p.now()
		switch {
		case p.halt.Load() || due >= p.c.StopAt.Load():
			return false
		case left <= 0:
			return true
		}
		if !behind {
			p.noteIdle()
		}
		switch {
		case left > int64(coarseSleep) && !behind:
			time.Sleep(min(time.Duration(left)-coarseSleep, scanPeriod))
		case left > p.spin+int64(time.Microsecond):
			threadSleep(min(left-p.spin, int64(maxThreadSleep)))
		}
	}
}

// noteDrop counts a dropped arrival that may have found room if the client had been on time.
func (p *pacer) noteDrop() {
	log := p.o.Late
	if log == nil {
		return
	}
	if log.Dropped(p.o.Clock.Now() - p.nextDue.Load()) {
		p.DroppedLate = min(p.DroppedLate+1, log.MaxDropped())
		p.c.DroppedLate.Store(p.DroppedLate)
	}
	p.boundDrops()
}

// boundDrops sets by how many the drops may differ from those of a client on time.
func (p *pacer) boundDrops() {
	if p.o.Late != nil && p.DroppedPool > 0 {
		p.DroppedMore = p.o.Late.MaxDropped()
		p.c.DroppedMore.Store(p.DroppedMore)
	}
}

// playArrival sends an arrival that is due, or counts why not. It returns false if nothing more is
// to be sent.
func (p *pacer) playArrival(due int64) bool {
	a := arrival{n: p.o.Shard.Number(p.arrivals), due: due}
	if p.isWarmup(p.arrivals, due) {
		a.flags = backends.Warmup
	}
	p.arrivals++
	hold := a.flags&backends.Warmup == 0
	if !p.src.Next(0, a.n, &p.turn) {
		p.scheduleDone = true
		return false
	}
	a.free = max(due, p.poolFreeAt)
	sl, queued := p.awaitSlot(a, hold)
	if queued {
		return p.countSent(hold)
	}
	a.free = max(due, p.poolFreeAt)
	if sl != nil && p.halt.Load() { // it may be idle only because its request was cancelled
		sl.pool.idle.push(sl)
		sl = nil
	}
	if sl == nil {
		return p.countUnsent(hold)
	}
	s := p.emptySample(sl, bufferRetry)
	if s == nil {
		sl.pool.idle.push(sl)
		return p.countUnsent(hold)
	}
	p.send(sl, a, s)
	return p.countSent(hold)
}

// countSent counts an arrival that is sent or queued. It returns false after the last.
func (p *pacer) countSent(hold bool) bool {
	if hold {
		p.Planned++
		p.Sent++
	} else {
		p.WarmSent++
	}
	p.scheduleDone = p.o.Limit > 0 && p.Sent >= p.o.Limit
	return !p.scheduleDone
}

// countUnsent counts an arrival that got no slot. It returns false if the player was halted.
func (p *pacer) countUnsent(hold bool) bool {
	halted := p.halt.Load()
	if hold {
		p.Planned++
		if p.arrivalBegins {
			p.Arrivals++
		}
		if halted {
			p.DroppedStop++
		} else {
			p.DroppedPool++
			p.c.Dropped.Store(p.DroppedPool)
			p.noteDrop()
		}
	}
	if halted {
		p.countRemaining(p.nextArrival())
	}
	return !halted
}

func (p *pacer) send(sl *slot, a arrival, s *backends.Sample) {
	if p.o.Delay != nil {
		p.o.Delay(a.n)
	}
	p.c.beginRequest()
	p.take(sl, a, s, &p.turn)
	p.dispatch(sl)
}

// awaitSlot returns the slot of the turn's pool that has been idle longest. If none is idle, the
// arrival is queued if other pools may have idle slots. Otherwise, or with the maximum of requests
// in flight, the pacer waits, or drops the arrival if the pool is full and Drop is set. sl is nil if
// the arrival was queued or dropped, or the player halted. Once a slot has no sequence left, arrivals
// that find none idle do not wait: the remaining sequences cannot keep up the rate.
//
// Only the wait for a full pool is the server's, and sets poolFreeAt. While more lanes can be opened,
// the wait and the lateness are the client's own.
func (p *pacer) awaitSlot(a arrival, hold bool) (sl *slot, queued bool) {
	g := &p.pools[p.turn.Pool]
	sl, capped := p.claimSlot(g)
	if p.retired == 0 {
		g.considerGrowth()
	}
	full := capped || g.cannotGrow()
	waits := sl == nil
	if waits && hold && full {
		p.poolFull.Store(true)
		defer p.poolFull.Store(false)
		p.noteHeld()
	}
	if waits && (p.options.Drop && full || p.retired > 0) {
		return nil, false
	}
	if waits && hold && full {
		p.WaitedPool++
		g.arrivalsWaited++
	}
	for sl == nil && !p.halt.Load() {
		p.pacerWaits.Store(true)
		if sl, capped = p.claimSlot(g); sl != nil {
			break
		}
		if queued = (!capped || g.backlog.nonEmpty()) && p.pushBacklog(g, a, full); queued {
			break
		}
		p.sendBacklogs()
		<-p.slotFreed
	}
	if waits {
		p.pacerWaits.Store(false)
	}
	switch {
	case sl == nil:
	case waits && full:
		p.poolFreeAt = p.now()
	case hold && a.due < p.poolFreeAt:
		p.WaitedPool++ // waited as long as the arrivals before it
	}
	return sl, queued
}

// claimSlot takes an idle slot unless other arrivals wait for one. capped reports that the maximum
// of requests in flight is reached; only the pacer adds to them.
func (p *pacer) claimSlot(g *pool) (sl *slot, capped bool) {
	if capped = p.c.InFlight.Load() >= p.maxInFlight; capped || g.backlog.nonEmpty() {
		return nil, capped
	}
	return p.popSlot(g), false
}

// countRemaining counts the arrivals of the schedule, from the one at due on, that were due before the
// halt and not sent.
func (p *pacer) countRemaining(due int64) {
	for until := min(p.c.StopAt.Load(), p.now()); due < until; due = p.nextArrival() {
		full := p.o.Limit > 0 && p.Sent+p.DroppedStop >= p.o.Limit
		if p.isMeasured(p.arrivals, due) && !full {
			p.Planned++
			p.DroppedStop++
		}
		p.arrivals++
	}
}
