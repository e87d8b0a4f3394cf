package drive

import (
	"math"
	"runtime"
	"syscall"
	"testing"
)

// While the scheduler is kept awake nobody misses a processor, and the collector, which stops every
// goroutine, comes to its end; after it all is as before.
func TestStayAwake(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	for _, most := range []int{1, before, math.MaxInt} {
		stop := StayAwake(most)
		if got, want := runtime.GOMAXPROCS(0), min(before, most)+1; got != want {
			t.Errorf("at most %d: GOMAXPROCS is %d, want %d", most, got, want)
		}
		within(t, func() Played {
			for range 20 {
				runtime.GC()
			}
			return Played{}
		})
		stop()
		if got := runtime.GOMAXPROCS(0); got != before {
			t.Errorf("at most %d: GOMAXPROCS is %d after it, want %d", most, got, before)
		}
	}
}

func TestSharpTimerPutsTheOldSlackBack(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slack := func() uintptr {
		ns, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prGetTimerSlack, 0, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		return ns
	}
	before := slack()
	restore := sharpTimer()
	if got := slack(); got != 1 {
		t.Errorf("slack %d ns, want 1", got)
	}
	restore()
	if got := slack(); got != before {
		t.Errorf("slack %d ns afterwards, was %d", got, before)
	}
}
