package drive

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// scanPeriod is the time between two scans of the slots for timeouts and the oldest due time; a
// short timeout makes it shorter.
const scanPeriod = 10 * time.Millisecond

// stuckAfter is the time a cancelled request may take to end before its lane is closed.
const stuckAfter = time.Second

// player is the common part of both loops: the slots, and one supervisor (the goroutine that called
// Open or Closed) that scans them. Requests have no timers, deadlines or contexts of their own.
type player struct {
	o   *Options
	c   *Control
	out Handoff

	slots          []slot // of all pools, one after the other; never reallocated, as pointers into it exist
	pools          []pool
	sequences      []sequence   // each is played by pipelineDepth slots
	pipelineDepth  int          // requests of one sequence that may be in flight
	senders        atomic.Int32 // goroutines that may still send
	halt           atomic.Bool  // nothing more is sent, not even what is already due
	exhaustedAt    atomic.Int64 // when the schedule, the feed or Limit was exhausted; 0: not yet
	pacerWaits     atomic.Bool  // the pacer of an open loop waits for an idle slot
	nextDue        atomic.Int64 // lower bound of the due times to come; never if there are none
	wakeSupervisor chan struct{}
	// finished is closed together with the lanes, when nothing more is sent.
	finished   chan struct{}
	group      sync.WaitGroup
	firstPanic atomic.Pointer[string] // of a goroutine; nil: none
	panicked   chan struct{}          // closed with the first panic

	dueCounter *dueCounter // used by the caller of UnansweredBefore; may be nil
	counters

	onHalt     func()          // wakes senders that wait
	onScan     func(now int64) // periodic work of a loop
	onProgress func(*slot)     // called with events of an unfinished request
}

func (p *player) init(o *Options, c *Control, out Handoff, pools []Pool, most int) {
	p.o, p.c, p.out = o, c, out
	p.wakeSupervisor = make(chan struct{}, 1)
	p.finished, p.panicked = make(chan struct{}), make(chan struct{})
	p.initPools(pools, most)
	p.nextDue.Store(never)
	c.StopAt.CompareAndSwap(0, math.MaxInt64)
	c.player.Store(p)
	c.OldestDue.Store(o.Start)
	if o.WarmCount == 0 {
		c.HoldStart.Store(max(o.Start, o.WarmUntil, 1))
	}
}

// startReaders starts the readers of shared lanes.
func (p *player) startReaders() {
	for i := range p.pools {
		for _, l := range p.pools[i].muxes {
			p.spawn(func() { l.read(p) })
		}
	}
}

// notify wakes the supervisor. It never blocks.
func (p *player) notify() {
	select {
	case p.wakeSupervisor <- struct{}{}:
	default:
	}
}

// isWarmup reports whether an arrival belongs to the warm-up. The first that does not publishes the
// start of hold.
func (p *player) isWarmup(k uint64, due int64) bool {
	if due < p.o.WarmUntil || k < uint64(p.o.WarmCount) {
		return true
	}
	if p.c.HoldStart.Load() == 0 {
		p.c.HoldStart.CompareAndSwap(0, max(due, 1))
	}
	return false
}

// markExhausted records that nothing is left to send, for another reason than a stop.
func (p *player) markExhausted() { p.exhaustedAt.CompareAndSwap(0, max(p.o.Clock.Now(), 1)) }

// senderDone is called by a goroutine that sends nothing more.
func (p *player) senderDone() {
	if p.senders.Add(-1) == 0 {
		p.notify()
	}
}

// supervise returns when no sender and no request in flight is left.
func (p *player) supervise(ctx context.Context) {
	period := scanPeriod
	for i := range p.pools {
		if t := time.Duration(p.pools[i].timeout) / 20; t > 0 {
			period = max(min(period, t), time.Millisecond)
		}
	}
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	var end drainState
	stop := ctx.Done()
	for p.senders.Load() > 0 || p.c.InFlight.Load() > 0 && !p.crashed() {
		select {
		case <-stop:
			stop = nil
			end.cause = backends.CauseStop
		case <-p.wakeSupervisor:
		case <-ticks.C:
		}
		if p.crashed() {
			end.cause = backends.CauseStop
		}
		p.scan(&end)
	}
}

