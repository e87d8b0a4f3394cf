package drive

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// Open sends the arrivals of s when they are due, each on the lane that has been idle longest. A
// reply is received by its lane's goroutine, which waits there, so that nothing is handed over
// between due time and wire.
//
// An arrival picks its call first, then a lane of the call's pool. A pool without an idle slot
// delays only its own arrivals. A call larger than Limits.Inline could block the pacer and is sent
// by a goroutine of its lane instead: with Inline 0 the receiving one (send, then receive), else a
// second one, started with the lane's first large call.
func Open(ctx context.Context, s load.Schedule, src feed.Source, pools []Pool, out Handoff, c *Control,
	o OpenOptions,
) Played {
	op := &open{
		options: &o, maxInFlight: math.MaxInt64, slotFreed: make(chan struct{}, 1),
		stopping:      make(chan struct{}),
		arrivalBegins: o.Sequences != nil && o.Sequences.ArrivalBegins,
	}
	if o.Replay != nil && !o.Drop { // with Drop, arrivals do not wait
		op.dueCounter = &dueCounter{o: &o.Options, schedule: o.Replay, entryOf: o.EntryOf}
	}
	if op.arrivalBegins && o.Sequences.Sessions {
		defer addProcessor()()
	}
	op.init(&o.Options, c, src, out, pools)
	if o.MaxInFlight > 0 && len(op.slots) > o.MaxInFlight {
		op.maxInFlight = int64(o.MaxInFlight)
	}
	for i := range op.pools {
		g := &op.pools[i]
		g.idle = newRing[slot](len(g.slots))
		if len(op.pools) > 1 && o.Sequences == nil {
			g.backlog = &backlog{}
		}
	}
	op.onHalt = func() {
		op.wakePacer()
		op.wakeSessions(op.now())
	}
	op.onScan = func(now int64) {
		op.wakeSessions(now)
		for i := range op.pools {
			op.pools[i].openWanted(ctx, op.startSlot)
		}
	}
	op.startReaders()
	op.senders.Store(1)
	op.nextDue.Store(c.OldestDue.Load())
	for sl := range op.attachedSlots {
		op.startSlot(sl)
	}
	p := &pacer{
		open: op, runnable: newRing[sequence](len(op.sequences)), schedule: s,
		hash: load.EmptyHash, spin: min(max(o.Spin, 0), int64(maxSpin)),
	}
	op.spawn(p.run)
	supervise(ctx, &op.player)
	for i := range op.pools {
		op.pools[i].endGrowth()
	}
	op.closeLanes()
	op.rethrow()
	p.discardBacklogs()
	for i := range op.pools {
		p.Waits = append(p.Waits, op.pools[i].arrivalsWaited)
	}
	op.addTo(&p.Played)
	p.PeakInFlight, p.HeldByPauses = c.Peak.Load(), op.mostHeld.Load()
	return p.Played
}

// noteHeld records how many sessions wait, while an arrival does. Called by whoever of them comes last.
func (op *open) noteHeld() {
	n, peak := op.pausing.Load(), &op.mostHeld
	for most := peak.Load(); n > most && !peak.CompareAndSwap(most, n); most = peak.Load() {
	}
}

// open is the state that the pacer and the lanes' goroutines share.
type open struct {
	player
	options *OpenOptions
	// maximum of requests in flight if lower than the number of slots, else math.MaxInt64
	maxInFlight int64
	// an arrival begins a sequence, which then goes on by itself
	arrivalBegins bool

	slotFreed chan struct{} // one token: a slot became idle while the pacer waited
	stopping  chan struct{} // closed when sessions that wait are to send nothing more
	pausing   atomic.Int64  // sessions that wait
	poolFull  atomic.Bool   // a measured arrival waits for a slot that no growth gives it
	mostHeld  atomic.Int64  // most sessions that waited meanwhile
	// stopping is closed; used by the supervisor
	sessionsWoken bool
}

// startSlot starts the goroutine of a slot that has a lane and makes the slot idle.
func (op *open) startSlot(sl *slot) {
	if sl.pool.inline > 0 {
		op.spawn(func() { op.receiveLoop(sl) })
	} else {
		op.spawn(func() { op.sendReceiveLoop(sl) })
	}
	op.release(sl)
}

// receiveLoop is the goroutine of a lane that the pacer sends on.
func (op *open) receiveLoop(sl *slot) {
	defer sl.pause.close()
	for sl.receive() {
		if sl.handedOver {
			<-sl.sendDone // a reply can come before Send has returned
		}
		if op.handleReply(sl) {
			op.dispatch(sl)
		}
	}
}

// sendReceiveLoop is the goroutine of a lane whose sends can block.
func (op *open) sendReceiveLoop(sl *slot) {
	defer sl.pause.close()
	for range sl.wake {
		for again := true; again; again = op.handleReply(sl) {
			sl.send()
			if !sl.receive() {
				op.endRequest()
				return
			}
		}
	}
}

// dispatch sends a slot's request. It does not block if the lane has a goroutine for requests that
// could block.
func (op *open) dispatch(sl *slot) {
	inline := sl.pool.inline
	if inline > 0 && sl.call.Size <= inline {
		sl.send()
		return
	}
	if inline > 0 && !sl.hasSender {
		sl.hasSender = true
		op.spawn(sl.sendLoop)
	}
	sl.wake <- struct{}{} // never blocks: the slot was idle
}

// sendLoop is the second goroutine of a lane, for large calls. It signals the receiving one, even if
// Send panics.
func (sl *slot) sendLoop() {
	for range sl.wake {
		func() {
			defer signal(sl.sendDone)
			sl.send()
		}()
	}
}

// handleReply hands a request's sample off. It returns true if a waiting arrival has taken the slot
// and must be sent.
func (op *open) handleReply(sl *slot) (again bool) {
	free := sl
	if op.o.Sequences != nil {
		free = op.primary(sl)
		op.finishSequenceStep(free, sl)
	} else {
		op.finish(sl)
		if sl.pool.backlog.nonEmpty() {
			if op.awaitSendReturn(sl); op.takeWaiting(sl) {
				return true
			}
		}
	}
	sl.floor.Store(never)
	op.endRequest()
	op.release(free)
	return false
}

// release makes a slot idle and wakes the pacer if it waits for one. The pacer looks at the ring
// again after it has announced that it waits, so no slot is missed.
func (op *open) release(sl *slot) {
	sl.pool.idle.push(sl)
	if op.pacerWaits.Load() && op.pacerWaits.CompareAndSwap(true, false) {
		op.wakePacer()
	}
}

func (op *open) wakePacer() { signal(op.slotFreed) }
