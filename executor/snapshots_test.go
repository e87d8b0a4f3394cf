package executor

import (
	"testing"
	"time"
)

// Snapshots are taken at the edges of slices and of windows, however these lie to each other.
func TestSnapshotEdges(t *testing.T) {
	const hold = 7_000
	for _, c := range []struct {
		slice, window time.Duration
		want          []time.Duration
	}{
		{time.Second, 0, []time.Duration{1000, 2000, 3000}},
		{time.Second, 500 * time.Millisecond, []time.Duration{500, 1000, 1500, 2000}},
		{time.Second, 700 * time.Millisecond, []time.Duration{700, 1000, 1400, 2000, 2100}},
		{time.Second, 1500 * time.Millisecond, []time.Duration{1000, 1500, 2000, 3000}},
		{time.Second, 100 * time.Millisecond, []time.Duration{300, 600, 900, 1000, 1200}},
		{30 * time.Millisecond, 0, []time.Duration{270, 540}},
	} {
		at := int64(hold)
		for _, want := range c.want {
			at = edge(hold, at, int64(c.slice), int64(c.window))
			if got := time.Duration(at - hold); got != want*time.Millisecond {
				t.Errorf("%s and %s: %s, want %s", c.slice, c.window, got, want*time.Millisecond)
			}
		}
	}
}
