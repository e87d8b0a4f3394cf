package netlane_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
)

// answers is a goroutine parked in Recv.
func (r *rig) answers() <-chan int {
	got := make(chan int, 8)
	go func() {
		defer close(got)
		for {
			slot, done := r.lane.Recv()
			if slot == backends.None && !done {
				return
			}
			got <- slot
		}
	}()
	return got
}

// Cancels at every moment against servers that misbehave at every moment: each request is answered
// once, with a class that either of the two could have caused.
func TestCancelRacesWithFaults(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		classes []backends.ErrorClass
	}{
		"closes after":  {"accept\nread size\n" + good + "close", []backends.ErrorClass{backends.OK}},
		"closes under":  {"accept\nread size\n" + good + "read size\nclose", []backends.ErrorClass{backends.OK}},
		"resets before": {"accept\nread size\nreset", []backends.ErrorClass{backends.ResetByPeer}},
		"resets within": {
			"accept\nread size\nsend \"HTTP/1.1 2\"\nreset", []backends.ErrorClass{backends.ResetByPeer},
		},
		"hangs up": {"accept\nclose", []backends.ErrorClass{backends.ResetByPeer, backends.Write}},
		"drips":    {"accept\nsplit 9\nread size\n" + good + "repeat", []backends.ErrorClass{backends.OK}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.script, 2000, nil)
			got := r.answers()
			random := rand.New(rand.NewPCG(3, 4))
			for range cases.Count(60, 200) {
				var wg sync.WaitGroup
				gen, until := r.gen+1, r.clock.Now()+random.Int64N(int64(400*time.Microsecond))
				wg.Go(func() {
					for r.clock.Now() < until {
						runtime.Gosched()
					}
					r.lane.Cancel(0, gen, backends.CauseTimeout)
				})
				s := r.send()
				select {
				case slot := <-got:
					if slot != 0 {
						t.Fatalf("slot %d", slot)
					}
				case <-time.After(20 * time.Second):
					t.Fatal("not answered")
				}
				wg.Wait()
				if s.Class != backends.TimedOut && !slices.Contains(c.classes, s.Class) {
					t.Fatalf("%v %q", s.Class, s.Note)
				}
			}
			_ = r.lane.Close()
			if slot, more := <-got; more {
				t.Errorf("slot %d that no Send belongs to", slot)
			}
		})
	}
}

// Close at every moment: a request in flight is answered, and then the lane ends.
func TestCloseRaces(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range cases.Count(20, 60) {
		r := newRig(t, "accept\nread size\n"+good+"close", 2000, nil)
		got := r.answers()
		until := r.clock.Now() + random.Int64N(int64(time.Millisecond))
		var wg sync.WaitGroup
		wg.Go(func() {
			for r.clock.Now() < until {
				runtime.Gosched()
			}
			_ = r.lane.Close()
		})
		ended := false
		for !ended {
			s := r.send()
			select {
			case _, more := <-got:
				if ended = !more; ended {
					break // sent behind the end
				}
				if ended = s.Class == backends.Stopped; !ended && s.Class != backends.OK {
					t.Fatalf("%v %q", s.Class, s.Note)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("not answered")
			}
		}
		wg.Wait()
		if slot, more := <-got; more {
			t.Errorf("slot %d that no Send belongs to", slot)
		}
	}
}
