package drive

import (
	"context"
	"sync"
	"sync/atomic"
)

// grower opens more lanes in the background while an open loop runs, one batch at a time, until the
// first failure.
//
//	idle    → wanted   pacer: less than a quarter of the lanes idle, and room for more
//	wanted  → opening  supervisor: calls Pool.Grow in a goroutine
//	opening → idle     the lanes are in the ring
//	opening → off      Grow failed or returned none
type grower struct {
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
func (g *pool) considerGrowth() {
	if g.Grow == nil || g.grower.state.Load() != growIdle {
		return
	}
	lanes := int(g.attached.Load())
	if lanes < len(g.slots) && g.idle.length()*4 < max(lanes, 1) &&
		g.grower.state.CompareAndSwap(growIdle, growWanted) {
		g.player.notify()
	}
}

// cannotGrow reports whether the pool will have no more lanes than now. Called by the pacer.
func (g *pool) cannotGrow() bool {
	return int(g.attached.Load()) == len(g.slots) || g.Grow == nil || g.grower.state.Load() == growOff
}

// openWanted opens the lanes that were asked for and starts their slots. Called by the supervisor.
func (g *pool) openWanted(ctx context.Context, start func(*slot)) {
	if g.player.senders.Load() == 0 || !g.grower.state.CompareAndSwap(growWanted, growOpening) {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	g.grower.cancelBatch = stop
	lanes := int(g.attached.Load())
	n := min(max(lanes, 1), len(g.slots)-lanes)
	g.grower.batch.Go(func() {
		defer stop()
		defer g.player.recoverPanic()
		lanes, err := g.Grow(ctx, n)
		if err != nil || len(lanes) == 0 {
			g.grower.state.Store(growOff)
			return
		}
		n := min(n, len(lanes))
		for _, surplus := range lanes[n:] {
			_ = surplus.Close()
		}
		slots := g.attach(lanes[:n], n)
		for i := range slots {
			start(&slots[i])
		}
		g.grower.state.Store(growIdle)
	})
}

// endGrowth cancels a batch that is opening and waits for it. Its lanes, if any, are closed with the
// others.
func (g *pool) endGrowth() {
	if g.grower.cancelBatch != nil {
		g.grower.cancelBatch()
	}
	g.grower.batch.Wait()
}
