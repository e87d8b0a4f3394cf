package drive

import (
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// mostHeld is how many arrivals wait for a pool beside those in flight (some 8 MB); with more the pacer waits for it.
const mostHeld = 1 << 16

// backlog holds the arrivals of an open loop that found no idle slot in their pool while other pools may have some: the
// pacer goes on with what is due for those. First in, first out: who frees a slot of the pool sends the oldest on it.
//
//	pacer   no slot idle        → push, then look again, as a slot may have become idle meanwhile
//	lane    answered            → pop, and send in its own goroutine; nothing there: the slot is idle
//	pacer   while it waits      → idle slots (opened, or missed by the two above) take what waits
//
// A pool that is alone has none (nil): its pacer waits, as nothing else could be sent, and so nothing is locked.
type backlog struct {
	count  atomic.Int32 // length, so that nobody locks for nothing
	paused atomic.Int64 // that waited for an empty sample buffer
	mu     sync.Mutex
	list   []held // ascending by due
}

// held is an arrival that waits for a slot.
type held struct {
	arrival
	turn feed.Turn
	full bool // its pool had as many lanes as it may have: the wait is for the server, and not for the client
}

// waits reports whether there is anything.
func (b *backlog) waits() bool { return b != nil && b.count.Load() > 0 }

// push is false where b holds as many as it may, or there is none.
func (b *backlog) push(h held) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) >= mostHeld {
		return false
	}
	b.list = append(b.list, h)
	b.count.Store(int32(len(b.list)))
	return true
}

// pop takes the oldest for sl, whose floor it becomes before it is missing here.
func (b *backlog) pop(sl *slot) (h held, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		return held{}, false
	}
	h = b.list[0]
	sl.floor.Store(h.due)
	b.list = b.list[1:] // append moves what is left when the room is used up
	b.count.Store(int32(len(b.list)))
	return h, true
}

// unpop puts back what pop gave.
func (b *backlog) unpop(h held) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append([]held{h}, b.list...)
	b.count.Store(int32(len(b.list)))
}

// older is how many were due before due, of one entry of the mix; -1: of all.
func (b *backlog) older(due int64, entry int) (n int64) {
	if !b.waits() {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	early := b.list[:sort.Search(len(b.list), func(i int) bool { return b.list[i].due >= due })]
	if entry < 0 {
		return int64(len(early))
	}
	for i := range early {
		if int(early[i].turn.Call.Entry) == entry {
			n++
		}
	}
	return n
}

// oldest is the first due time, never when nothing waits.
func (b *backlog) oldest() int64 {
	if !b.waits() {
		return never
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		return never
	}
	return b.list[0].due
}

// resume makes the oldest arrival that waits for sl's pool its request in flight, which counts as such already. False:
// there is none, or nothing is sent any more.
func (op *open) resume(sl *slot) bool {
	b := sl.pool.backlog
	if !b.waits() || op.halt.Load() {
		return false
	}
	h, ok := b.pop(sl)
	if !ok {
		return false
	}
	s := op.out.Get(sl.index)
	if s == nil {
		b.paused.Add(1)
	}
	for s == nil && !op.halt.Load() {
		nap(int64(retry))
		s = op.out.Get(sl.index)
	}
	if s == nil {
		b.unpop(h)
		return false
	}
	if h.full {
		h.free = max(h.due, op.o.Clock.Now())
	}
	op.take(sl, h.arrival, s, &h.turn)
	if op.waiting.Load() && op.waiting.CompareAndSwap(true, false) {
		op.wakePacer() // there is room for one more
	}
	return true
}

// dispatch puts a slot's request on the wire, without blocking where the lane has a goroutine for that.
func (op *open) dispatch(sl *slot) {
	if inline := sl.pool.inline; inline > 0 && sl.call.Size <= inline {
		sl.send()
		return
	}
	op.handOver(sl)
}

// park lets an arrival wait for its pool while the pacer goes on. False: the pacer has to wait.
func (p *pacer) park(g *pool, a arrival, full bool) bool {
	a.parked = true
	if g.backlog == nil || g.backlog.count.Load() >= mostHeld {
		return false
	}
	p.c.Sent.Add(1) // before it is in the backlog, so that nobody sees it there and among those to come
	if !g.backlog.push(held{arrival: a, turn: p.turn, full: full}) {
		p.c.Sent.Add(-1)
		return false
	}
	if a.flags&backends.Warmup == 0 && !full && a.due < p.poolFree {
		p.WaitedPool++ // behind those that waited for a place
	}
	p.match()
	return true
}

// match gives what waits to slots that are idle all the same, and reports whether anything still waits.
func (p *pacer) match() (waits bool) {
	for i := range p.pools {
		g := &p.pools[i]
		for g.backlog.waits() && !p.halt.Load() && p.c.InFlight.Load() < p.most {
			sl := g.idle.pop()
			if sl == nil {
				break
			}
			p.c.enter()
			if !p.resume(sl) {
				p.c.InFlight.Add(-1)
				sl.floor.Store(never)
				g.idle.push(sl)
				break
			}
			p.dispatch(sl)
		}
		if g.backlog.waits() {
			waits = true
			p.considerGrowth(g)
		}
	}
	return waits
}

// settle lets what waits be sent when nothing more becomes due.
func (p *pacer) settle() {
	p.pending.Store(never)
	for p.match() && !p.halt.Load() {
		nap(int64(napMost))
	}
}

// unsettled takes back what was never sent. All goroutines have ended.
func (p *pacer) unsettled() {
	for i := range p.pools {
		b := p.pools[i].backlog
		if b == nil {
			continue
		}
		p.Paused += b.paused.Load()
		for _, h := range b.list {
			p.c.Sent.Add(-1)
			if h.flags&backends.Warmup != 0 {
				p.WarmSent--
				continue
			}
			p.Sent--
			p.DroppedStop++
		}
	}
}
