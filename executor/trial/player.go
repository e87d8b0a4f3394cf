package trial

import (
	"context"
	"time"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
)

// spin is the final spin of the pacer before a due time: a sleep that ends on time costs a context
// switch too late.
const spin = 30 * time.Microsecond

// player plays the load of a trial on its lanes.
type player struct {
	plan    *loadPlan
	pools   []drive.Pool
	source  feed.Source
	open    *feed.Sequences // that the requests form; nil: they form none
	rings   *measure.Rings
	control *drive.Control
	options drive.OpenOptions // of a closed loop only its Options
}

// newPlayer makes the player of a trial.
func newPlayer(h *Host, in *Input, p *loadPlan, c lanePools, src feed.Source, open *feed.Sequences) *player {
	o := drive.OpenOptions{
		Options: drive.Options{
			Clock: h.Clock, Drain: in.Node.Stage.Drain, WarmCount: p.warmCount, Limit: p.limit, IDBase: in.IDBase,
			Sequences: p.sequences,
		},
		Drop: p.overflow == "drop", Spin: int64(spin), MaxInFlight: min(p.slots, c.most()), Delay: h.Delay,
	}
	if p.budget(in.Node.Open) > 0 { // then the feed has the limit, and each slot asks it once in vain
		o.Limit += int64(p.slots)
	}
	if p.profile == nil && p.sequences == nil && mayAbort(in.Checks) {
		o.Replay = p.arrivals()
		if m, mixed := src.(*feed.Mix); mixed {
			o.EntryOf = m.Entry
		}
	}
	return &player{
		plan: p, pools: c.pools, source: src, open: open, rings: newRings(in, p, c.most()),
		control: new(drive.Control), options: o,
	}
}

// play plays the load from start, on the run's clock, until every request has come back, and closes
// the lanes.
func (p *player) play(ctx context.Context, start int64) drive.Played {
	if p.open != nil {
		defer p.open.Close()
	}
	o := p.options
	if o.Start = start; p.plan.warm > 0 {
		o.WarmUntil = start + p.plan.warm
	}
	if p.plan.profile != nil {
		profile := p.plan.profile(start, &p.control.HoldStart)
		return drive.Closed(ctx, profile, p.source, p.pools, p.rings, p.control, o.Options)
	}
	return drive.Open(ctx, p.plan.arrivals(), p.source, p.pools, p.rings, p.control, o)
}
