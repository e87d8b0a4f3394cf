package drive

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
)

// mallocs counts what is allocated between requests 2,000 and 12,000 of a run.
func mallocs(play func(each func(n uint64))) uint64 {
	var before, after runtime.MemStats
	var begun atomic.Bool
	play(func(n uint64) {
		switch n {
		case 2000:
			runtime.ReadMemStats(&before)
			begun.Store(true)
		case 12_000:
			runtime.ReadMemStats(&after)
		}
		for n > 2000 && n <= 12_000 && !begun.Load() {
			runtime.Gosched() // a closed loop's slots overtake each other
		}
	})
	return after.Mallocs - before.Mallocs
}

// What is left to the runtime in 10,000 requests (a sudog, a thread) is far from one allocation in
// a hundred.
const noise = 100

func TestClosedDoesNotAllocate(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		n := mallocs(func(each func(uint64)) {
			w := fresh(4)
			w.out.light = true
			o := w.options()
			o.Limit = 13_000
			playClosed(background, w, load.Level(4), &fakeFeed{each: each}, o)
		})
		if n > noise {
			t.Errorf("%d allocations in 10,000 requests", n)
		}
	})
}

func TestOpenDoesNotAllocate(t *testing.T) {
	for name, lim := range map[string]backends.Limits{"inline": inline, "handed over": {Depth: 1}} {
		n := mallocs(func(each func(uint64)) {
			w := newWorld(t, 4)
			w.out.light = true
			o := OpenOptions{Options: w.options()}
			s := limit(load.Poisson(200_000, [2]uint64{1, 2}), 13_000)
			playOpen(background, w, s, &fakeFeed{each: each}, lim, o)
		})
		if n > noise {
			t.Errorf("%s: %d allocations in 10,000 requests", name, n)
		}
	}
}
