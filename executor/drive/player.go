package drive

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// scanPeriod is how often slots are looked at for timeouts and the oldest due time; a short timeout makes it shorter.
const scanPeriod = 10 * time.Millisecond

// stuck is how long a cancelled request may take to end before its lane is closed.
const stuck = time.Second

// player is what both loops have in common: the slots, and one supervisor (the goroutine that called Open or Closed)
// that scans them. Requests have no timers, deadlines or contexts of their own.
type player struct {
	o   *Options
	c   *Control
	out Handoff

	slots   []slot // of all pools, one behind the other; fixed in length, as others hold pointers into it
	pools   []pool
	lives   []sequence   // of as many slots each as may have requests of one sequence in flight
	atOnce  int          // how many those are
	senders atomic.Int32 // goroutines that may still send
	halt    atomic.Bool  // nothing more is sent, not even what is already due
	over    atomic.Int64 // when the schedule, the feed or Limit was exhausted; 0: not
	waiting atomic.Bool  // the pacer of an open loop waits for an idle slot
	pending atomic.Int64 // lower bound of the due times to come; never when there are none
	events  chan struct{}
	// finished is closed with the lanes, when nothing more is sent.
	finished chan struct{}
	group    sync.WaitGroup
	crash    atomic.Pointer[string] // the first panic of a goroutine
	broken   chan struct{}          // closed with it

	queue *queue // what Older counts by; of its caller. nil: none
	tally

	onHalt func()          // wakes senders that wait
	onScan func(now int64) // what a loop has to do now and then
	onPart func(*slot)     // some responses of a request have come, which goes on
}

func (p *player) init(o *Options, c *Control, out Handoff, pools []Pool, most int) {
	p.o, p.c, p.out = o, c, out
	p.events, p.finished, p.broken = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	p.divide(pools, most)
	p.pending.Store(never)
	c.StopAt.CompareAndSwap(0, math.MaxInt64)
	c.player.Store(p)
	c.OldestDue.Store(o.Start)
	if o.WarmCount == 0 {
		c.HoldStart.Store(max(o.Start, o.WarmUntil, 1))
	}
}

// read starts the readers of lanes that slots share.
func (p *player) read() {
	for i := range p.pools {
		for _, l := range p.pools[i].lines {
			p.spawn(func() { l.read(p) })
		}
	}
}

// notify wakes the supervisor. Never blocks.
func (p *player) notify() {
	select {
	case p.events <- struct{}{}:
	default:
	}
}

// warm says whether an arrival belongs to the warm-up, and publishes the start of hold with the first that does not.
func (p *player) warm(k uint64, due int64) bool {
	if due < p.o.WarmUntil || k < uint64(p.o.WarmCount) {
		return true
	}
	if p.c.HoldStart.Load() == 0 {
		p.c.HoldStart.CompareAndSwap(0, max(due, 1))
	}
	return false
}

// exhausted notes that there is nothing more to send, for another reason than a stop.
func (p *player) exhausted() { p.over.CompareAndSwap(0, max(p.o.Clock.Now(), 1)) }

// ended is called by a sender that will send nothing more.
func (p *player) ended() {
	if p.senders.Add(-1) == 0 {
		p.notify()
	}
}

// supervise returns when no sender is left and no request in flight.
func (p *player) supervise(ctx context.Context) {
	period := scanPeriod
	for i := range p.pools {
		if t := time.Duration(p.pools[i].timeout) / 20; t > 0 {
			period = max(min(period, t), time.Millisecond)
		}
	}
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	var end ending
	stop := ctx.Done()
	for p.senders.Load() > 0 || p.c.InFlight.Load() > 0 && !p.crashed() {
		select {
		case <-stop:
			stop = nil
			end.why = backends.CauseStop
		case <-p.events:
		case <-ticks.C:
		}
		if p.crashed() {
			end.why = backends.CauseStop
		}
		p.scan(&end)
	}
}

// ending is what the supervisor remembers of the way out.
type ending struct {
	why   backends.Cause // 0: requests may still take their time
	from  int64          // when the drain began; 0: not yet
	seen  int64          // the last look before it
	since int64          // when requests were first cancelled; 0: not yet
}

// scan is one look at everything.
func (p *player) scan(end *ending) {
	now := p.o.Clock.Now()
	p.oldest(now)
	p.drain(end, now)
	for sl := range p.present {
		least := int64(0)
		if sl.closing.Load() {
			least = int64(finishTime)
		}
		if limit := sl.pool.timeout; limit > 0 {
			sl.cancel(now-max(limit, least), backends.CauseTimeout)
		}
		if limit := sl.pool.inactivity; limit > 0 {
			sl.silent(now - max(limit, least))
		}
	}
	if end.why != 0 {
		p.cutOff(end, now)
	}
	if p.onScan != nil {
		p.onScan(now)
	}
}

// oldest publishes a lower bound of the due times open. Pending is read before what waits, and that before the slots: an
// arrival that moves from one to the next meanwhile is seen at least once. No due time to come in a closed loop is before
// now.
func (p *player) oldest(now int64) {
	floor := min(now, p.pending.Load())
	for i := range p.pools {
		floor = min(floor, p.pools[i].backlog.oldest())
	}
	for sl := range p.present {
		floor = min(floor, sl.floor.Load())
	}
	p.c.OldestDue.Store(floor)
}

// drain decides whether the drain is over. A stop that was set to a time long gone begins it now: until this look
// requests were sent.
func (p *player) drain(end *ending, now int64) {
	stopAt := p.c.StopAt.Load()
	if end.from == 0 {
		switch {
		case now >= stopAt && stopAt < end.seen:
			end.from = now
		case now >= stopAt:
			end.from = stopAt
		default:
			end.from = p.over.Load()
		}
		end.seen = now
	}
	if end.why == 0 && end.from != 0 && now-end.from >= int64(p.o.Drain) {
		end.why = backends.CauseDrain
	}
}

// cutOff halts the senders and cancels what is in flight. It comes again with each scan until all has ended, as a
// request can be between take and Send, where its lane does not know it yet.
func (p *player) cutOff(end *ending, now int64) {
	if end.since == 0 {
		end.since = now
		p.halt.Store(true)
	}
	if p.onHalt != nil {
		p.onHalt()
	}
	for sl := range p.present {
		since := now - end.since
		if sl.closing.Load() { // no part of what is cut off
			since -= int64(finishTime)
		}
		if since >= 0 {
			sl.cancel(never, end.why)
		}
		if since > int64(stuck) && sl.due.Load() != never && p.lost(sl, now-end.since) {
			sl.line.close() // answers what is in flight
		}
	}
}

// lost reports whether nothing on a slot's lane has time left, since all was cut off.
func (p *player) lost(sl *slot, since int64) bool {
	return since > int64(finishTime+stuck) || !sl.line.closing()
}

// closeLanes ends all lanes and waits for the goroutines that were in them. Only then has everything been Put: after a
// panic some of them answer what was in flight.
func (p *player) closeLanes() {
	for sl := range p.present {
		close(sl.wake)
		sl.line.close()
	}
	close(p.finished)
	p.group.Wait()
	p.c.OldestDue.Store(never)
}
