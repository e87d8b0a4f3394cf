package drive

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// Closed keeps p.Slots(t) requests in flight, as far as there is room on the lanes. Each slot has a goroutine, the worker, and
// a place on a lane of each pool: it sends on the lane of its turn's pool, receives, hands the sample off, pauses if the turn
// says so, and sends again. A request's due time is when its slot became free, or the pause was over, so that latency is service
// time. A send may block there, whatever the limits say: the one request of a slot keeps nobody waiting.
//
// The profile is followed as replies come and as the supervisor looks: a slot that is closed ends with its reply, one that
// is opened begins within one scan.
func Closed(ctx context.Context, p load.Profile, src feed.Source, pools []Pool, out Handoff, c *Control, o Options) Played {
	cl := &closed{profile: p, src: src}
	cl.init(&o, c, out, pools, 0)
	cl.n = int(cl.pools[0].count.Load())
	for i := range cl.pools { // a target whose connections are shared has fewer
		cl.n = min(cl.n, int(cl.pools[i].count.Load()))
	}
	cl.onScan, cl.onHalt = cl.openSlots, cl.wakeAll
	if steps, ok := p.(*Steps); ok {
		cl.steps, cl.told, cl.onPart = steps, make([]bool, cl.n), cl.progress
	}
	cl.senders.Store(int32(cl.n))
	workers := make([]worker, cl.n)
	for i := range workers {
		cl.slots[i].floor.Store(o.Start)
		workers[i] = worker{closed: cl, home: &cl.slots[i]}
	}
	if len(pools) == 1 && pools[0].Limits.BlocksThread && o.Sequences == nil && cl.steps == nil {
		for _, l := range cl.pools[0].lines {
			l.goOn = func(sl *slot) bool { return workers[sl.index].goOn(sl) }
		}
	}
	cl.read()
	for i := range workers {
		cl.spawn(workers[i].work)
	}
	cl.supervise(ctx)
	cl.closeLanes()
	cl.rethrow()
	played := Played{Lanes: cl.lanes(), PeakInFlight: c.Peak.Load()}
	for i := range workers {
		workers[i].addTo(&played)
	}
	cl.addTo(&played)
	played.Planned = played.Sent
	return played
}

// closed is the state that its workers share.
type closed struct {
	player
	profile load.Profile
	src     feed.Source
	n       int           // slots: those of a pool
	next    atomic.Uint64 // number of the next request
	shut    atomic.Bool   // no more sequences begin; those that are open go on

	steps *Steps // the profile, if it is one
	told  []bool // by slot, of its worker: its request has had its share of responses
}

// dialPause is how long a slot waits after a connection that was refused, ns. Without it a server that is gone gets tens of
// thousands of attempts a second, and the client drowns in its own failures; with it each slot still finds the server within
// 10 ms of its return. An open loop has its schedule.
const dialPause = int64(10 * time.Millisecond)

// worker plays one slot. The padding keeps counters of neighbours apart.
type worker struct {
	*closed
	home                 *slot // in the first pool: its floor is that of the whole slot, and it is woken there
	turn                 feed.Turn
	timer                *time.Timer // of long pauses
	alarm                *alarm      // of short ones; nil: there was none yet
	broke                bool        // its sequence could not go on: what that leaves undone may be there for another
	spent                bool        // nothing follows the request that the reader of its line has ended
	replied              int64       // when the server completed the reply that the next request follows at once; 0: unknown
	sent, warmed, paused int64
	_                    [64]byte
}

func (w *worker) addTo(p *Played) {
	p.Sent += w.sent
	p.WarmSent += w.warmed
	p.Paused += w.paused
}

func (w *worker) work() {
	defer w.ended()
	defer w.rest()
	w.play()
	w.closeSequence()
	w.home.floor.Store(never) // not after a panic: the reader of its line may still hand off what it has in flight
}

