package measure

import (
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// Sample budget of a node: 3 MB of plain samples, whatever the number of lanes.
const (
	budget     = 16 << 10
	minPerLane = 4
	maxPerLane = 4096
	// eventBudget is how many events all samples of a node hold: 16 MB.
	eventBudget = 1 << 20
)

// Rings is where samples change hands, a lane being room for one request at a time: per lane one ring of finished samples and one of empty ones, each with a single
// producer and a single consumer. It is drive's Handoff. Nothing here locks, blocks or allocates after NewRings.
type Rings struct {
	lanes   []lane
	perLane int
}

// lane is one lane's two rings. Producer and consumer: full lane → folder, empty folder → pacer or lane. A buffer that was
// never used is taken only when no used one has come back, so that no more of them are warm in the cache than the time
// between two drains needs.
type lane struct {
	full, empty ring
	unused      []backends.Sample // of the one who gets
	// spare are the buffers that carry events away from requests that go on: lane → full, folder → spare.
	eventBuffers ring
}

// spares is how many buffers for parts a lane has: 4 MB of events in all, and on one lane no more than come between two
// drains even of the fastest stream.
func eventBufferCount(lanes, events int) int {
	if events == 0 {
		return 0
	}
	return max(min((1<<18)/(lanes*events), (16<<10)/events), 2)
}

// NewRings makes buffers for lanes lanes. perLane 0 takes the budget of 16 Ki samples for the node, at least 4 and at
// most 4,096 a lane, and fewer where their events would be too many; events is the capacity of each sample's Events (0: replies come in one piece).
func NewRings(lanes, perLane, events int) *Rings {
	if perLane <= 0 {
		samples := budget
		if events > 0 {
			samples = min(samples, eventBudget/events)
		}
		perLane = min(max(samples/max(lanes, 1), minPerLane), maxPerLane)
	}
	parts := eventBufferCount(lanes, events)
	r := &Rings{lanes: make([]lane, lanes), perLane: perLane}
	for i := range r.lanes {
		l := &r.lanes[i]
		l.full.init(perLane + parts)
		l.empty.init(perLane)
		l.unused = make([]backends.Sample, perLane)
		if events == 0 {
			continue
		}
		for j := range l.unused {
			l.unused[j].Events = make([]backends.Event, 0, events)
		}
		l.eventBuffers.init(parts)
		for range parts {
			l.eventBuffers.push(&backends.Sample{Events: make([]backends.Event, 0, events)})
		}
	}
	return r
}

// Part takes the events of s, a request that goes on, in exchange for empty ones. False: the folder is behind.
func (r *Rings) PutEvents(lane int, s *backends.Sample) bool {
	l := &r.lanes[lane]
	p := l.eventBuffers.pop()
	if p == nil {
		return false
	}
	p.Due, p.N, p.Lane, p.Slot, p.Gen, p.Entry = s.Due, s.N, s.Lane, s.Slot, s.Gen, s.Entry
	p.Flags = s.Flags | backends.Partial
	p.Events, s.Events = s.Events, p.Events[:0]
	l.full.push(p)
	return true
}

// Get takes an empty buffer for lane, already reset; nil when the folder is behind.
func (r *Rings) Get(lane int) *backends.Sample {
	l := &r.lanes[lane]
	if s := l.empty.pop(); s != nil {
		s.Reset()
		return s
	}
	if len(l.unused) == 0 {
		return nil
	}
	s := &l.unused[0]
	l.unused = l.unused[1:]
	return s
}

// Put hands over a finished sample.
func (r *Rings) Put(lane int, s *backends.Sample) { r.lanes[lane].full.push(s) }

// ring is a queue of one producer and one consumer that is never full: a lane's buffers all fit into each of its rings.
// So push needs no look at head, head belongs to the consumer alone, and tail is the only shared word. A slot is not
// overwritten before it was read: capacity entries later at least one buffer has come round through the other ring.
type ring struct {
	tail  atomic.Uint64 // next to write
	mask  uint64
	slots []*backends.Sample
	_     [24]byte // the consumer's line is its own
	head  uint64   // next to read
	_     [56]byte
}

func (r *ring) init(n int) {
	size := 1
	for size < n {
		size <<= 1
	}
	r.slots, r.mask = make([]*backends.Sample, size), uint64(size-1)
}

func (r *ring) push(s *backends.Sample) {
	t := r.tail.Load()
	r.slots[t&r.mask] = s
	r.tail.Store(t + 1)
}

func (r *ring) pop() *backends.Sample {
	if r.head == r.tail.Load() {
		return nil
	}
	s := r.slots[r.head&r.mask]
	r.head++
	return s
}
