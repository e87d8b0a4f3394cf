package trial

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/observe"
)

// TestSettleEnd: a server that counts after it answers is asked again until it has counted what was
// answered; one that never does is given up after a time, and that is said.
func TestSettleEnd(t *testing.T) {
	for name, c := range map[string]struct {
		counts []int64 // of each look; the last stays
		want   int64
		looks  int
		behind bool
	}{
		"at once":         {[]int64{120}, 20, 1, false},
		"late":            {[]int64{118, 119, 119, 120}, 20, 4, false},
		"others use it":   {[]int64{135}, 20, 1, false},
		"never":           {[]int64{119}, 20, 0, true},
		"nothing was due": {[]int64{100}, 0, 1, false},
	} {
		looks := 0
		in := &Requests{Series: []backends.Series{{Name: "other", Unit: "1"}, {Name: "requests", Unit: "1"}}}
		in.Counters = func(_ context.Context, into []int64) (int64, error) {
			into[1] = c.counts[min(looks, len(c.counts)-1)]
			looks++
			return 0, nil
		}
		from := tally{observe.Snapshot{Values: []int64{0, 100}}}
		begun := time.Now()
		got, behind, err := settleEnd(context.Background(), in, from, c.want)
		if err != nil || got[0].Values[1] != c.counts[len(c.counts)-1] || (behind != "") != c.behind {
			t.Errorf("%s: %v, %v, %q", name, got, err, behind)
		}
		if c.looks > 0 && looks != c.looks {
			t.Errorf("%s: %d looks, want %d", name, looks, c.looks)
		}
		if took := time.Since(begun); c.behind && took < settleFor {
			t.Errorf("%s: given up after %v", name, took)
		}
	}
}

// TestSettleStart: before the clock starts what was sent earlier is counted to the end.
func TestSettleStart(t *testing.T) {
	counts, looks := []int64{5, 6, 7, 7, 9}, 0
	count := func(context.Context) (tally, error) {
		looks++
		return tally{observe.Snapshot{Values: []int64{counts[looks-1]}}}, nil
	}
	if c, agrees, err := settled(context.Background(), count, unchanged()); err != nil || !agrees ||
		c[0].Values[0] != 7 || looks != 4 {
		t.Errorf("%v after %d looks, %v, %v", c, looks, agrees, err)
	}
	gone := errors.New("gone")
	fails := func(context.Context) (tally, error) { return nil, gone }
	if _, agrees, err := settled(context.Background(), fails,
		unchanged()); !errors.Is(err, gone) || agrees {
		t.Errorf("%v, %v", agrees, err)
	}
}