func (w *worker) play() {
	if ahead := w.o.Start - w.o.Clock.Now(); ahead > 0 {
		w.sleep(ahead)
	}
	ready := int64(0)
	for {
		due, ok := w.admitted(ready)
		if !ok {
			return
		}
		if sl := w.begin(due, nil); sl == nil || !w.end(sl) {
			return
		}
		if w.steps != nil {
			w.share(w.home.index)
			return
		}
		ready = 0
		if w.turn.Think > 0 {
			ready = w.pause(w.turn.Think)
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
// request is due, which is ready (0: now) if it has one at once. False: the end.
func (w *worker) admitted(ready int64) (due int64, ok bool) {
	for !w.halt.Load() && w.over.Load() == 0 && (w.home.live.open || w.broke || !w.shut.Load()) {
		now := w.o.Clock.Now()
		due = now
		if ready != 0 {
			due = ready
		}
		if due >= w.c.StopAt.Load() {
			return 0, false
		}
		if w.home.index < w.profile.Slots(now-w.o.Start) {
			return due, true
		}
		ready, w.replied = 0, 0
		w.closeSequence()
		// A due time to come is later than the scan that reads never here.
		w.home.floor.Store(never)
		w.home.parked.Store(true)
		<-w.home.wake
		w.home.parked.Store(false)
		w.home.floor.Store(w.o.Clock.Now())
	}
	return 0, false
}

// begin sends a request with the sample s; nil: it gets one. From then on the worker is its reader's, where it has one. Nil:
// nothing more is to be sent on this slot.
func (w *worker) begin(due int64, s *backends.Sample) *slot {
	k := w.next.Add(1) - 1
	a := arrival{n: w.o.Shard.Number(k), due: due, free: due}
	var ok bool
	if a.flags, ok = w.admit(w.home, k, due); !ok {
		w.nothingMore(w.o.Sequences != nil && w.o.Sequences.CountsLimit)
		return nil
	}
	if !w.src.Next(w.home.live.number, a.n, &w.turn) {
		w.nothingMore(w.o.Sequences != nil)
		return nil
	}
	if w.replied != 0 {
		a.free, a.flags, w.replied = w.replied, a.flags|backends.Followed, 0
	}
	sl := &w.pools[w.turn.Pool].slots[w.home.index]
	if s == nil {
		if s = w.buffer(sl); s == nil {
			return nil
		}
	}
	w.count(a)
	w.take(sl, a, s, &w.turn)
	if sl != w.home {
		w.home.floor.Store(due)
	}
	sl.send()
	return sl
}

// end waits for a request's reply and hands it off, or has its line's reader do so. False: nothing more is to be sent on this
// slot.
func (w *worker) end(sl *slot) bool {
	switch answered := sl.receive(); {
	case answered && sl.line.goOn != nil:
		return !w.spent
	case answered:
		w.settle(sl)
		return true
	}
	if sl != w.home {
		sl.floor.Store(never)
	}
	w.leave()
	return false
}

// settle hands an answered request off.
func (w *worker) settle(sl *slot) {
	think := w.turn.Think
	if class := sl.sample.Class; class == backends.Dial || class == backends.TLS {
		think = max(think, dialPause)
	}
	w.replied = 0
	if sl.pool.inProcess && think == 0 && sl.sample.Class == backends.OK {
		w.replied = sl.sample.LastByte
	}
	w.broke = sl.fields.Sequence != 0 && fateOf(sl.sample, &sl.fields).undone()
	w.conclude(sl, w.src, &w.turn)
	w.turn.Think = think
	if sl != w.home {
		sl.floor.Store(never)
	}
	w.leave()
}

// goOn is end and the next begin, by the reader of the slot's line. False: what follows has to wait for something, or nothing
// does: that is for the worker itself, from end on.
func (w *worker) goOn(sl *slot) bool {
	w.settle(sl)
	now := w.o.Clock.Now()
	if w.turn.Think > 0 || w.halt.Load() || w.over.Load() != 0 || now >= w.c.StopAt.Load() || sl.index >= w.profile.Slots(now-w.o.Start) {
		return false
	}
	s := w.out.Get(sl.index)
	if s == nil {
		return false
	}
	w.spent = w.begin(now, s) == nil
	return !w.spent
}

// closeSequence ends what the slot is in the middle of, when it sends nothing more, or for a while.
func (w *worker) closeSequence() {
	if w.home.live.open {
		w.c.InFlight.Add(1)
		w.closeOpen(w.home, w.src, &w.turn)
		w.leave()
	}
}

func (w *worker) count(a arrival) {
	w.c.enter()
	if a.flags&backends.Warmup != 0 {
		w.warmed++
	} else {
		w.sent++
	}
}

// buffer gets an empty sample; nil when the run was halted before there was one.
func (w *worker) buffer(sl *slot) *backends.Sample {
	s := w.out.Get(sl.index)
	if s != nil {
		return s
	}
	w.paused++
	for s == nil && !w.halt.Load() {
		time.Sleep(coarse)
		s = w.out.Get(sl.index)
	}
	return s
}

// nothingMore ends all workers, those whose slot is closed too. With gently those that are in the middle of a sequence go
// on to its end.
func (cl *closed) nothingMore(gently bool) {
	if gently {
		cl.shut.Store(true)
	} else {
		cl.exhausted()
	}
	cl.wakeAll()
}

// openSlots lets those workers look again whose slot the profile has opened; at the stop, all.
func (cl *closed) openSlots(now int64) {
	if now >= cl.c.StopAt.Load() {
		cl.wakeAll()
		return
	}
	open := cl.profile.Slots(now - cl.o.Start)
	for i := range cl.slots[:max(min(open, cl.n), 0)] {
		if cl.slots[i].parked.Load() {
			cl.rouse(i)
		}
	}
}

func (cl *closed) wakeAll() {
	for i := range cl.n {
		cl.rouse(i)
	}
}

func (cl *closed) rouse(i int) {
	select {
	case cl.slots[i].wake <- struct{}{}:
	default:
	}
}
