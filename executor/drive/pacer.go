package drive

import (
	"runtime"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// How the pacer waits for a due time: the runtime's sleep is 1 ms coarse, so it ends coarse before; a nap on the
// thread's own timer ends some 30 µs late, so the rest is spun.
const (
	coarse  = 2 * time.Millisecond
	napMost = 500 * time.Microsecond // a stop is seen after at most this
	maxSpin = 80 * time.Microsecond
	retry   = 100 * time.Microsecond // between looks for an empty sample buffer
)

// pacer sends each arrival when it is due: one goroutine locked to one thread. It writes itself where the lane can take
// the request without blocking; handing over to the lane's goroutine would cost the wake of a thread, 16 to 50 µs.
type pacer struct {
	*open
	s       load.Schedule
	turn    feed.Turn
	hash    load.Hash
	k       uint64 // arrivals played
	spin    int64
	retired int // slots that begin no more sequences
	// poolFree is when the latest wait for a full pool ended. What was due before it could not be sent before it either,
	// though a slot was idle when its turn came.
	poolFree int64
	turns    turns
	done     bool // the schedule, the feed or Limit is exhausted
	Played
}

func (p *pacer) run() {
	defer p.ended()
	defer p.pending.Store(never)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer sharpTimer()()
	for p.next() {
	}
	p.settle()
	if p.done && !p.begins() { // sequences that were begun go on to their end
		p.exhausted()
	}
	p.closeSequences()
	p.Hash = uint64(p.hash)
}

// next plays one arrival. False: the end.
func (p *pacer) next() bool {
	after, ok := p.s.Next()
	if !ok {
		p.done = true
		return false
	}
	due := p.o.Start + after
	if due >= p.c.StopAt.Load() {
		return false
	}
	p.pending.Store(due)
	now, ok := p.wait(due)
	if !ok {
		p.abandon(due)
		return false
	}
	if p.o.Sequences != nil {
		return p.step(due, after, now)
	}
	return p.play(due, after, now)
}

// wait returns when due has come, at once when it has passed: a late pacer sends what is due back to back, and nothing
// is skipped or moved. It is false when the player was halted or due is no longer before StopAt.
func (p *pacer) wait(due int64) (now int64, ok bool) {
	for {
		behind := p.match()
		now = p.o.Clock.Now()
		left := due - now
		switch {
		case p.halt.Load() || due >= p.c.StopAt.Load():
			return now, false
		case left <= 0:
			return now, true
		case left > int64(coarse) && !behind:
			time.Sleep(min(time.Duration(left)-coarse, scanPeriod))
		case left > p.spin+int64(time.Microsecond):
			nap(min(left-p.spin, int64(napMost)))
		}
	}
}

// play sends an arrival that is due, or counts why not. False: nothing more is to be sent.
func (p *pacer) play(due, after, now int64) bool {
	a := arrival{n: p.o.Shard.Number(p.k), due: due}
	if p.warm(p.k, due) {
		a.flags = backends.Warmup
	}
	p.k++
	p.hash = p.hash.Add(after)
	hold := a.flags&backends.Warmup == 0
	if !p.src.Next(0, a.n, &p.turn) {
		p.done = true
		return false
	}
	a.free = max(due, p.poolFree)
	sl, free, parked := p.idleSlot(a, hold)
	if parked {
		return p.sent(hold)
	}
	if free != 0 {
		p.poolFree = free
	} else if hold && due < p.poolFree {
		p.WaitedPool++ // behind those that waited, and as long
	}
	a.free = max(due, p.poolFree)
	if sl != nil && p.halt.Load() { // it may be idle only because its request was cancelled
		sl.pool.idle.push(sl)
		sl = nil
	}
	if sl == nil {
		return p.unsent(hold)
	}
	s := p.buffer(sl)
	if s == nil {
		sl.pool.idle.push(sl)
		return p.unsent(hold)
	}
	p.send(sl, a, s, max(now, free))
	return p.sent(hold)
}

// sent counts an arrival that is sent, or will be. False: it is the last.
func (p *pacer) sent(hold bool) bool {
	if hold {
		p.Planned++
		p.Sent++
	} else {
		p.WarmSent++
	}
	p.done = p.o.Limit > 0 && p.Sent >= p.o.Limit
	return !p.done
}

// unsent counts an arrival that found no slot. False: because the player was halted meanwhile.
func (p *pacer) unsent(hold bool) bool {
	halted := p.halt.Load()
	if hold {
		p.Planned++
		if p.begins() {
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
		p.rest()
	}
	return !halted
}

func (p *pacer) send(sl *slot, a arrival, s *backends.Sample, now int64) {
	if p.delay != nil {
		p.delay(a.n)
	}
	p.c.enter()
	p.take(sl, a, s, &p.turn)
	p.dispatch(sl)
}

// idleSlot is the slot of the turn's pool that has been idle longest. Without one the arrival is parked if other pools may
// have some, else, or with as many requests in flight as there may be, the pacer waits, unless the pool is full and arrivals
// are then to be dropped; free is when the slot came, else 0. Nil: parked, dropped, or halted.
//
// Only the wait for a full pool is the pool's. While more lanes can still be opened there is a slot that the server could
// have had, so that wait, and the lateness, is the client's own: free stays 0.
func (p *pacer) idleSlot(a arrival, hold bool) (sl *slot, free int64, parked bool) {
	g := &p.pools[p.turn.Pool]
	sl, capped := p.claim(g)
	p.considerGrowth(g)
	full := capped || g.full()
	if sl != nil || (p.drop && full) {
		return sl, 0, false
	}
	if hold && full {
		p.WaitedPool++
		g.waited++
	}
	for !p.halt.Load() {
		p.waiting.Store(true)
		if sl, capped = p.claim(g); sl != nil {
			p.waiting.Store(false)
			if full {
				free = p.o.Clock.Now()
			}
			return sl, free, false
		}
		if (!capped || g.backlog.waits()) && p.park(g, a, full) {
			p.waiting.Store(false)
			return nil, 0, true
		}
		p.match()
		<-p.freed
	}
	p.waiting.Store(false)
	return nil, 0, false
}

// claim takes an idle slot, unless others wait for one; capped: none may be taken, as there are as many requests in flight
// as there may be. The pacer alone adds to them.
func (p *pacer) claim(g *pool) (sl *slot, capped bool) {
	if capped = p.c.InFlight.Load() >= p.most; capped || g.backlog.waits() {
		return nil, capped
	}
	return p.pop(g), false
}

// buffer gets an empty sample; nil when the player was halted before there was one.
func (p *pacer) buffer(sl *slot) *backends.Sample {
	s := p.out.Get(sl.index)
	if s != nil {
		return s
	}
	p.Paused++
	for s == nil && !p.halt.Load() {
		nap(int64(retry))
		s = p.out.Get(sl.index)
	}
	return s
}

// abandon counts the arrival at due, and all after it, that were due before the player was halted. A stop whose time
// has not come leaves nothing behind.
func (p *pacer) abandon(due int64) {
	if !p.halt.Load() {
		return
	}
	p.leaveBehind(due)
	p.rest()
}

// rest counts what the schedule still has that is due by now.
func (p *pacer) rest() {
	until := min(p.c.StopAt.Load(), p.o.Clock.Now())
	for {
		after, ok := p.s.Next()
		if !ok || p.o.Start+after >= until {
			return
		}
		p.leaveBehind(p.o.Start + after)
	}
}

// leaveBehind counts one arrival that was due before the halt and not sent.
func (p *pacer) leaveBehind(due int64) {
	hold := p.holds(p.k, due)
	p.k++
	full := p.o.Limit > 0 && p.Sent+p.DroppedStop >= p.o.Limit
	if hold && !full && due < min(p.c.StopAt.Load(), p.o.Clock.Now()) {
		p.Planned++
		p.DroppedStop++
	}
}
