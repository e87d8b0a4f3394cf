package drive

import (
	"context"
	"sync/atomic"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// Closed keeps p.Slots(t) requests in flight, as far as the lanes have room. Each slot has a
// goroutine, the worker, and a place on a lane of each pool. The worker sends on the lane of its
// turn's pool, receives, hands the sample off, thinks if the turn says so, and sends again. A
// request is due when its slot became free or its think time ended, so that latency is service
// time. A send may block whatever the limits say: a slot's only request delays no other.
//
// The profile is followed with each reply and each scan of the supervisor: a slot that the profile
// closes ends with its reply, a slot that it opens begins within one scan.
func Closed(ctx context.Context, p load.Profile, src feed.Source, pools []Pool, out Handoff, c *Control,
	o Options,
) Played {
	cl := &closed{profile: p}
	cl.init(&o, c, src, out, pools)
	cl.slotCount = int(cl.pools[0].attached.Load())
	for i := range cl.pools { // a pool with shared lanes may have fewer slots
		cl.slotCount = min(cl.slotCount, int(cl.pools[i].attached.Load()))
	}
	cl.onScan, cl.onHalt = cl.openSlots, cl.wakeAll
	if steps, ok := p.(*Steps); ok {
		cl.steps, cl.served, cl.onProgress = steps, make([]bool, cl.slotCount), cl.checkProgress
	}
	cl.senders.Store(int32(cl.slotCount))
	workers := make([]worker, cl.slotCount)
	for i := range workers {
		cl.slots[i].floor.Store(o.Start)
		workers[i] = worker{closed: cl, primary: &cl.slots[i]}
	}
	if len(pools) == 1 && pools[0].Limits.BlocksThread && o.Sequences == nil && cl.steps == nil {
		for _, l := range cl.pools[0].muxes {
			l.onReply = func(sl *slot) bool { return workers[sl.index].sendFollowing(sl) }
		}
	}
	cl.startReaders()
	for i := range workers {
		cl.spawn(workers[i].run)
	}
	supervise(ctx, &cl.player)
	cl.closeLanes()
	cl.rethrow()
	played := Played{PeakInFlight: c.Peak.Load()}
	for i := range workers {
		workers[i].addTo(&played)
	}
	cl.addTo(&played)
	played.Planned = played.Sent
	return played
}

// closed is the state that the workers share.
type closed struct {
	player
	profile          load.Profile
	slotCount        int           // slots of each pool
	nextNumber       atomic.Uint64 // of the next request
	beginsNoSequence atomic.Bool   // no sequence begins any more; open ones go on

	steps  *Steps // the profile if it is of this type, else nil
	served []bool // by slot: its request has received its responses; written by the slot's worker
}

// stopSending ends all workers, those of closed slots too. With finishSequences, workers within a
// sequence play it to its end.
func (cl *closed) stopSending(finishSequences bool) {
	if finishSequences {
		cl.beginsNoSequence.Store(true)
	} else {
		cl.markExhausted()
	}
	cl.wakeAll()
}

// openSlots wakes the workers whose slots the profile has opened; after the stop, all.
func (cl *closed) openSlots(now int64) {
	if now >= cl.c.StopAt.Load() {
		cl.wakeAll()
		return
	}
	open := cl.profile.Slots(now - cl.o.Start)
	for i := range cl.slots[:max(min(open, cl.slotCount), 0)] {
		if cl.slots[i].awaitsProfile.Load() {
			signal(cl.slots[i].wake)
		}
	}
}

func (cl *closed) wakeAll() {
	for i := range cl.slotCount {
		signal(cl.slots[i].wake)
	}
}

// Steps is the profile of a closed loop that grows with the responses: it begins with some slots,
// and each time that every open slot has received a number of responses, more are opened, up to a
// maximum. Each slot sends one request; one that ends earlier counts as served. When all have
// ended, so has the load.
type Steps struct {
	open       atomic.Int64
	served     atomic.Int64 // slots whose request has received its responses, or has ended
	most, step int64
	responses  uint32
}

// NewSteps returns a profile that begins with from slots and opens step more, up to most, whenever
// every open slot has received responses responses. It serves one play.
func NewSteps(from, most, step, responses int) *Steps {
	s := &Steps{most: int64(most), step: int64(step), responses: uint32(responses)}
	s.open.Store(int64(from))
	return s
}

// Slots returns how many slots are open now.
func (s *Steps) Slots(int64) int { return int(s.open.Load()) }

// countServed counts one more served slot and reports whether slots were opened.
func (s *Steps) countServed() bool {
	open := s.open.Load()
	if s.served.Add(1) < open || open >= s.most {
		return false
	}
	s.open.Store(min(open+s.step, s.most))
	return true
}

// checkProgress counts a slot as served if its unfinished request has received enough responses.
func (cl *closed) checkProgress(sl *slot) {
	if sl.sample.Responses >= cl.steps.responses {
		cl.markServed(sl.index - sl.pool.firstIndex)
	}
}

// markServed counts a slot as served, once. Called by its worker.
func (cl *closed) markServed(index int) {
	if cl.served[index] {
		return
	}
	cl.served[index] = true
	if cl.steps.countServed() {
		cl.openSlots(cl.now())
	}
}
