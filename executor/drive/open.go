package drive

import (
	"context"
	"math"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// Open sends the arrivals of s when they are due, each on the lane that has been idle longest. A reply is received by
// its lane's goroutine, which was parked there, so that nothing is handed over between due time and wire.
//
// An arrival picks its call first, then a lane of the pool that the call goes to. With several pools one that is full holds
// up its own arrivals only. Calls above its Limits.Inline, which could block the pacer, are sent by a goroutine of their lane instead. With Inline 0
// that is the one that receives (send, then receive); else a second one beside it, started with the lane's first large
// call.
func Open(ctx context.Context, s load.Schedule, src feed.Source, pools []Pool, out Handoff, c *Control, o OpenOptions) Played {
	op := &open{src: src, drop: o.Drop, delay: o.Delay, most: math.MaxInt64, freed: make(chan struct{}, 1)}
	if o.Again != nil && !o.Drop { // what is dropped waits for nothing
		op.queue = &queue{o: &o.Options, s: o.Again, kind: o.Kind}
	}
	op.init(&o.Options, c, out, pools, o.MaxInFlight)
	if o.MaxInFlight > 0 && len(op.slots) > o.MaxInFlight {
		op.most = int64(o.MaxInFlight)
	}
	for i := range op.pools {
		g := &op.pools[i]
		g.idle = newRing(len(g.slots))
		if len(op.pools) > 1 && o.Sequences == nil {
			g.backlog = &backlog{}
		}
		g.grower.open, g.grower.pool, g.grower.more = op, g, pools[i].Grow
	}
	op.onHalt = op.wakePacer
	op.onScan = func(int64) { op.serve(ctx) }
	op.read()
	op.senders.Store(1)
	op.pending.Store(c.OldestDue.Load())
	for sl := range op.present {
		op.start(sl)
	}
	p := &pacer{open: op, turns: turns{list: make([]*sequence, len(op.lives))}, s: s, hash: load.EmptyHash, spin: min(max(o.Spin, 0), int64(maxSpin))}
	op.spawn(p.run)
	op.supervise(ctx)
	for i := range op.pools {
		op.pools[i].grower.end()
	}
	op.closeLanes()
	op.rethrow()
	p.unsettled()
	p.Lanes = op.lanes()
	for i := range op.pools {
		p.Waits = append(p.Waits, op.pools[i].waited)
	}
	op.addTo(&p.Played)
	p.PeakInFlight = c.Peak.Load()
	return p.Played
}

// serve opens the lanes that were asked for. Of the supervisor.
func (op *open) serve(ctx context.Context) {
	for i := range op.pools {
		op.pools[i].grower.serve(ctx)
	}
}

// open is what the pacer and the lanes' goroutines share.
type open struct {
	player
	src   feed.Source
	drop  bool
	most  int64 // requests in flight, where the slots alone do not bound them
	delay func(n uint64)

	freed chan struct{} // a slot became idle while the pacer waited
}

// start gives a slot that has a lane to the pacer.
func (op *open) start(sl *slot) {
	if sl.pool.inline > 0 {
		op.spawn(func() { op.receives(sl) })
	} else {
		op.spawn(func() { op.sendsAndReceives(sl) })
	}
	op.free(sl)
}

// receives is the goroutine of a lane that the pacer sends on.
func (op *open) receives(sl *slot) {
	for sl.receive() {
		if sl.handed {
			<-sl.sent // a reply can come before the send has returned
		}
		if op.answered(sl) {
			op.dispatch(sl)
		}
	}
}

// sendsAndReceives is the goroutine of a lane whose sends can block.
func (op *open) sendsAndReceives(sl *slot) {
	for range sl.wake {
		for again := true; again; again = op.answered(sl) {
			sl.send()
			if !sl.receive() {
				op.leave()
				return
			}
		}
	}
}

// sends is the second goroutine of a lane, for large calls.
func (op *open) sends(sl *slot) {
	for range sl.wake {
		op.sendsOne(sl)
	}
}

// sendsOne tells the one who receives that the send has returned, in whatever way.
func (op *open) sendsOne(sl *slot) {
	defer func() { sl.sent <- struct{}{} }()
	sl.send()
}

// handOver lets the lane's own goroutine send. Of the pacer.
func (op *open) handOver(sl *slot) {
	if sl.pool.inline > 0 && !sl.sender {
		sl.sender = true
		op.spawn(func() { op.sends(sl) })
	}
	sl.wake <- struct{}{} // has room: the slot was idle
}

// answered hands the sample of a request off. True: one that waited has taken its place, and is to be sent.
func (op *open) answered(sl *slot) (again bool) {
	free := sl
	if op.o.Sequences != nil {
		free = op.home(sl)
		op.follow(free, sl)
	} else {
		op.finish(sl)
		if sl.pool.backlog.waits() {
			if op.returns(sl); op.resume(sl) {
				return true
			}
		}
	}
	sl.floor.Store(never)
	op.leave()
	op.free(free)
	return false
}

// free makes a slot idle and wakes the pacer if that is what it waits for. The pacer looks at the ring again after it
// has said that it waits, so no slot is overlooked.
func (op *open) free(sl *slot) {
	sl.pool.idle.push(sl)
	if op.waiting.Load() && op.waiting.CompareAndSwap(true, false) {
		op.wakePacer()
	}
}

func (op *open) wakePacer() {
	select {
	case op.freed <- struct{}{}:
	default:
	}
}
