package drive

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/executor/feed"
)

// player is the common part of both loops: the slots, which a supervisor scans. Requests have no
// timers, deadlines or contexts of their own.
type player struct {
	o   *Options
	c   *Control
	src feed.Source
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

func (p *player) init(o *Options, c *Control, src feed.Source, out Handoff, pools []Pool) {
	p.o, p.c, p.src, p.out = o, c, src, out
	p.wakeSupervisor = make(chan struct{}, 1)
	p.finished, p.panicked = make(chan struct{}), make(chan struct{})
	p.initPools(pools)
	p.nextDue.Store(never)
	c.StopAt.CompareAndSwap(0, math.MaxInt64)
	c.player.Store(p)
	c.OldestDue.Store(o.Start)
	if o.WarmCount == 0 {
		c.HoldStart.Store(max(o.Start, o.WarmUntil, 1))
	}
}

// now returns the time on the run clock.
func (p *player) now() int64 { return p.o.Clock.Now() }

// oldestDue returns a lower bound of the due times of what is in flight or was not sent yet. nextDue is read
// before the backlogs, and these before the slots: an arrival that moves from one to the next meanwhile is
// seen at least once.
func (p *player) oldestDue() int64 {
	floor := p.nextDue.Load()
	for i := range p.pools {
		floor = min(floor, p.pools[i].backlog.oldestDue())
	}
	for sl := range p.attachedSlots {
		floor = min(floor, sl.floor.Load())
	}
	return floor
}

// noteIdle records that the client is idle if it was late since the last time, nothing is in flight, and
// nothing is due and unsent. Whoever begins to wait for a due time calls it.
func (p *player) noteIdle() {
	log := p.o.Late
	if log == nil || !log.WasLate() || p.c.InFlight.Load() != 0 {
		return
	}
	if now := p.o.Clock.Now(); now < p.oldestDue() { // read after InFlight: what that counted has ended by then
		log.Idle(now)
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
func (p *player) notify() { signal(p.wakeSupervisor) }

// signal puts a token into a channel with room for one, unless one is there.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
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
func (p *player) markExhausted() { p.exhaustedAt.CompareAndSwap(0, max(p.now(), 1)) }

// senderDone is called by a goroutine that sends nothing more.
func (p *player) senderDone() {
	if p.senders.Add(-1) == 0 {
		p.notify()
	}
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
