package drive

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/load"
)

// Handoff moves samples out of the slots: two single-producer rings per slot, full samples out,
// empty ones back, without lock, channel or allocation. Get is called only by whoever picks the
// arrival (the pacer of an open loop, the slot's goroutine of a closed loop), Put only by the
// slot's goroutine. Neither blocks: Get returns a sample that is reset, nil if there is none; the slot then
// waits, and the wait is counted.
type Handoff interface {
	Get(slot int) *backends.Sample
	Put(slot int, s *backends.Sample)
	// PutEvents takes the events of an unfinished request and leaves s without any. Only the
	// receiving goroutine calls it, never concurrently with Put. It returns false, and takes
	// nothing, if the folder is behind.
	PutEvents(slot int, s *backends.Sample) bool
}

// Pool holds the lanes to one target of a node: a request goes out on the pool that its Turn names.
// A slot is room for one request on a lane, which has Limits.Depth of them. Handoff numbers the
// slots of all pools consecutively; each pool takes as many numbers as it may have slots.
type Pool struct {
	Lanes  []backends.Lane // in a closed loop with room for every slot, so all pools have the same room
	Limits backends.Limits
	// Grow opens n more lanes, of depth 1, in the background of an open loop when few are idle. If
	// it is nil or fails, the pool keeps its size.
	Grow func(ctx context.Context, n int) ([]backends.Lane, error)
	// MaxSlots is the maximum of slots, including those that Grow opens. There are at least
	// len(Lanes), and at most as many as shared lanes have room for.
	MaxSlots int
	Timeout  int64 // of a request, in ns from due time to last byte; 0: none
	// Inactivity limits the time, in ns, in which a request neither sends nor receives a byte, on
	// lanes that report activity; 0: no limit.
	Inactivity int64
	// InProcess says that the server stamps its replies itself (backends.SharesProcess): a closed
	// loop then records the time from a reply to the next send.
	InProcess bool
}

// Control steers a running player and shows its state. All fields are atomic.
type Control struct {
	// StopAt is the time on the run clock from which no due time is sent; 0 or math.MaxInt64 while
	// unknown. A time in the past does not recall what was sent before it was set.
	StopAt    atomic.Int64
	HoldStart atomic.Int64 // on the run clock: due time from which requests are measured; 0 until known
	InFlight  atomic.Int64
	Peak      atomic.Int64 // largest InFlight so far, including warm-up
	Sent      atomic.Int64 // including warm-up
	Dropped   atomic.Int64 // Played.DroppedPool so far
	// DroppedLate and DroppedMore are those of Played so far.
	DroppedLate, DroppedMore atomic.Int64
	// OldestDue is a lower bound of the due times in flight and to come: all samples due before it
	// have been Put. math.MaxInt64 when the player has ended.
	OldestDue atomic.Int64

	player atomic.Pointer[player]
}

// beginRequest counts one more request in flight. Beyond the add, which takes the cache line, Peak
// costs a load; it is written only when it grows.
func (c *Control) beginRequest() {
	n := c.InFlight.Add(1)
	for peak := c.Peak.Load(); n > peak && !c.Peak.CompareAndSwap(peak, n); peak = c.Peak.Load() {
	}
}

// UnansweredBefore counts the requests without an outcome that were due before due: those in flight
// and those that wait for a slot. entry selects one kind of a mix, by Call.Entry; -1 counts all.
// With OpenOptions.Replay all waiting arrivals are counted (one less while it is being sent),
// without it only the first, due or not. Without OpenOptions.EntryOf a waiting arrival counts for
// an entry only once its call is chosen. It must not be called concurrently.
func (c *Control) UnansweredBefore(due int64, entry int) (n int64) {
	p := c.player.Load()
	if p == nil {
		return 0
	}
	all := entry < 0
	if all && p.dueCounter == nil && p.nextDue.Load() < due {
		n++
	}
	// slots are read before Sent, so that an arrival that is being sent is counted once at most
	for sl := range p.attachedSlots {
		if at := sl.due.Load(); at < due && (all || sl.entry.Load() == int32(entry) && sl.due.Load() == at) {
			n++
		}
	}
	for i := range p.pools {
		n += p.pools[i].backlog.countBefore(due, entry)
	}
	if p.dueCounter != nil && p.nextDue.Load() != never { // else nothing more is sent, due or not
		n += p.dueCounter.before(due, c.Sent.Load(), entry)
	}
	return n
}

