package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drifting draws requests at a constant rate whose latencies do not wait for each other, on a machine whose
// speed changes slowly: by 2 % (standard deviation), as long as an eighth of the run.
func drifting(r *rand.Rand, n int) []request {
	list := make([]request, n)
	keep := math.Exp(-8 / float64(n))
	state := r.NormFloat64()
	for i := range list {
		state = keep*state + math.Sqrt(1-keep*keep)*r.NormFloat64()
		list[i] = request{float64(i), (1 + 0.02*state) * (1 + 0.03*r.ExpFloat64()), false}
	}
	return list
}

// TestLittleDrift: bounds of a latency that hardly changes are never refused, hold the truth, and are near
// its value, though requests beyond a percentile come together.
func TestLittleDrift(t *testing.T) {
	const runs, n = 200, 1500
	var all Dist
	for run := range uint64(runs) {
		for _, x := range drifting(rand.New(rand.NewPCG(run, 1)), n) {
			all.Add(int64(x.latency * nsPerService))
		}
	}
	var truth []float64
	for _, p := range []float64{50, 95, 99} {
		v, _ := all.Rank(p)
		truth = append(truth, float64(v))
	}
	truth = append(truth, all.Mean())
	missed, wide := make([]int, len(truth)), 0
	for run := range uint64(runs) {
		k := keep(drifting(rand.New(rand.NewPCG(run, 2)), n))
		parts, _ := k.intervals(0.95)
		for i, want := range truth {
			x := parts[i]
			switch {
			case x.Refused == Trending: // which some are, for an eighth of a run is long
			case x.Refused != Known || x.Hi-x.Lo > 0.6*want:
				wide++
				t.Logf("run %d, %s: %+v", run, statistics[i], x)
			case x.Lo > want || x.Hi < want:
				missed[i]++
			}
		}
		if x := k.hold.Ratio(k.failed, k.sent, 0.95); x.Hi > 1.01*(1-math.Pow(0.025, 1.0/n)) {
			t.Errorf("run %d: no error in %d requests: %+v", run, n, x)
		}
	}
	if wide > 0 {
		t.Errorf("%d intervals are unknown or wide", wide)
	}
	for i, m := range missed {
		if m > runs/20 {
			t.Errorf("%s: %d of %d intervals miss %v", statistics[i], m, runs, truth[i])
		}
	}
}

// TestEqualParts: parts that are all alike do not depend on each other, whatever their sums round to.
func TestEqualParts(t *testing.T) {
	counts := make([]int64, MaxParts)
	for i := range counts {
		counts[i] = 10
	}
	for seconds := 0.5; seconds <= 100; seconds += 0.5 {
		x := Hold{Seconds: seconds}.Rate(counts, 0.95)
		if rate := 600 / seconds; x.Refused != Known || x.Lo < 0.99*rate || x.Hi > 1.01*rate {
			t.Errorf("%v s: %+v", seconds, x)
		}
	}
}
