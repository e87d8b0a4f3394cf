package verdict

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// sofar is a run of which so many of so many requests are bad.
type sofar struct{ bad, n int64 }

func (s sofar) Quantity(r expression.Ref) expression.Quantity {
	switch r.Leaf.String() {
	case "errors.ratio":
		return quantity(float64(s.bad)/float64(s.n), s.n, 1)
	case "errors.count", "latency.max":
		return quantity(float64(s.bad), s.n, 1)
	case "latency.mean", "throughput", "latency.min":
		return quantity(1, s.n, 1)
	}
	return expression.Quantity{Why: "not known yet"}
}

func (s sofar) OwnNode(r expression.Ref) bool { return !r.Baseline && r.Node == "" }

func (s sofar) Exceeding(expression.Ref, string, float64) (over, n int64, ok bool) {
	return s.bad, s.n, s.n > 0
}

// TestAbortSimulation: 50 requests a second for 60 s, a limit of 5 % and a look each second. Of
// 1,000 runs whose true share is 3 % none may be stopped; of those at 8 % all are, half of them
// within 8 s.
func TestAbortSimulation(t *testing.T) {
	const rate, seconds, runs = 50, 60, 1000
	for _, that := range []string{
		"errors.ratio < 5%", "latency.p95 < 50ms",
		"errors.ratio < 5% and latency.p99.9 < 1h",
	} {
		p, a := compile(t, that), scenario.Assertion{Abort: true}
		for share, want := range map[float64]int{.03: 0, .08: runs} {
			rng, stopped := rand.New(rand.NewPCG(1, uint64(share*100))), []int{}
			if that == "errors.ratio < 5% and latency.p99.9 < 1h" && share < .05 {
				continue // p99.9 counts the same requests here
			}
			for range runs {
				var s sofar
				for second := 1; second <= seconds; second++ {
					for range rate {
						if s.n++; rng.Float64() < share {
							s.bad++
						}
					}
					if Abort(a, p, s) != "" {
						stopped = append(stopped, second)
						break
					}
				}
			}
			if len(stopped) != want {
				t.Errorf("%s: %d of %d runs at %v were stopped, want %d", that, len(stopped),
					runs, share, want)
			}
			if slices.Sort(stopped); want > 0 && stopped[len(stopped)/2] > 8 {
				t.Errorf("%s: at %v half were stopped after %d s, want 8", that, share,
					stopped[len(stopped)/2])
			}
		}
	}
}

func TestAbort(t *testing.T) {
	for _, row := range []struct {
		that   string
		bad, n int64
		least  int
		want   string
	}{
		{"errors.ratio < 5%", 29, 29, 0, ""}, // whatever they say, fewer than 30 requests end nothing
		{
			"errors.ratio < 5%", 30, 30, 0,
			"errors.ratio < 5% is certainly false: errors.ratio is 100 %, the limit is 5 % (n = 30)",
		},
		{"errors.ratio < 5%", 30, 30, 100, ""},
		{"errors.ratio < 5%", 10, 100, 0, ""},
		{
			"errors.ratio < 5%", 14, 100, 0,
			"errors.ratio < 5% is certainly false: errors.ratio is 14 %, the limit is 5 % (n = 100)",
		},
		{
			"5% > errors.ratio", 14, 100, 0,
			"5% > errors.ratio is certainly false: errors.ratio is 14 %, the limit is 5 % (n = 100)",
		},
		{
			"100% - errors.ratio >= 95%", 14, 100, 0,
			"100% - errors.ratio >= 95% is certainly false: 100% - errors.ratio is 86 %, the limit is 95 % (n = 100)",
		},
		{
			"not (errors.ratio >= 5%)", 14, 100, 0,
			"not (errors.ratio >= 5%) is certainly false: errors.ratio is 14 %, the limit is 5 % (n = 100)",
		},
		{
			"errors.count == 0", 1, 2, 0,
			"errors.count == 0 is certainly false: errors.count is 1, it must be 0 (n = 2)",
		},
		{"errors.count == 0", 0, 2, 0, ""},
		{"errors.count < 3", 2, 2, 0, ""},
		{
			"errors.count < 3", 3, 9, 0,
			"errors.count < 3 is certainly false: errors.count is 3, the limit is 3 (n = 9)",
		},
		{"errors.count > 3", 0, 500, 0, ""}, // more may come
		{
			"latency.max < 2s", 3, 500, 0,
			"latency.max < 2s is certainly false: latency.max is 3 s, the limit is 2 s (n = 500)",
		},
		{
			"latency.min > 2s", 3, 500, 0,
			"latency.min > 2s is certainly false: latency.min is 1 s, the limit is 2 s (n = 500)",
		},
		{"latency.min < 500ms", 3, 500, 0, ""},  // a faster one may come
		{"latency.mean < 500ms", 3, 500, 0, ""}, // it may come back
		{"throughput > 9/s", 3, 500, 0, ""},
		{"latency.p99 < 50ms", 29, 29, 0, ""},
		{
			"latency.p99 < 50ms", 3, 30, 0,
			"latency.p99 < 50ms is certainly false: 3 of 30 requests so far have latency >= 50 ms",
		},
		{"latency.p99 < 50ms", 2, 30, 0, ""},
		{
			"latency.p50 > 50ms", 3, 30, 0,
			"latency.p50 > 50ms is certainly false: 27 of 30 requests so far have latency <= 50 ms",
		},
		{
			"not (latency.p99 >= 50ms)", 9, 30, 0,
			"not (latency.p99 >= 50ms) is certainly false: 9 of 30 requests so far have latency >= 50 ms",
		},
		{
			"latency.p99 < 50ms or errors.count == 0", 9, 30, 0,
			"latency.p99 < 50ms or errors.count == 0 is certainly false: 9 of 30 requests so far have latency >= 50 ms",
		},
		{"latency.p99 < 50ms or errors.count < 10", 9, 30, 0, ""},
		{
			"latency.p99 < 50ms and connect.p99 < 1s", 9, 30, 0,
			"latency.p99 < 50ms and connect.p99 < 1s is certainly false: 9 of 30 requests so far have latency >= 50 ms",
		},
		{"service_time.mean < 50ms", 9, 30, 0, ""},
	} {
		a := scenario.Assertion{Abort: true, MinSamples: row.least}
		a.That.Text = row.that
		if got := Abort(a, compile(t, row.that), sofar{row.bad, row.n}); got != row.want {
			t.Errorf("%s with %d of %d\ngot  %q\nwant %q", row.that, row.bad, row.n, got, row.want)
		}
	}
	if got := Abort(scenario.Assertion{}, compile(t, "errors.count == 0"), sofar{9, 9}); got != "" {
		t.Errorf("without abort: %s", got)
	}
}
