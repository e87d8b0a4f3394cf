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
	defer p.nextDue.Store(never)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer sharpTimer()()
	for p.next() {
	}
	p.drainBacklogs()
	if p.scheduleDone && !p.arrivalBegins() { // begun sequences are played to their end
		p.markExhausted()
	}
	p.closeSequences()
	p.Hash = uint64(p.hash)
}

// next plays one arrival. It returns false at the end.
func (p *pacer) next() bool {
	after, ok := p.schedule.Next()
	if !ok {
		p.scheduleDone = true
		return false
	}
	due := p.o.Start + after
	if due >= p.c.StopAt.Load() {
		return false
	}
	p.nextDue.Store(due)
	if !p.awaitDue(due) {
		p.countAbandoned(due)
		return false
	}
	if p.o.Sequences != nil {
		return p.playStep(due, after)
	}
	return p.playArrival(due, after)
}

// awaitDue returns at the due time, or at once if it has passed: a late pacer sends what is due
// back to back, and skips or moves nothing. It returns false if the player was halted or due is no
// longer before StopAt.
func (p *pacer) awaitDue(due int64) bool {
	for {
		behind := p.sendBacklogs()
		left := due - p.o.Clock.Now()
		switch {
		case p.halt.Load() || due >= p.c.StopAt.Load():
			return false
		case left <= 0:
			return true
		case left > int64(coarseSleep) && !behind:
			time.Sleep(min(time.Duration(left)-coarseSleep, scanPeriod))
		case left > p.spin+int64(time.Microsecond):
			threadSleep(min(left-p.spin, int64(maxThreadSleep)))
		}
	}
}

// playArrival sends an arrival that is due, or counts why not. It returns false if nothing more is
// to be sent.
func (p *pacer) playArrival(due, after int64) bool {
	a := arrival{n: p.o.Shard.Number(p.arrivals), due: due}
	if p.isWarmup(p.arrivals, due) {
		a.flags = backends.Warmup
	}
	p.arrivals++
	p.hash = p.hash.Add(after)
	hold := a.flags&backends.Warmup == 0
	if !p.src.Next(0, a.n, &p.turn) {
		p.scheduleDone = true
		return false
	}
	a.free = max(due, p.poolFreeAt)
	sl, free, queued := p.awaitSlot(a, hold)
	if queued {
		return p.countSent(hold)
	}
	if free != 0 {
		p.poolFreeAt = free
	} else if hold && due < p.poolFreeAt {
		p.WaitedPool++ // waited as long as the arrivals before it
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
		if p.arrivalBegins() {
			p.Arrivals++
		}
		if halted {
			p.DroppedStop++
		} else {
			p.DroppedPool++
			p.c.Dropped.Store(p.DroppedPool)
		}
	}
	if halted {
		p.countRemaining()
	}
	return !halted
}

func (p *pacer) send(sl *slot, a arrival, s *backends.Sample) {
	if p.options.Delay != nil {
		p.options.Delay(a.n)
	}
	p.c.beginRequest()
	p.take(sl, a, s, &p.turn)
	p.dispatch(sl)
}

// awaitSlot returns the slot of the turn's pool that has been idle longest. If none is idle, the
// arrival is queued if other pools may have idle slots. Otherwise, or with the maximum of requests
// in flight, the pacer waits, or drops the arrival if the pool is full and Drop is set. free is the
// time at which a slot of a full pool became idle, else 0. sl is nil if the arrival was queued or
// dropped, or the player halted.
//
// Only the wait for a full pool is the server's. While more lanes can be opened, the wait and the
// lateness are the client's own, and free stays 0.
func (p *pacer) awaitSlot(a arrival, hold bool) (sl *slot, free int64, queued bool) {
	g := &p.pools[p.turn.Pool]
	sl, capped := p.claimSlot(g)
	g.considerGrowth()
	full := capped || g.cannotGrow()
	if sl != nil || (p.options.Drop && full) {
		return sl, 0, false
	}
	if hold && full {
		p.WaitedPool++
		g.arrivalsWaited++
	}
	for !p.halt.Load() {
		p.pacerWaits.Store(true)
		if sl, capped = p.claimSlot(g); sl != nil {
			p.pacerWaits.Store(false)
			if full {
				free = p.o.Clock.Now()
			}
			return sl, free, false
		}
		if (!capped || g.backlog.nonEmpty()) && p.pushBacklog(g, a, full) {
			p.pacerWaits.Store(false)
			return nil, 0, true
		}
		p.sendBacklogs()
		<-p.slotFreed
	}
	p.pacerWaits.Store(false)
	return nil, 0, false
}

// claimSlot takes an idle slot unless other arrivals wait for one. capped reports that the maximum
// of requests in flight is reached; only the pacer adds to them.
func (p *pacer) claimSlot(g *pool) (sl *slot, capped bool) {
	if capped = p.c.InFlight.Load() >= p.maxInFlight; capped || g.backlog.nonEmpty() {
		return nil, capped
	}
	return p.popSlot(g), false
}

// countAbandoned counts the arrival at due and those after it that were due before the player was
// halted. A stop in the future leaves none.
func (p *pacer) countAbandoned(due int64) {
	if !p.halt.Load() {
		return
	}
	p.countStopped(due)
	p.countRemaining()
}

// countRemaining counts the arrivals of the schedule that are due by now.
func (p *pacer) countRemaining() {
	until := min(p.c.StopAt.Load(), p.o.Clock.Now())
	for {
		after, ok := p.schedule.Next()
		if !ok || p.o.Start+after >= until {
			return
		}
		p.countStopped(p.o.Start + after)
	}
}

// countStopped counts one arrival that was due before the halt and not sent.
func (p *pacer) countStopped(due int64) {
	hold := p.isMeasured(p.arrivals, due)
	p.arrivals++
	full := p.o.Limit > 0 && p.Sent+p.DroppedStop >= p.o.Limit
	if hold && !full && due < min(p.c.StopAt.Load(), p.o.Clock.Now()) {
		p.Planned++
		p.DroppedStop++
	}
}
