package drive

import (
	"runtime"
	"testing"
)

// While the scheduler is kept awake nobody misses a processor, and the collector, which stops every goroutine, comes to its
// end; after it all is as before.
func TestStayAwake(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	asleep := StayAwake()
	if got := runtime.GOMAXPROCS(0); got != before+1 {
		t.Errorf("GOMAXPROCS is %d, want %d", got, before+1)
	}
	within(t, func() Played {
		for range 20 {
			runtime.GC()
		}
		return Played{}
	})
	asleep()
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("GOMAXPROCS is %d after it, want %d", got, before)
	}
}
