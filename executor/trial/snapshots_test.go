package trial

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

// The end of a window of so many requests is known when it is seen: the server is asked then, and
// not a look later; of windows shorter than the least time between two questions at some.
func TestSnapshotsOfCountedWindows(t *testing.T) {
	s := snapshots{due: int64(time.Second)}
	for _, c := range []struct {
		now    time.Duration
		passed int
		is     bool
		wait   time.Duration
	}{
		{280 * time.Millisecond, 0, false, 0},
		{290 * time.Millisecond, 1, true, 0},
		{300 * time.Millisecond, 1, false, 0},
		{500 * time.Millisecond, 2, false, 0}, // too soon
		{560 * time.Millisecond, 2, false, 0}, // and too late
		{600 * time.Millisecond, 4, true, 0},
		{980 * time.Millisecond, 4, false, 0},
		{995 * time.Millisecond, 4, true, 5 * time.Millisecond},
		{996 * time.Millisecond, 5, true, 0},
	} {
		wait, is := s.wait(int64(c.now), c.passed)
		if is != c.is || time.Duration(wait) != c.wait {
			t.Errorf("after %s, %d windows: %t, %s", c.now, c.passed, is, time.Duration(wait))
		}
	}
}
