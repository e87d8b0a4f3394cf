package trial

import (
	"context"
	"time"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
)

// spin is the final spin of the pacer before a due time: a sleep that ends on time costs a context
// switch too late.
const spin = 30 * time.Microsecond

// player plays the load of a trial on its lanes.
type player struct {
	plan    *program.Load
	pools   []drive.Pool
	source  feed.Source
	open    *feed.Sequences // that the requests form; nil: they form none
	rings   *measure.Rings
	control *drive.Control
	options drive.OpenOptions // of a closed loop only its Options
}

// newPlayer makes the player of a trial.
func newPlayer(h *Host, in *Input, p *program.Load, c lanePools, src feed.Source, open *feed.Sequences) *player {
	o := drive.OpenOptions{
		Options: drive.Options{
			Clock: h.Clock, Drain: in.Node.Stage.Drain, WarmCount: p.WarmCount, Limit: p.Limit, IDBase: in.IDBase,
			Sequences: p.Sequences,
		},
		Drop: p.Stored.Overflow == "drop", Spin: int64(spin), MaxInFlight: min(p.Slots, c.most()), Delay: h.Delay,
	}
	if budget(p) > 0 { // then the feed has the limit, and each slot asks it once in vain
		o.Limit += int64(p.Slots)
	}
	if p.Open && p.Sequences == nil && mayAbort(in.Checks) {
		o.Replay = p.Arrivals()
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
	if o.Start = start; p.plan.Warm > 0 {
		o.WarmUntil = start + p.plan.Warm
	}
	if !p.plan.Open {
		profile := profileOf(p.plan, start, &p.control.HoldStart)
		return drive.Closed(ctx, profile, p.source, p.pools, p.rings, p.control, o.Options)
	}
	return drive.Open(ctx, p.plan.Arrivals(), p.source, p.pools, p.rings, p.control, o)
}
