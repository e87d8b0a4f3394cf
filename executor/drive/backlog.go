package drive

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// maxBacklog limits the arrivals that wait for one pool beside those in flight (about 8 MB); at the
// limit the pacer itself waits.
const maxBacklog = 1 << 16

// backlog holds the arrivals of an open loop that found no idle slot in their pool while other
// pools may have one: the pacer goes on with what is due for those. First in, first out: whoever
// frees a slot of the pool sends the oldest arrival on it.
//
//	pacer   no slot idle        → push, then look again, as a slot may have become idle meanwhile
//	lane    reply received      → pop and send in its own goroutine; else the slot becomes idle
//	pacer   while it waits      → idle slots (new, or missed by the two above) take waiting arrivals
//
// A single pool has no backlog (nil): its pacer waits, as nothing else could be sent, so no lock is
// needed.
type backlog struct {
	count atomic.Int32 // length of list, so that an empty backlog takes no lock
	mu    sync.Mutex
	list  []waitingArrival // in ascending order of due
}

// waitingArrival is an arrival that waits for a slot.
type waitingArrival struct {
	arrival
	turn feed.Turn
	full bool // the pool had all the lanes it may have: the wait is the server's, not the client's
}

// nonEmpty reports whether an arrival waits.
func (b *backlog) nonEmpty() bool { return b != nil && b.count.Load() > 0 }

// push adds an arrival.
func (b *backlog) push(h waitingArrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(append(b.list, h))
}

// set changes the list; the caller holds mu.
func (b *backlog) set(list []waitingArrival) {
	b.list = list
	b.count.Store(int32(len(list)))
}

// pop removes the oldest arrival for sl. It lowers sl's floor to the due time before the arrival
// leaves the list.
func (b *backlog) pop(sl *slot) (h waitingArrival, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		return waitingArrival{}, false
	}
	h = b.list[0]
	sl.floor.Store(h.due)
	b.set(b.list[1:]) // append reallocates when the capacity is used up
	return h, true
}

// pushFront puts back an arrival that pop returned.
func (b *backlog) pushFront(h waitingArrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(slices.Insert(b.list, 0, h))
}

// countBefore counts the arrivals with a due time before due, of one entry of the mix or, with -1,
// of all.
func (b *backlog) countBefore(due int64, entry int) (n int64) {
	if !b.nonEmpty() {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// by search: the pacer and the lanes wait for the lock
	at, _ := slices.BinarySearchFunc(b.list, due, func(h waitingArrival, due int64) int {
		return cmp.Compare(h.due, due)
	})
	if entry < 0 {
		return int64(at)
	}
	for i := range b.list[:at] {
		if int(b.list[i].turn.Call.Entry) == entry {
			n++
		}
	}
	return n
}

// oldestDue returns the first due time, never if nothing waits.
func (b *backlog) oldestDue() int64 {
	if b.nonEmpty() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.list) > 0 {
			return b.list[0].due
		}
	}
	return never
}

// takeWaiting makes the oldest waiting arrival of sl's pool the request in flight of sl, which
// already counts as in flight. It returns false if nothing waits or nothing is sent any more.
func (op *open) takeWaiting(sl *slot) bool {
	b := sl.pool.backlog
	if !b.nonEmpty() || op.halt.Load() {
		return false
	}
	h, ok := b.pop(sl)
	if !ok {
		return false
	}
	s := op.emptySample(sl, bufferRetry)
	if s == nil {
		b.pushFront(h)
		return false
	}
	if h.full {
		h.free = max(h.due, op.now())
	}
	op.take(sl, h.arrival, s, &h.turn)
	if op.pacerWaits.Load() && op.pacerWaits.CompareAndSwap(true, false) {
		op.wakePacer() // the backlog has room for one more
	}
	return true
}

// pushBacklog queues an arrival for its pool while the pacer goes on. It returns false if the pacer
// itself has to wait.
func (p *pacer) pushBacklog(g *pool, a arrival, full bool) bool {
	if g.backlog == nil || g.backlog.count.Load() >= maxBacklog {
		return false
	}
	// before the push, so that the arrival is not counted both as waiting and as not yet due
	p.c.Sent.Add(1)
	a.queued = true
	g.backlog.push(waitingArrival{arrival: a, turn: p.turn, full: full})
	if a.flags&backends.Warmup == 0 && !full && a.due < p.poolFreeAt {
		p.WaitedPool++ // behind arrivals that waited for a slot
	}
	p.sendBacklogs()
	return true
}

// sendBacklogs sends waiting arrivals on slots that are idle nevertheless, and reports whether any
// still wait.
func (p *pacer) sendBacklogs() (waiting bool) {
	for i := range p.pools {
		g := &p.pools[i]
		for g.backlog.nonEmpty() && !p.halt.Load() && p.c.InFlight.Load() < p.maxInFlight {
			sl := g.idle.pop()
			if sl == nil {
				break
			}
			p.c.beginRequest()
			if !p.takeWaiting(sl) {
				p.c.InFlight.Add(-1)
				sl.floor.Store(never)
				g.idle.push(sl)
				break
			}
			p.dispatch(sl)
		}
		if g.backlog.nonEmpty() {
			waiting = true
			g.considerGrowth()
		}
	}
	return waiting
}

// discardBacklogs counts the arrivals that were never sent as dropped. All goroutines have ended.
func (p *pacer) discardBacklogs() {
	for i := range p.pools {
		b := p.pools[i].backlog
		if b == nil {
			continue
		}
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
