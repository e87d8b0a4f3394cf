package drive

import (
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// pool is the slots of one target. Slot i of a pool whose lanes are shared is on lane i modulo their number, so that few
// slots spread over all of them; where a sequence has several slots, these stand side by side on one.
type pool struct {
	player *player
	slots  []slot       // its part of the player's
	first  int          // the number of slots[0] in the whole
	count  atomic.Int32 // slots[:count] have a lane
	lines  []*line      // that are shared
	inline int          // calls up to this size are sent by the pacer
	hand   int          // calls larger than this are sent by a second goroutine of their lane
	idle   *ring        // open loop
	waited int64        // arrivals that waited for one of its slots; of the pacer
	grower grower
	// backlog is what waits for its slots while the pacer goes on; nil: the pacer waits
	backlog *backlog
	timeout int64 // ns, one request, due to last byte; 0: never
	// inactivity is how long a request may be silent, ns; 0: for ever
	inactivity int64
	inProcess  bool // the server stamps its replies itself
}

// divide makes the slots of all pools: as many as each may have lanes.
func (p *player) divide(pools []Pool, inFlight int) {
	total, most := 0, 0
	if p.atOnce = 1; p.o.Sequences != nil {
		p.atOnce = max(p.o.Sequences.AtOnce, 1)
	}
	for _, given := range pools {
		if given.Limits.Depth < p.atOnce { // its lanes would not keep the order
			p.atOnce = 1
		}
		n := given.slots(inFlight)
		total, most = total+n, max(most, n)
	}
	p.slots, p.pools = make([]slot, total), make([]pool, len(pools))
	p.lives = make([]sequence, (most+p.atOnce-1)/p.atOnce)
	for i := range p.lives {
		if p.lives[i].number = i; p.atOnce > 1 {
			p.lives[i].idle = make([]*slot, 0, p.atOnce)
		}
	}
	first := 0
	for i, given := range pools {
		g, n := &p.pools[i], given.slots(inFlight)
		g.slots, g.first, g.inline, g.hand = p.slots[first:first+n:first+n], first, given.Limits.Inline, math.MaxInt
		if given.shared() {
			g.inline = math.MaxInt // no Send blocks
		}
		if g.inline > 0 {
			g.hand = g.inline
		}
		g.player, g.inactivity, g.inProcess = p, given.Inactivity, given.InProcess
		if g.timeout = given.Timeout; g.timeout == 0 {
			g.timeout = p.o.Timeout
		}
		if given.shared() {
			g.spread(given.Lanes)
		} else {
			for _, lane := range given.Lanes {
				g.take(lane)
			}
		}
		first += n
	}
}

// shared reports whether several slots have one lane.
func (p *Pool) shared() bool { return p.Limits.Depth > 1 }

// slots is how many requests a pool may have in flight.
func (p *Pool) slots(inFlight int) int {
	most := p.Most
	if room := len(p.Lanes) * p.Limits.Depth; p.shared() {
		if most == 0 {
			return room
		}
		return min(most, room)
	}
	if most == 0 {
		most = inFlight
	}
	return max(most, len(p.Lanes))
}

// take gives the next slot its lane. One caller at a time.
func (g *pool) take(lane backends.Lane) *slot {
	at := int(g.count.Load())
	sl := &g.slots[at]
	sl.init(g, at)
	sl.line = newLine(lane, sl)
	g.count.Store(int32(at + 1))
	return sl
}

// spread gives all slots their places on the lanes.
func (g *pool) spread(lanes []backends.Lane) {
	on := make([][]*slot, len(lanes))
	for at := range g.slots {
		sl := &g.slots[at]
		sl.init(g, at)
		i := at / g.player.atOnce % len(lanes)
		sl.place = len(on[i])
		on[i] = append(on[i], sl)
	}
	for i, lane := range lanes {
		l := newLine(lane, on[i]...)
		if l.shared() {
			g.lines = append(g.lines, l)
		}
		for _, sl := range on[i] {
			sl.line = l
		}
	}
	g.count.Store(int32(len(g.slots)))
}

// present yields the slots that have a lane.
func (p *player) present(yield func(*slot) bool) {
	for i := range p.pools {
		g := &p.pools[i]
		for j := range g.slots[:g.count.Load()] {
			if !yield(&g.slots[j]) {
				return
			}
		}
	}
}

// lanes is how many lanes there are.
func (p *player) lanes() (n int) {
	for sl := range p.present {
		if sl.place == 0 {
			n++
		}
	}
	return n
}

// older counts the requests in flight that were due before due, and what waits for a slot; of one entry of the mix, or -1:
// of all. With a queue an arrival that is sent meanwhile is counted once at most: slots are read before Sent.
func (p *player) older(due int64, entry int) (n int64) {
	all := entry < 0
	if all && p.queue == nil && p.pending.Load() < due {
		n++
	}
	for sl := range p.present {
		if at := sl.due.Load(); at < due && (all || sl.entry.Load() == int32(entry) && sl.due.Load() == at) {
			n++
		}
	}
	for i := range p.pools {
		n += p.pools[i].backlog.older(due, entry)
	}
	if p.queue != nil && p.pending.Load() != never { // else nothing more is sent, due or not
		n += p.queue.before(due, p.c.Sent.Load(), entry)
	}
	return n
}
