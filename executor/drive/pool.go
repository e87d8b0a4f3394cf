package drive

import (
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// pool is the slots of one target. With shared lanes slot i is on lane i modulo their number, so
// that few slots spread over all of them; the slots of one sequence are adjacent on one lane.
type pool struct {
	Pool
	player     *player
	slots      []slot       // part of the player's slots
	firstIndex int          // index of slots[0] among all slots
	attached   atomic.Int32 // slots[:count] have a lane
	muxes      []*mux       // of shared lanes
	// calls up to this size are sent by the pacer, larger ones by a goroutine of their lane
	inline         int
	idle           *ring[slot] // of an open loop
	arrivalsWaited int64       // arrivals that waited for a slot of this pool; used by the pacer
	grower         grower
	// backlog holds arrivals that wait for a slot while the pacer goes on; nil: the pacer waits
	backlog *backlog
}

// initPools makes the slots of all pools, each as many as it may have.
func (p *player) initPools(pools []Pool) {
	total, most := 0, 0
	if p.pipelineDepth = 1; p.o.Sequences != nil {
		p.pipelineDepth = max(p.o.Sequences.PipelineDepth, 1)
	}
	for _, given := range pools {
		if given.Limits.Depth < p.pipelineDepth { // its lanes would not keep the order
			p.pipelineDepth = 1
		}
		n := given.slotCount()
		total, most = total+n, max(most, n)
	}
	p.slots, p.pools = make([]slot, total), make([]pool, len(pools))
	p.sequences = make([]sequence, (most+p.pipelineDepth-1)/p.pipelineDepth)
	for i := range p.sequences {
		if p.sequences[i].number = i; p.pipelineDepth > 1 {
			p.sequences[i].idle = make([]*slot, 0, p.pipelineDepth)
		}
	}
	first := 0
	for i, given := range pools {
		g, n := &p.pools[i], given.slotCount()
		g.Pool, g.player, g.slots, g.firstIndex = given, p, p.slots[first:first+n:first+n], first
		g.inline = given.Limits.Inline
		places := len(given.Lanes)
		if given.shared() {
			g.inline, places = math.MaxInt, n // Send never blocks
		}
		g.attach(given.Lanes, places)
		first += n
	}
}

// shared reports whether several slots use one lane.
func (p *Pool) shared() bool { return p.Limits.Depth > 1 }

// slotCount returns the maximum of requests in flight on the pool.
func (p *Pool) slotCount() int {
	if p.shared() {
		return min(p.MaxSlots, len(p.Lanes)*p.Limits.Depth)
	}
	return max(p.MaxSlots, len(p.Lanes))
}

// attach gives the next n slots their places on new lanes, and returns these slots. It must not be
// called concurrently.
func (g *pool) attach(lanes []backends.Lane, n int) []slot {
	first := int(g.attached.Load())
	slots, on := g.slots[first:first+n], make([][]*slot, len(lanes))
	for at := range slots {
		sl := &slots[at]
		sl.init(g, first+at)
		i := at / g.player.pipelineDepth % len(lanes)
		sl.laneSlot = len(on[i])
		on[i] = append(on[i], sl)
	}
	for i, lane := range lanes {
		l := newMux(lane, on[i]...)
		if l.shared() {
			g.muxes = append(g.muxes, l)
		}
		for _, sl := range on[i] {
			sl.mux = l
		}
	}
	g.attached.Store(int32(first + n))
	return slots
}

// attachedSlots yields the slots that have a lane.
func (p *player) attachedSlots(yield func(*slot) bool) {
	for i := range p.pools {
		g := &p.pools[i]
		for j := range g.slots[:g.attached.Load()] {
			if !yield(&g.slots[j]) {
				return
			}
		}
	}
}