// drainState is the supervisor's progress through the drain.
type drainState struct {
	cause       backends.Cause // of cancellation; 0: requests may go on
	start       int64          // of the drain; 0: not begun
	lastScan    int64          // the last scan before the drain
	cancelledAt int64          // when requests were first cancelled; 0: not yet
}

// scan checks all slots once.
func (p *player) scan(end *drainState) {
	now := p.o.Clock.Now()
	p.publishOldestDue(now)
	p.checkDrain(end, now)
	for sl := range p.attachedSlots {
		least := int64(0)
		if sl.closing.Load() {
			least = int64(closeSequenceTime)
		}
		if limit := sl.pool.timeout; limit > 0 {
			sl.cancel(now-max(limit, least), backends.CauseTimeout)
		}
		if limit := sl.pool.inactivity; limit > 0 {
			sl.cancelInactive(now - max(limit, least))
		}
	}
	if end.cause != 0 {
		p.cancelAll(end, now)
	}
	if p.onScan != nil {
		p.onScan(now)
	}
}

// publishOldestDue publishes a lower bound of the open due times. nextDue is read before the
// backlogs, and these before the slots: an arrival that moves from one to the next meanwhile is
// seen at least once. No future due time of a closed loop is before now.
func (p *player) publishOldestDue(now int64) {
	floor := min(now, p.nextDue.Load())
	for i := range p.pools {
		floor = min(floor, p.pools[i].backlog.oldestDue())
	}
	for sl := range p.attachedSlots {
		floor = min(floor, sl.floor.Load())
	}
	p.c.OldestDue.Store(floor)
}

// checkDrain decides whether the drain is over. If the stop was set to a time in the past, the
// drain begins now, as requests were sent until this scan.
func (p *player) checkDrain(end *drainState, now int64) {
	stopAt := p.c.StopAt.Load()
	if end.start == 0 {
		switch {
		case now >= stopAt && stopAt < end.lastScan:
			end.start = now
		case now >= stopAt:
			end.start = stopAt
		default:
			end.start = p.exhaustedAt.Load()
		}
		end.lastScan = now
	}
	if end.cause == 0 && end.start != 0 && now-end.start >= int64(p.o.Drain) {
		end.cause = backends.CauseDrain
	}
}

// cancelAll halts the senders and cancels what is in flight. It is repeated with each scan until
// all has ended, as a request between take and Send is not yet known to its lane.
func (p *player) cancelAll(end *drainState, now int64) {
	if end.cancelledAt == 0 {
		end.cancelledAt = now
		p.halt.Store(true)
	}
	if p.onHalt != nil {
		p.onHalt()
	}
	for sl := range p.attachedSlots {
		since := now - end.cancelledAt
		if sl.closing.Load() { // a request that closes a sequence has more time
			since -= int64(closeSequenceTime)
		}
		if since >= 0 {
			sl.cancel(never, end.cause)
		}
		if since > int64(stuckAfter) && sl.due.Load() != never && p.mustClose(sl, now-end.cancelledAt) {
			sl.mux.close() // answers what is in flight
		}
	}
}

// mustClose reports whether no request on a slot's lane has time left, since ns after the
// cancellation.
func (p *player) mustClose(sl *slot, since int64) bool {
	return since > int64(closeSequenceTime+stuckAfter) || !sl.mux.sendsClosing()
}

// closeLanes closes all lanes and waits for their goroutines. Only then has every sample been Put:
// after a panic some of these goroutines answer what was in flight.
func (p *player) closeLanes() {
	for sl := range p.attachedSlots {
		close(sl.wake)
		sl.mux.close()
	}
	close(p.finished)
	p.group.Wait()
	p.c.OldestDue.Store(never)
}
