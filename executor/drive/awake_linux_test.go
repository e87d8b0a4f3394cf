package drive

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// While the scheduler is kept awake nobody misses a processor and the collector, which stops every goroutine, ends; after
// it all is as before.
func TestStayAwake(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	asleep := StayAwake()
	if got := runtime.GOMAXPROCS(0); got != before+1 {
		t.Errorf("GOMAXPROCS is %d, want %d", got, before+1)
	}
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	was := stats.NumGC
	for range 20 {
		runtime.GC()
	}
	debug.ReadGCStats(&stats)
	if stats.NumGC < was+20 {
		t.Errorf("%d collections, want 20", stats.NumGC-was)
	}
	asleep()
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("GOMAXPROCS is %d after it, want %d", got, before)
	}
}
