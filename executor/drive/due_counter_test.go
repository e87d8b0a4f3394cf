package drive

import (
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor/load"
)

// TestOpenWaitBehindAWait: slots that become free together answer for one arrival that waited;
// those that stood behind it find an idle slot at once, and have waited for the full pool all the
// same.
func TestOpenWaitBehindAWait(t *testing.T) {
	const lanes, arrivals = 4, 40
	w := newWorld(t, lanes)
	w.gate = make(chan struct{})
	close(w.gate) // every request ends at once, in any order
	o := OpenOptions{Options: w.options()}
	p := playOpen(background, w, burst(arrivals), &fakeFeed{}, inline, o)
	waited, behind := int64(0), int64(0)
	for n := range uint64(arrivals) {
		s := w.out.samples()[n]
		behind = max(behind, s.Free)
		if s.Free > s.Due {
			waited++
		}
		if behind > s.Due && s.Free < behind {
			t.Errorf("arrival %d was free to go at %d, one before it only at %d", n, s.Free-o.Start,
				behind-o.Start)
		}
	}
	if waited != p.WaitedPool {
		t.Errorf("%d samples say they waited, played %d", waited, p.WaitedPool)
	}
}

// TestQueue: what is due and not sent, by a schedule played once more: behind those sent, without
// what Limit leaves out.
func TestQueue(t *testing.T) {
	const ms = int64(time.Millisecond)
	fresh := func(limit int64) *dueCounter {
		o := &Options{Start: 1000 * ms, WarmUntil: 1002 * ms, Limit: limit}
		// due at 1000, 1001, … 1007 ms, two of them warm-up
		return &dueCounter{o: o, schedule: load.Limit(load.Constant(1000), 8)}
	}
	for _, c := range []struct{ limit, due, sent, want int64 }{
		{0, 1000, 0, 0},
		{0, 1001, 0, 1},
		{0, 1005, 0, 5},
		{0, 1005, 3, 2},
		{0, 1005, 6, 0},
		{0, 2000, 3, 5},
		{3, 2000, 3, 2},
		{3, 1004, 3, 1},
		{0, 2000, 8, 0},
	} {
		if got := fresh(c.limit).before(c.due*ms, c.sent, -1); got != c.want {
			t.Errorf("limit %d: %d due before %d ms with %d sent, want %d", c.limit, got, c.due,
				c.sent, c.want)
		}
	}
	q := fresh(0) // asked again and again, of earlier and of later times
	for _, c := range []struct{ due, sent, want int64 }{
		{1004, 1, 3},
		{1002, 1, 1},
		{1002, 2, 0},
		{1006, 2, 4},
		{1003, 5, 0},
		{3000, 5, 3},
	} {
		if got := q.before(c.due*ms, c.sent, -1); got != c.want {
			t.Errorf("%d due before %d ms with %d sent, want %d", got, c.due, c.sent, c.want)
		}
	}
}

// TestQueueByKind: of one kind of a mix as many are due and not sent as arrivals have its number,
// those of a shard by the numbers that they have in the whole.
func TestQueueByKind(t *testing.T) {
	const ms = int64(time.Millisecond)
	third := func(n uint64) int { return int(n % 3) }
	for _, c := range []struct {
		kind              func(uint64) int
		shard             load.Shard
		due, sent         int64
		all, kind0, kind1 int64
	}{
		{third, load.Shard{}, 1000, 0, 0, 0, 0},
		{third, load.Shard{}, 1004, 0, 4, 2, 1},
		{third, load.Shard{}, 1008, 4, 4, 1, 2},                   // numbers 4 5 6 7
		{third, load.Shard{Index: 1, Count: 2}, 1004, 0, 4, 1, 2}, // numbers 1 3 5 7
		{nil, load.Shard{}, 1004, 0, 4, 0, 0},
	} {
		q := &dueCounter{
			o:        &Options{Start: 1000 * ms, Shard: c.shard},
			schedule: load.Limit(load.Constant(1000), 8), entryOf: c.kind,
		}
		for range 2 { // asked again it is the same
			all, kind0, kind1 := q.before(c.due*ms, c.sent, -1), q.before(c.due*ms, c.sent, 0),
				q.before(c.due*ms, c.sent, 1)
			if all != c.all || kind0 != c.kind0 || kind1 != c.kind1 {
				t.Errorf("shard %v, %d sent by %d ms: %d, %d and %d, want %d, %d and %d", c.shard, c.sent,
					c.due, all, kind0, kind1, c.all, c.kind0, c.kind1)
			}
		}
	}
}

// TestUnansweredBeforeWithReplay: with a full pool everything that is due and has no outcome is older, in
// flight or not.
func TestUnansweredBeforeWithReplay(t *testing.T) {
	w := newWorld(t, 2)
	w.gate = make(chan struct{})
	o := OpenOptions{
		Options: w.options(), Replay: burst(10),
		EntryOf: func(n uint64) int { return int(n % 3 % 2) },
	}
	go func() {
		w.pacerWaits() // as both slots are in use
		if n := w.c.UnansweredBefore(never, -1); n != 10 {
			t.Errorf("%d have no outcome, want 10", n)
		}
		if n := w.c.UnansweredBefore(never, 1); n != 2 { // 4 and 7; the feed calls those in flight kind 0
			t.Errorf("%d of kind 1 have no outcome, want 2", n)
		}
		if n := w.c.UnansweredBefore(o.Start, -1); n != 0 {
			t.Errorf("%d were due before the first", n)
		}
		close(w.gate)
	}()
	p := playOpen(background, w, burst(10), &fakeFeed{}, inline, o)
	if p.Sent != 10 || w.c.UnansweredBefore(never, -1) != 0 || len(p.Waits) != 1 || p.Waits[0] == 0 {
		t.Errorf("%d older at the end: %+v", w.c.UnansweredBefore(never, -1), p)
	}
}
