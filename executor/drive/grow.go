package drive

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// grower opens more lanes in the background while an open loop runs, one batch at a time, until the first failure.
//
//	idle    → wanted   pacer: less than a quarter of the lanes idle, and room for more
//	wanted  → opening  supervisor: calls more in a goroutine
//	opening → idle     the lanes are in the ring
//	opening → off      more failed or gave nothing; or no more is configured
type grower struct {
	open  *open
	pool  *pool
	more  func(ctx context.Context, n int) ([]backends.Lane, error)
	state atomic.Int32
	stop  context.CancelFunc // of the batch that is opening; nil: there was none
	batch sync.WaitGroup
}

const (
	growIdle = iota
	growWanted
	growOpening
	growOff
)

// considerGrowth asks for more lanes when few are idle. Of the pacer.
func (op *open) considerGrowth(p *pool) {
	g := &p.grower
	if g.more == nil || g.state.Load() != growIdle {
		return
	}
	lanes := int(p.count.Load())
	if lanes < len(p.slots) && p.idle.idle()*4 < max(lanes, 1) && g.state.CompareAndSwap(growIdle, growWanted) {
		op.notify()
	}
}

// full reports that the pool will have no more lanes than there are now. Of the pacer.
func (p *pool) full() bool {
	return int(p.count.Load()) == len(p.slots) || p.grower.more == nil || p.grower.state.Load() == growOff
}

// serve starts what was asked for. Of the supervisor.
func (g *grower) serve(ctx context.Context) {
	if g.open.senders.Load() == 0 || !g.state.CompareAndSwap(growWanted, growOpening) {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	g.stop = stop
	lanes := int(g.pool.count.Load())
	n := min(max(lanes, 1), len(g.pool.slots)-lanes)
	g.batch.Go(func() {
		defer stop()
		defer g.open.caught()
		g.grow(ctx, n)
	})
}

// end waits for a batch that is opening, having told it to give up. Its lanes, if it has any, are closed with the others.
func (g *grower) end() {
	if g.stop != nil {
		g.stop()
	}
	g.batch.Wait()
}

// grow doubles the lanes.
func (g *grower) grow(ctx context.Context, n int) {
	lanes, err := g.more(ctx, n)
	if err != nil || len(lanes) == 0 {
		g.state.Store(growOff)
		return
	}
	for _, surplus := range lanes[min(n, len(lanes)):] {
		_ = surplus.Close()
	}
	for _, lane := range lanes[:min(n, len(lanes))] {
		g.open.start(g.pool.take(lane))
	}
	g.state.Store(growIdle)
}
