// Package drive plays a schedule or a profile on lanes. It owns the pacer, the slots, the reaper and nothing else.
//
// It is not: a histogram, a verdict, a decision about when to stop (it obeys Control).
//
// Open sends each arrival of a schedule at its due time on an idle lane, whatever the replies do; Closed keeps as many
// requests in flight as a profile says. Both return when every request that was sent has been answered and Put, and
// close the lanes that they were given and those that they opened: only so does a lane's parked Recv end.
//
// How a player ends:
//
//	schedule, feed or Limit exhausted  → nothing more is sent; drain from then
//	Control.StopAt reached             → what is due before it is still sent; drain from StopAt
//	drain over                         → arrivals still waiting for a slot are dropped; requests end with CauseDrain
//	ctx done                           → the same at once, with CauseStop
//
// Before a player ends it closes the sequences that are open on the server (see Sequences).
//
// A lane carries as many requests at once as its pool's Limits.Depth says. A request's timeout counts from its due time:
// an arrival that waited for a slot has the less left on the wire.
package drive

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
)

// Handoff is the one place where samples leave a slot: two single-producer rings for each, full ones out, empty ones back.
// No lock, no channel, no allocation. Get is called only by whoever picks the arrival (the pacer in open loop, the slot's
// goroutine in closed loop), Put only by the slot's goroutine. Neither blocks: without an empty buffer Get gives nil, the
// slot pauses and the pause is counted.
type Handoff interface {
	Get(slot int) *backends.Sample
	Put(slot int, s *backends.Sample)
	// Part takes the events of a request that goes on, and leaves s without any. Only who receives calls it, and not at the
	// same time as Put. False: the folder is behind, nothing was taken.
	Part(slot int, s *backends.Sample) bool
}

// Pool is the lanes to one of the targets of a node: a request goes out on the pool that its Turn names. A slot is room for one
// request on a lane, which has Limits.Depth of them. Handoff numbers the slots of all pools through: those of a pool stand
// behind the most that the pools before it may have.
type Pool struct {
	Lanes  []backends.Lane // closed loop: with room for each slot, so all pools have as much
	Limits backends.Limits
	// Grow opens n more lanes of an open loop, of depth 1, in the background, when few are idle; nil or an error: the pool
	// stays as it is.
	Grow func(ctx context.Context, n int) ([]backends.Lane, error)
	Most int // slots at most with those that Grow opens; 0: MaxInFlight, or those of shared lanes. Not less than Lanes
	// Timeout is that of one request on this pool, ns from due to last byte; 0: that of Options.
	Timeout int64
	// Inactivity is how long a request may neither send nor receive anything, ns, where lanes tell of that; 0: for ever.
	Inactivity int64
	// InProcess says that the server stamps its replies itself (backends.SharesProcess): a closed loop then records how long it takes
	// to send the next one.
	InProcess bool
}

// Control is how the node's procedure steers a running player, and what it can see of it. All fields are atomic.
type Control struct {
	// StopAt, run clock: nothing that is due at or after it is sent; 0 or math.MaxInt64 while open. A time that has
	// passed does not recall what was sent just before it was set.
	StopAt    atomic.Int64
	HoldStart atomic.Int64 // run clock: due time from which requests count; 0 until known
	InFlight  atomic.Int64
	Peak      atomic.Int64 // the largest InFlight so far, warm-up included
	Sent      atomic.Int64 // warm-up included
	Dropped   atomic.Int64 // Played.DroppedPool so far
	// OldestDue is a lower bound of the due times still in flight or to come: the samples of what is due before it have
	// all been Put. math.MaxInt64 when the player has ended.
	OldestDue atomic.Int64

	player atomic.Pointer[player]
}

// enter counts one more request in flight. Beside the add, which takes the cache line, Peak costs a load; it is written
// only as it grows.
func (c *Control) enter() {
	n := c.InFlight.Add(1)
	for peak := c.Peak.Load(); n > peak && !c.Peak.CompareAndSwap(peak, n); peak = c.Peak.Load() {
	}
}

// Older is how many requests that have no outcome were due before due: those in flight, and those that wait for a slot.
// With OpenOptions.Again all of these are counted, at a moment when one is just being sent one less; without it only the
// first, be its time come or not. One caller at a time.
func (c *Control) Older(due int64) int64 { return c.OlderOf(due, -1) }

// OlderOf counts only the requests of one kind of a mix, by Call.Entry; -1: all. Without OpenOptions.Kind it counts of those
// that wait for a slot what has been given a kind already.
func (c *Control) OlderOf(due int64, entry int) int64 {
	if p := c.player.Load(); p != nil {
		return p.older(due, entry)
	}
	return 0
}

// Options are common to both players. Times are ns on the run clock.
type Options struct {
	Clock   backends.Clock
	Start   int64 // when the node starts: due = Start + schedule's due
	Timeout int64 // one request, due to last byte, where its pool has none of its own; the reaper cancels beyond it; 0: never
	// WarmUntil (time) or WarmCount (arrivals) end the warm-up; requests of it carry backends.Warmup. 0, 0: none.
	WarmUntil int64
	WarmCount int64
	// Limit is how many requests that are not warm-up are sent; 0: no limit.
	Limit int64
	Drain time.Duration // how long open requests may take after StopAt or the last arrival; then they are cancelled
	// IDBase | N is the request's id.
	IDBase uint64
	// Shard says which part of the whole the schedule is: arrivals carry their number in the whole.
	Shard load.Shard
	// Sequences says that the feed's requests belong to sequences; nil: each stands alone.
	Sequences *Sequences
}

// OpenOptions are those of the open loop.
type OpenOptions struct {
	Options
	Drop        bool  // no idle slot: drop the arrival (counted) instead of waiting
	Spin        int64 // ns of final spin before a due time, 0 … 80 µs
	MaxInFlight int   // requests in flight at most, over all pools
	// Again is the schedule once more, from its beginning, by which Control.Older counts what waits for a slot; nil: only
	// the first of these is counted.
	Again load.Schedule
	// Kind is the entry of the mix, as in Call.Entry, that an arrival will be by its number; nil: that shows only when it is sent.
	Kind func(n uint64) int
	// Delay is a test hook: called by the pacer before each send; nil in production.
	Delay func(n uint64)
}

// Played is what the player itself knows. Warm-up is not in it, except where said.
type Played struct {
	Planned      int64 // arrivals due in hold that the schedule gave (closed loop: sent)
	Sent         int64
	DroppedPool  int64 // no idle slot, overflow: drop
	DroppedStop  int64 // due, but the node was stopped before it could be sent
	WaitedPool   int64 // arrivals that waited for a slot
	Paused       int64 // requests that waited for an empty sample buffer: measure was behind; warm-up included
	Strays       int64 // replies that belong to no request
	WarmSent     int64
	PeakInFlight int64   // warm-up included
	Closed       int64   // requests sent to close sequences that could not go on: in no other number
	LeftOpen     int64   // sequences for which that failed
	Arrivals     int64   // of hold, where each begins a sequence: those that the schedule gave; else 0
	Waits        []int64 // of WaitedPool, those that waited for a slot of a pool itself, and not behind others; by pool
	Lanes        int     // lanes at the end
	Hash         uint64  // FNV-1a over the due times played, warm-up included (same seed, same hash); closed loop: 0
}
