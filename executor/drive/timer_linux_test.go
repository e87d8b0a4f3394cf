package drive

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
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

// TestHeartbeat: a beat takes no processor from others, and two trials at once restore what was there.
func TestHeartbeat(t *testing.T) {
	before, clock := runtime.GOMAXPROCS(0), backends.Clock{Origin: time.Now()}
	var client delay.Client
	first := Heartbeat(clock, client.Join(delay.Limits{}))
	second := Heartbeat(clock, client.Join(delay.Limits{}))
	if got := runtime.GOMAXPROCS(0); got != before+2 {
		t.Errorf("GOMAXPROCS is %d, want %d", got, before+2)
	}
	first()
	second()
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("GOMAXPROCS is %d after it, want %d", got, before)
	}
}

// TestHiddenTogether: goroutines that are hidden at the same time leave others their processors, in
// whatever order they begin and end.
func TestHiddenTogether(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			stop := hidden([]int{1, math.MaxInt}[i%2], func() {})
			processors.Lock()
			if got := runtime.GOMAXPROCS(0); got <= processors.hidden {
				t.Errorf("GOMAXPROCS is %d with %d hidden goroutines", got, processors.hidden)
			}
			processors.Unlock()
			stop()
		})
	}
	all.Wait()
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("GOMAXPROCS is %d after it, want %d", got, before)
	}
}

func TestSharpTimerPutsTheOldSlackBack(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slack := func() int {
		ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
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
