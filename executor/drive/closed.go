package drive

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// Closed keeps p.Slots(t) requests in flight, as far as there are lanes. Each lane's goroutine is the worker: it sends,
// receives, hands the sample off and sends again. A request's due time is when its slot became free, so that latency is
// service time. A send may block there, whatever the limits say: the one request of a lane keeps nobody waiting.
func Closed(ctx context.Context, p load.Profile, src feed.Source, pools []Pool, out Handoff, c *Control, o Options) Played {
	cl := &closed{profile: p, src: src}
	lanes := pools[0].Lanes
	cl.init(&o, c, out, lanes, 0)
	cl.onScan, cl.onHalt = cl.openSlots, cl.wakeAll
	cl.senders.Store(int32(len(lanes)))
	workers := make([]worker, len(lanes))
	for i := range workers {
		cl.slots[i].floor.Store(o.Start)
		workers[i] = worker{closed: cl, slot: &cl.slots[i]}
		cl.group.Go(workers[i].work)
	}
	cl.supervise(ctx)
	cl.closeLanes()
	played := Played{Lanes: len(lanes)}
	for i := range workers {
		workers[i].addTo(&played)
	}
	played.Planned = played.Sent
	return played
}

// closed is the state that its workers share.
type closed struct {
	player
	profile load.Profile
	src     feed.Source
	next    atomic.Uint64 // number of the next request
	held    atomic.Int64  // requests of hold that were begun
}

// worker plays one lane. The padding keeps counters of neighbours apart.
type worker struct {
	*closed
	slot                 *slot
	turn                 feed.Turn
	sent, warmed, paused int64
	peak                 int64
	_                    [64]byte
}

func (w *worker) addTo(p *Played) {
	p.Sent += w.sent
	p.WarmSent += w.warmed
	p.Paused += w.paused
	p.PeakInFlight = max(p.PeakInFlight, w.peak)
}

func (w *worker) work() {
	defer w.ended()
	defer w.slot.floor.Store(never)
	if ahead := w.o.Start - w.o.Clock.Now(); ahead > 0 {
		w.sleep(ahead)
	}
	for {
		if due, ok := w.admitted(); !ok || !w.request(due) {
			return
		}
	}
}

// sleep waits for the start, in steps so that a stop is seen.
func (w *worker) sleep(ahead int64) {
	for ahead > 0 && !w.halt.Load() {
		time.Sleep(min(time.Duration(ahead), scanPeriod))
		ahead = w.o.Start - w.o.Clock.Now()
	}
}

// admitted waits while the profile has no place for this slot, and gives the time at which it has one: when the next
// request is due. False: the end.
func (w *worker) admitted() (due int64, ok bool) {
	for !w.halt.Load() && w.over.Load() == 0 {
		now := w.o.Clock.Now()
		if now >= w.c.StopAt.Load() {
			return 0, false
		}
		if w.slot.index < w.profile.Slots(now-w.o.Start) {
			return now, true
		}
		// A due time to come is later than the scan that reads never here.
		w.slot.floor.Store(never)
		<-w.slot.wake
		w.slot.floor.Store(w.o.Clock.Now())
	}
	return 0, false
}

// request plays one request from due to Put. False: nothing more is to be sent on this lane.
func (w *worker) request(due int64) bool {
	k := w.next.Add(1) - 1
	a := arrival{n: w.o.Shard.Number(k), due: due, free: due}
	if w.warm(k, due) {
		a.flags = backends.Warmup
	} else if w.o.Limit > 0 && w.held.Add(1) > w.o.Limit {
		w.nothingMore()
		return false
	}
	if !w.src.Next(w.slot.index, a.n, &w.turn) {
		w.nothingMore()
		return false
	}
	s := w.buffer()
	if s == nil {
		return false
	}
	w.tally(a)
	w.take(w.slot, a, s, &w.turn)
	w.slot.send()
	answered := w.slot.receive()
	if answered {
		w.finish(w.slot)
	}
	w.leave()
	return answered
}

func (w *worker) tally(a arrival) {
	w.peak = max(w.peak, w.c.InFlight.Add(1))
	if a.flags&backends.Warmup != 0 {
		w.warmed++
	} else {
		w.sent++
	}
}

// buffer gets an empty sample; nil when the run was halted before there was one.
func (w *worker) buffer() *backends.Sample {
	s := w.out.Get(w.slot.index)
	if s != nil {
		return s
	}
	w.paused++
	for s == nil && !w.halt.Load() {
		time.Sleep(coarse)
		s = w.out.Get(w.slot.index)
	}
	return s
}

// nothingMore ends all workers, those whose slot is closed too.
func (cl *closed) nothingMore() {
	cl.exhausted()
	cl.wakeAll()
}

// openSlots lets those workers look again whose slot the profile has opened; at the stop, all.
func (cl *closed) openSlots(now int64) {
	open := cl.profile.Slots(now - cl.o.Start)
	if now >= cl.c.StopAt.Load() {
		open = len(cl.slots)
	}
	for i := range cl.slots[:min(open, len(cl.slots))] {
		cl.rouse(i)
	}
}

func (cl *closed) wakeAll() {
	for i := range cl.slots {
		cl.rouse(i)
	}
}

func (cl *closed) rouse(i int) {
	select {
	case cl.slots[i].wake <- struct{}{}:
	default:
	}
}
