package trial

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// TestNobodyWaitsForStatistics: a server that is slow to tell its counters holds up neither the
// folding of samples nor the end of a node, which would look like a client that stood still; and
// the question at the end is the last to be answered.
func TestNobodyWaitsForStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = 3 * time.Second
		began := time.Now()
		var mu sync.Mutex
		var asked []time.Duration
		o := &observer{
			cutting: cutHold(0, scenario.UntilStable{}),
			running: &running{host: &Host{Clock: backends.Clock{Origin: began}}, control: new(drive.Control), in: &Input{Node: &program.Node{Stage: &scenario.Stage{}}, Requests: &Requests{Counters: func(
				context.Context, []int64,
			) (int64, error) {
				mu.Lock()
				asked = append(asked, time.Since(began))
				mu.Unlock()
				time.Sleep(slow)
				return int64(time.Since(began)), nil
			}}}},
		}
		o.control.HoldStart.Store(1)
		o.control.StopAt.Store(math.MaxInt64)
		for range 30 { // 1.5 s: one snapshot is asked for on the way, at the edge of a slice
			time.Sleep(50 * time.Millisecond)
			o.look(context.Background(), o.host.Clock.Now(), false)
		}
		before := time.Since(began)
		o.look(context.Background(), o.host.Clock.Now(), true)
		if waited := time.Since(began) - before; waited > 0 {
			t.Errorf("the end of hold waited %v for an answer", waited)
		}
		if still := time.Duration(o.gaps.Longest); still > 50*time.Millisecond {
			t.Errorf("stood still for %v", still)
		}
		o.wait()
		if want := []time.Duration{time.Second + 1, time.Second + 1 + slow}; !slices.Equal(asked, want) {
			t.Errorf("asked at %v, want %v", asked, want)
		}
	})
}

// TestWithGrace: what must be asked is not cut off with the run, nor waited for long after that.
func TestWithGrace(t *testing.T) {
	for name, c := range map[string]struct {
		cutOff, want time.Duration // cutOff 0: not at all
	}{
		"the limit":               {0, 10 * time.Second},
		"cut off on the way":      {3 * time.Second, 3*time.Second + cancelGrace},
		"cut off before":          {1, 1 + cancelGrace},
		"cut off near its limit":  {9 * time.Second, 10 * time.Second},
		"cut off after its limit": {11 * time.Second, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cutOff := context.WithCancel(context.Background())
				defer cutOff()
				if c.cutOff > 0 {
					time.AfterFunc(c.cutOff, cutOff)
				}
				asked, cancel := WithGrace(ctx, 10*time.Second)
				defer cancel()
				<-asked.Done()
				if took := time.Since(began); took != c.want {
					t.Errorf("over after %v, want %v", took, c.want)
				}
			})
		})
	}
}
