package drive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/scenario"
)

// keeper is a server that keeps sequences: it counts what breaks their rules.
type keeper struct {
	// fails says how a request ends; nil, or OK: well. Of what was never sent the server knows nothing.
	fails func(f backends.Fields, s *backends.Sample) backends.ErrorClass
	lost  func(f backends.Fields, s *backends.Sample) bool // never sent; nil: all are

	mu       sync.Mutex
	open     map[uint64]int    // id → requests in flight
	last     map[uint64]uint64 // id → number of the latest request
	order    map[uint64]int    // number → place among all requests
	atOnce   int               // requests of a sequence that may be in flight
	begun    int
	ended    int
	wrong    []string
	deepest  int // most requests of one sequence in flight
	widest   int // most sequences open
	requests int
}

func newKeeper() *keeper {
	return &keeper{open: map[uint64]int{}, last: map[uint64]uint64{}, order: map[uint64]int{}, atOnce: 1}
}

func (k *keeper) take(f backends.Fields, s *backends.Sample) {
	if k.lost != nil && k.lost(f, s) {
		s.BytesSent = 0
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.requests++
	k.order[s.N] = k.requests
	_, open := k.open[f.Sequence]
	switch {
	case f.Sequence == 0:
		k.wrong = append(k.wrong, "a request without an id")
	case f.Start && open:
		k.wrong = append(k.wrong, fmt.Sprintf("START of %d, which is open", f.Sequence))
	case f.Start:
		k.begun++
		k.open[f.Sequence] = 0
	case !open:
		k.wrong = append(k.wrong, fmt.Sprintf("a request of %d, which is not open (end %t)",
			f.Sequence, f.End))
	}
	if n := s.N &^ closingNumber; s.Flags&backends.Closing == 0 && !f.Start && n <= k.last[f.Sequence] {
		k.wrong = append(k.wrong, fmt.Sprintf("request %d of sequence %d after %d", n, f.Sequence,
			k.last[f.Sequence]))
	}
	k.last[f.Sequence] = s.N
	k.open[f.Sequence]++
	k.deepest, k.widest = max(k.deepest, k.open[f.Sequence]), max(k.widest, len(k.open))
	if f.End {
		delete(k.open, f.Sequence)
		k.ended++
	}
}

func (k *keeper) answer(f backends.Fields, s *backends.Sample) {
	k.mu.Lock()
	if n, open := k.open[f.Sequence]; open && s.BytesSent > 0 {
		k.open[f.Sequence] = n - 1
	}
	k.mu.Unlock()
	switch {
	case s.BytesSent == 0:
		s.Class = backends.Dial
	case s.Class == backends.OK && k.fails != nil:
		s.Class = k.fails(f, s)
	}
}

// inOrder are all samples in the order in which the server took their requests. That of their
// numbers is another: a closed loop's slot has its number first and then its sequence, whose id may
// be that of one which another slot ends meanwhile.
func (k *keeper) inOrder(o *fakeOut) []backends.Sample {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := o.inOrder()
	slices.SortStableFunc(all, func(a, b backends.Sample) int {
		return cmp.Compare(k.order[a.N],
			k.order[b.N])
	})
	return all
}

// clean checks that nothing was broken and nothing is open.
func (k *keeper) clean(t testing.TB) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.wrong {
		t.Error(w)
	}
	if len(k.open) != 0 || k.begun != k.ended {
		t.Errorf("%d sequences are open at the end, %d begun and %d ended", len(k.open), k.begun, k.ended)
	}
	if k.deepest > k.atOnce {
		t.Errorf("%d requests of one sequence in flight", k.deepest)
	}
}

// stream makes a feed of sequences on so many slots; kinds more than one go to as many pools, in turn.
func stream(slots, kinds int, length scenario.Dist, once bool, streams ...[]int) *feed.Sequences {
	o := feed.SequenceOptions{Length: &length, IDs: feed.NewIDs(1, uint64(slots), 0, 0), Slots: slots}
	if len(streams) > 0 {
		o.Length = nil
	}
	for i := range kinds {
		o.Entries = append(o.Entries, feed.SequenceEntry{Calls: []*backends.Call{
			&small, &small, &small,
			&small,
		}, Pool: i, Streams: streams, Once: once})
	}
	return feed.NewSequences(o)
}

func exactly(n float64) scenario.Dist { return scenario.Dist{Shape: "constant", Mean: n} }

var some = scenario.Dist{Shape: "uniform", Min: 1, Max: 5}

// keeping makes a world whose server keeps sequences.
func keeping(t testing.TB, lanes int) *world {
	w := newWorld(t, lanes)
	w.server = newKeeper()
	return w
}

// balanced checks what finished checks, with the requests that closed sequences beside the load's.
func (w *world) balanced(p Played) {
	w.t.Helper()
	w.server.clean(w.t)
	p.Sent += p.Closed
	p.Planned += p.Closed
	w.c.Sent.Add(p.Closed)
	w.finished(p)
	if p.LeftOpen != 0 {
		w.t.Errorf("%d left open", p.LeftOpen)
	}
}

// players plays some load of sequences on lanes until the limit or the context ends it.
var players = map[string]func(ctx context.Context, w *world, src feed.Source, o Options) Played{
	"closed": func(ctx context.Context, w *world, src feed.Source, o Options) Played {
		return within(w.t, func() Played {
			return Closed(ctx, load.Level(len(w.lanes)), src, []Pool{w.pool(inline)},
				w.out, &w.c, o)
		})
	},
	"open": func(ctx context.Context, w *world, src feed.Source, o Options) Played {
		return opened(ctx, w, src, o, false, w.pool(inline))
	},
	"open, handed over": func(ctx context.Context, w *world, src feed.Source, o Options) Played {
		return opened(ctx, w, src, o, false, w.pool(backends.Limits{Depth: 1}))
	},
	"closed, shared": func(ctx context.Context, w *world, src feed.Source, o Options) Played {
		pool := w.share(3, 1)
		return within(w.t, func() Played {
			return Closed(ctx, load.Level(pool.MaxSlots), src, []Pool{pool},
				w.out, &w.c, o)
		})
	},
	"open, shared": func(ctx context.Context, w *world, src feed.Source, o Options) Played {
		return opened(ctx, w, src, o, false, w.share(3, 1))
	},
	"begin, shared": func(ctx context.Context, w *world, src feed.Source, o Options) Played {
		return opened(ctx, w, src, o, true, w.share(3, 1))
	},
	"abreast": func(ctx context.Context, w *world, src feed.Source, o Options) Played {
		const atOnce = 3
		if w.server != nil {
			w.server.atOnce = atOnce
		}
		q := *o.Sequences
		q.PipelineDepth, o.Sequences = atOnce, &q
		return opened(ctx, w, src, o, false, w.share(2*atOnce, atOnce))
	},
	"begin": func(ctx context.Context, w *world, src feed.Source, o Options) Played {
		return opened(ctx, w, src, o, true, w.pool(inline))
	},
}

func opened(ctx context.Context, w *world, src feed.Source, o Options, begin bool, pools ...Pool) Played {
	q := *o.Sequences
	q.ArrivalBegins = begin
	o.Sequences = &q
	return within(w.t, func() Played {
		return Open(ctx, load.Poisson(60_000, [2]uint64{1, 2}), src, pools, w.out, &w.c,
			OpenOptions{Options: o, MaxInFlight: len(w.lanes) * max(w.depth, 1)})
	})
}
