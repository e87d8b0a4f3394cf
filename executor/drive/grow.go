package drive

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// grower opens more lanes in the background while an open loop runs, one batch at a time, until the
// first failure.
//
//	idle    → wanted   pacer: less than a quarter of the lanes idle, and room for more
//	wanted  → opening  supervisor: calls openLanes in a goroutine
//	opening → idle     the lanes are in the ring
//	opening → off      openLanes failed or returned none
type grower struct {
	open        *open
	pool        *pool
	openLanes   func(ctx context.Context, n int) ([]backends.Lane, error)
	state       atomic.Int32
	cancelBatch context.CancelFunc // of the latest batch; nil before the first
	batch       sync.WaitGroup
}

const (
	growIdle = iota
	growWanted
	growOpening
	growOff
)

// considerGrowth asks for more lanes if few are idle. Called by the pacer.
func (op *open) considerGrowth(p *pool) {
	g := &p.grower
	if g.openLanes == nil || g.state.Load() != growIdle {
		return
	}
	lanes := int(p.attached.Load())
	if lanes < len(p.slots) && p.idle.length()*4 < max(lanes, 1) &&
		g.state.CompareAndSwap(growIdle, growWanted) {
		op.notify()
	}
}

// cannotGrow reports whether the pool will have no more lanes than now. Called by the pacer.
func (p *pool) cannotGrow() bool {
	return int(p.attached.Load()) == len(p.slots) || p.grower.openLanes == nil ||
		p.grower.state.Load() == growOff
}

// serve opens the lanes that were asked for. Called by the supervisor.
func (g *grower) serve(ctx context.Context) {
	if g.open.senders.Load() == 0 || !g.state.CompareAndSwap(growWanted, growOpening) {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	g.cancelBatch = stop
	lanes := int(g.pool.attached.Load())
	n := min(max(lanes, 1), len(g.pool.slots)-lanes)
	g.batch.Go(func() {
		defer stop()
		defer g.open.recoverPanic()
		g.grow(ctx, n)
	})
}

// end cancels a batch that is opening and waits for it. Its lanes, if any, are closed with the
// others.
func (g *grower) end() {
	if g.cancelBatch != nil {
		g.cancelBatch()
	}
	g.batch.Wait()
}

// grow opens n lanes.
func (g *grower) grow(ctx context.Context, n int) {
	lanes, err := g.openLanes(ctx, n)
	if err != nil || len(lanes) == 0 {
		g.state.Store(growOff)
		return
	}
	for _, surplus := range lanes[min(n, len(lanes)):] {
		_ = surplus.Close()
	}
	for _, lane := range lanes[:min(n, len(lanes))] {
		g.open.startSlot(g.pool.attach(lane))
	}
	g.state.Store(growIdle)
}
