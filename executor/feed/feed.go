// Package feed turns the plan's data and the model's signature into requests before the clock starts,
// and hands out their encoded form while it runs. It has no clock and no transport, and parses no plans.
package feed

import (
	"math/rand/v2"
	"slices"

	"github.com/sluice-bench/sluice/backends"
)

// Source hands out the next request of a slot. No allocation, a few ns. A slot's calls come from
// one goroutine at a time.
type Source interface {
	// Next fills t for arrival n. False: nothing more.
	Next(slot int, n uint64, t *Turn) bool
	// Finish fills t with what must still be sent on slot so that the server is left clean: the
	// last request of a sequence that is open. It is not measured. False: nothing; the slot may
	// then begin anew.
	Finish(slot int, t *Turn) bool
}

// Turn is one request to send.
type Turn struct {
	Call   *backends.Call
	Fields backends.Fields
	Pool   int    // of the player's pools of lanes, one for each target of the stage
	Think  int64  // ns of pause after its reply, closed loop
	Left   uint32 // requests of its sequence that come after it
	Cut    bool   // sessions: the last of its session only because no more requests may be sent
	// Sessions: the earliest due time of the turn after it, in ns from the start of the node; 0: none.
	NextDue int64
	Text    []byte // a buffer for Sample.Text; nil: the sample's own
	// CancelAfter is the time, in ns from its send, after which this client closes it; 0: never.
	CancelAfter int64
}

// Order is the sequence in which calls are handed out.
type Order string

// The orders of a dataset.
const (
	Sequential Order = "sequential" // as in the data
	Shuffle    Order = "shuffle"    // one seeded permutation, repeated
	Random     Order = "random"     // drawn each time, seeded
)

// Calls is a Source over encoded requests. Which call arrival n gets depends on n and the seed
// alone, never on the slot or the machine.
type Calls struct {
	calls  []*backends.Call
	random bool
	once   bool // at_end: stop
	seed   uint64
	idBase uint64
	delays []int64 // by row of a call, ns; -1: none; nil: no row has any
}

// NewCalls returns a Source that hands out calls in order; once: each at most once. Request ids are
// idBase | n.
func NewCalls(calls []*backends.Call, order Order, once bool, seed, idBase uint64) *Calls {
	c := &Calls{calls: calls, random: order == Random, once: once, seed: seed, idBase: idBase}
	if order == Shuffle {
		c.calls = slices.Clone(calls)
		shuffle(c.calls, seed, 0)
	}
	return c
}

func shuffle[T any](list []T, seed, stream uint64) {
	rand.New(rand.NewPCG(seed, stream)).
		Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// Pausing sets the pauses after the replies in ns, by the row of the call; -1: that row asks for none.
// nil: none does.
func (c *Calls) Pausing(delays []int64) *Calls {
	c.delays = delays
	return c
}

// Next implements Source.
func (c *Calls) Next(_ int, n uint64, t *Turn) bool {
	rows := uint64(len(c.calls))
	if rows == 0 || c.once && n >= rows {
		return false
	}
	i := n % rows
	if c.random {
		i = mix(c.seed+n) % rows
	}
	t.Call = c.calls[i]
	if c.delays != nil {
		t.Think = c.delays[t.Call.Row]
	}
	t.Fields.ID = c.idBase | n
	return true
}

// Finish implements Source: requests that stand alone leave nothing open.
func (*Calls) Finish(int, *Turn) bool { return false }

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014): it spreads counters well.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
