package drive

import (
	"context"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// scanPeriod is the time between two scans of the slots for timeouts and the oldest due time; a
// short timeout makes it shorter.
const scanPeriod = 10 * time.Millisecond

// stuckAfter is the time a cancelled request may take to end before its lane is closed.
const stuckAfter = time.Second

// supervisor scans the slots of a player for timeouts, publishes the oldest due time and ends the
// drain.
type supervisor struct {
	*player
	cause       backends.Cause // of cancellation; 0: requests may go on
	drainStart  int64          // 0: not begun
	lastScan    int64          // the last scan before the drain
	cancelledAt int64          // when requests were first cancelled; 0: not yet
}

// supervise returns when no sender and no request in flight is left.
func supervise(ctx context.Context, p *player) {
	period := scanPeriod
	for i := range p.pools {
		if t := time.Duration(p.pools[i].Timeout) / 20; t > 0 {
			period = max(min(period, t), time.Millisecond)
		}
	}
	if p.o.Cancels {
		period = time.Millisecond
	}
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	s := supervisor{player: p}
	stop := ctx.Done()
	for p.senders.Load() > 0 || p.c.InFlight.Load() > 0 && !p.crashed() {
		select {
		case <-stop:
			stop = nil
			s.cause = backends.CauseStop
		case <-p.wakeSupervisor:
		case <-ticks.C:
		}
		if p.crashed() {
			s.cause = backends.CauseStop
		}
		s.scan()
	}
}

// scan checks all slots once.
func (s *supervisor) scan() {
	now := s.now()
	s.publishOldestDue(now)
	s.checkDrain(now)
	for sl := range s.attachedSlots {
		if s.o.Cancels {
			sl.cancelPlanned(s.now())
		}
		least := int64(0)
		if sl.closing.Load() {
			least = int64(closeSequenceTime)
		}
		if limit := sl.pool.Timeout; limit > 0 {
			sl.cancel(now-max(limit, least), backends.CauseTimeout)
		}
		if limit := sl.pool.Inactivity; limit > 0 {
			sl.cancelInactive(now - max(limit, least))
		}
	}
	if s.cause != 0 {
		s.cancelAll(now)
	}
	s.onScan(now)
}

// publishOldestDue publishes a lower bound of the open due times. No future due time of a closed loop is
// before now.
func (s *supervisor) publishOldestDue(now int64) { s.c.OldestDue.Store(min(now, s.oldestDue())) }

// checkDrain decides whether the drain is over. If the stop was set to a time in the past, the
// drain begins now, as requests were sent until this scan.
func (s *supervisor) checkDrain(now int64) {
	stopAt := s.c.StopAt.Load()
	if s.drainStart == 0 {
		switch {
		case now >= stopAt && stopAt < s.lastScan:
			s.drainStart = now
		case now >= stopAt:
			s.drainStart = stopAt
		default:
			s.drainStart = s.exhaustedAt.Load()
		}
		s.lastScan = now
	}
	if s.cause == 0 && s.drainStart != 0 && now-s.drainStart >= int64(s.o.Drain) {
		s.cause = backends.CauseDrain
	}
}

// cancelAll halts the senders and cancels what is in flight. It is repeated with each scan until
// all has ended, as a request between take and Send is not yet known to its lane.
func (s *supervisor) cancelAll(now int64) {
	if s.cancelledAt == 0 {
		s.cancelledAt = now
		s.halt.Store(true)
	}
	s.onHalt()
	for sl := range s.attachedSlots {
		since := now - s.cancelledAt
		if sl.closing.Load() { // a request that closes a sequence has more time
			since -= int64(closeSequenceTime)
		}
		if since >= 0 {
			sl.cancel(never, s.cause)
		}
		if since > int64(stuckAfter) && sl.due.Load() != never && sl.mux.mustClose(now-s.cancelledAt) {
			sl.mux.close() // answers what is in flight
		}
	}
}