// Options are common to both players. Times are ns on the run clock.
type Options struct {
	Clock backends.Clock
	Start int64 // of the node: due = Start + due time of the schedule
	// WarmUntil (a time) or WarmCount (arrivals) ends the warm-up, whose requests carry
	// backends.Warmup; 0, 0: no warm-up.
	WarmUntil int64
	WarmCount int64
	// Limit is the number of measured requests to send; 0: no limit.
	Limit int64
	Drain time.Duration // time for open requests after StopAt or the last arrival; then they are cancelled
	// IDBase | N is the id of request N.
	IDBase uint64
	// Shard selects the part of the whole that the schedule plays: arrivals carry their number in
	// the whole.
	Shard load.Shard
	// Late takes the requests that the client sends late by its own fault; nil: they are not asked for, as in a
	// closed loop whose slots wait for nothing but replies.
	Late *delay.Log
	// Sequences describes how the feed's requests form sequences; nil: requests are independent.
	Sequences *load.Sequences
	// Follow takes the answered request of a sequence before its sample is Put, if the next request
	// depends on the reply. It returns false if the sequence cannot go on. nil: none depends on a reply.
	Follow func(sequence int, s *backends.Sample) bool
	// Every, of a closed loop, is the time in ns from one due time of a slot to the next, which is later
	// if the request before has not ended. The slots begin one after the other within this time. 0:
	// a request is due when the one before has ended.
	Every int64
	// Cancels says that turns may have CancelAfter: requests are then looked at every ms.
	Cancels bool
	// Delay is a test hook that is called before request n is sent, where Late is set; nil in production.
	Delay func(n uint64)
}

// OpenOptions are the options of the open loop.
type OpenOptions struct {
	Options
	Drop        bool  // drop (and count) an arrival that finds no idle slot instead of waiting
	Spin        int64 // final busy wait before a due time, 0 … 80 µs, in ns
	MaxInFlight int   // maximum of requests in flight over all pools
	// Replay is a second copy of the schedule, from its beginning, with which
	// Control.UnansweredBefore counts waiting arrivals; nil: only the first waiting arrival is
	// counted.
	Replay load.Schedule
	// EntryOf returns the entry of the mix, as in Call.Entry, of the arrival with number n; nil:
	// unknown until the arrival is sent.
	EntryOf func(n uint64) int
}

// Played holds the player's own counts, without warm-up unless stated.
type Played struct {
	Planned     int64 // measured arrivals that the schedule had due (closed loop: sent)
	Sent        int64
	DroppedPool int64 // no idle slot, overflow: drop
	DroppedLate int64 // of DroppedPool: those that a client on time may not have dropped
	DroppedMore int64 // by how many more a client on time may have dropped; 0 if this one was
	DroppedStop int64 // due, but the node was stopped before it could be sent
	WaitedPool  int64 // arrivals that waited for a slot
	// most slots that sessions held between two turns when an arrival found none idle
	HeldByPauses int64
	// requests that waited for an empty sample buffer because measure was behind, including warm-up
	Paused       int64
	Strays       int64 // replies that belong to no request
	WarmSent     int64
	PeakInFlight int64 // including warm-up
	Closed       int64 // requests sent to close sequences that could not go on; in no other count
	LeftOpen     int64 // sequences that could not be closed
	Arrivals     int64 // measured arrivals of the schedule where each begins a sequence; else 0
	// by pool: arrivals of WaitedPool that waited for a slot of the pool, not behind others
	Waits []int64
	// FNV-1a over the due times played, including warm-up (same seed, same hash); closed loop: 0
	Hash uint64
}
