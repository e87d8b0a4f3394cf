package measure

import (
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// Limits of the samples of a node: 5 MB of plain samples, independent of the number of lanes.
const (
	budget     = 16 << 10
	minPerLane = 4
	maxPerLane = 4096
	// eventBudget limits the events of all samples of a node: 16 MB.
	eventBudget = 1 << 20
)

// Rings hands samples over; a lane is room for one request at a time. Each lane has one ring of
// finished samples and one of empty ones, each with a single producer and a single consumer. Rings
// implements drive's Handoff. It does not lock, block or allocate after NewRings.
type Rings struct{ lanes []lane }

// lane holds the rings of one lane. Producer and consumer: full lane → folder, empty folder → pacer
// or lane. An unused buffer is taken only if no used one has come back, so that only as many are in
// the cache as the time between two drains needs.
type lane struct {
	full, empty ring
	unused      []backends.Sample // used by the caller of Get
	// eventBuffers carry events of unfinished requests: lane → full, folder → eventBuffers.
	eventBuffers ring
}

// NewRings makes buffers for lanes lanes. perLane 0 divides the budget of 16 Ki samples per node,
// at least 4 and at most 4,096 per lane, fewer if their events exceed eventBudget. events is the
// capacity of each sample's Events (0: replies come in one piece).
func NewRings(lanes, perLane, events int) *Rings {
	if perLane <= 0 {
		samples := budget
		if events > 0 {
			samples = min(samples, eventBudget/events)
		}
		perLane = min(max(samples/max(lanes, 1), minPerLane), maxPerLane)
	}
	parts := 0 // buffers of a lane for parts of requests
	if events > 0 {
		// 4 MB of events in all, and on one lane no more than come between two drains from the fastest
		// stream
		parts = max(min((1<<18)/(lanes*events), (16<<10)/events), 2)
	}
	r := &Rings{lanes: make([]lane, lanes)}
	unused := make([]backends.Sample, lanes*perLane) // one piece of memory: smaller ones begin within a line of the cache
	for i := range r.lanes {
		l := &r.lanes[i]
		l.full.init(perLane + parts)
		l.empty.init(perLane)
		l.unused, unused = unused[:perLane], unused[perLane:]
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

// PutEvents takes the events of s, an unfinished request, and gives it empty ones. It returns false
// if the folder is behind.
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

// Get returns an empty buffer for lane, already reset, nil if the folder is behind.
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

// ring is a queue of one producer and one consumer that is never full: each of a lane's rings has
// room for all its buffers. So push does not check head, head belongs to the consumer alone, and
// tail is the only shared word. A slot is not overwritten before it was read: capacity entries
// later at least one buffer has come back through the other ring.
type ring struct {
	tail  atomic.Uint64 // next to write
	mask  uint64
	slots []*backends.Sample
	_     [24]byte // the consumer has its own cache line
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
