package trial

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
)

// spin is the final spin of the pacer before a due time: a sleep that ends on time costs a context
// switch too late.
const spin = 30 * time.Microsecond

// prepare prepares the load of a trial on its lanes. play plays it from start, on the run's clock,
// until every request has ended, and closes the lanes.
func (s *session) prepare(
	c lanePools, calls [][]*backends.Call, rings *measure.Rings,
) (play func(ctx context.Context, start int64) drive.Played) {
	in, p := s.in, s.plan
	src, open := newSource(in, p, calls) // not once the clock runs: to shuffle many rows takes time
	o := drive.OpenOptions{
		Options: drive.Options{
			Clock: s.host.Clock, Drain: in.Node.Stage.Drain, WarmCount: p.WarmCount, Limit: p.Limit,
			IDBase: in.IDBase, Sequences: p.Sequences, Every: p.Every, Cancels: cancels(in),
		},
		Drop: p.Stored.Overflow == "drop", Spin: int64(spin), MaxInFlight: maxInFlight(p, c),
	}
	if waits(in, p) {
		o.Late, o.Delay = s.late, s.host.Delay
	}
	if p.Sequences != nil && p.Sequences.Sessions {
		o.Follow = open.Follow
		s.sessions = open
	}
	if budget(p) > 0 { // then the feed has the limit, and each slot asks it once in vain
		o.Limit += int64(p.Slots)
	}
	aborts := func(c program.AskedCheck) bool { return c.Abort }
	if p.Open && p.Sequences == nil && slices.ContainsFunc(in.Checks, aborts) {
		o.Replay = p.Arrivals()
		if m, mixed := feed.Uncancelled(src).(*feed.Mix); mixed {
			o.EntryOf = m.Entry
		}
	}
	return func(ctx context.Context, start int64) drive.Played {
		if open != nil {
			defer open.Close()
		}
		if o.Start = start; p.Warm > 0 {
			o.WarmUntil = start + p.Warm
		}
		if !p.Open {
			profile := profileOf(p, start, &s.control.HoldStart)
			return drive.Closed(ctx, profile, src, c, rings, s.control, o.Options)
		}
		return drive.Open(ctx, p.Arrivals(), src, c, rings, s.control, o)
	}
}

// maxInFlight returns the maximum of requests in flight over all pools.
func maxInFlight(p *program.Load, c lanePools) int { return min(p.Slots, c.most()) }
