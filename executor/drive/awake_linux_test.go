package drive

import (
	"math"
	"runtime"
	"testing"
)

// While the scheduler is kept awake nobody misses a processor, and the collector, which stops every goroutine, comes to its
// end; after it all is as before.
func TestStayAwake(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	for _, most := range []int{1, before, math.MaxInt} {
		asleep := StayAwake(most)
		if got, want := runtime.GOMAXPROCS(0), min(before, most)+1; got != want {
			t.Errorf("at most %d: GOMAXPROCS is %d, want %d", most, got, want)
		}
		within(t, func() Played {
			for range 20 {
				runtime.GC()
			}
			return Played{}
		})
		asleep()
		if got := runtime.GOMAXPROCS(0); got != before {
			t.Errorf("at most %d: GOMAXPROCS is %d after it, want %d", most, got, before)
		}
	}
}
