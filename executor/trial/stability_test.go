package trial

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestDisagreement: a node that is not stable says which metric varied, and by how much; those that
// agree are left out.
func TestDisagreement(t *testing.T) {
	c, err := metric.New()
	if err != nil {
		t.Fatal(err)
	}
	const none = -1
	for _, row := range []struct {
		values map[string][]float64
		want   string
	}{
		{
			map[string][]float64{"throughput": {10, 80, 90, 98.4}, "latency.p95": {1, .02, .0201, .02}},
			"throughput varied by 23 % (80/s to 98.4/s)",
		},
		{
			map[string][]float64{"throughput": {98, 98, 98, 98}, "latency.p95": {.02, .02, .02, .041}},
			"latency.p95 varied by 105 % (20 ms to 41 ms)",
		},
		{
			map[string][]float64{"throughput": {80, 80, 98.4}, "latency.p95": {.02, .041, .02}},
			"throughput varied by 23 % (80/s to 98.4/s), latency.p95 varied by 105 % (20 ms to 41 ms)",
		},
		{
			map[string][]float64{"throughput": {50, 50, 50}, "latency.p95": {none, .02, none}},
			"latency.p95 has no value in 2 of the last 3 windows",
		},
		{
			map[string][]float64{"throughput": {0, 50, 50}},
			"throughput has no value in 1 of the last 3 windows",
		},
		{map[string][]float64{"errors.ratio": {0, 0.03, 0}}, "errors.ratio varied from 0 % to 3 %"},
		{map[string][]float64{"throughput": {100, 100.01, 110.001}}, ""},
		{
			map[string][]float64{"throughput": {100, 100, 110.2}},
			"throughput varied by 10.2 % (100/s to 110.2/s)",
		},
	} {
		within := 0.1
		if row.want == "" {
			within = 0.11
		}
		s := stability{stable: scenario.UntilStable{Windows: 3, Within: within}}
		for _, name := range []string{"throughput", "latency.p95", "errors.ratio"} {
			leaf, ok := c.Leaf(name)
			if values := row.values[name]; values == nil || !ok {
				continue
			}
			s.leaves = append(s.leaves, leaf)
			for i, v := range row.values[name] {
				if len(s.history) <= i {
					s.history = append(s.history, result.Window{Values: map[string]*float64{}})
				}
				if v != none {
					s.history[i].Values[name] = &v
				}
			}
		}
		if got := s.disagreement(); got != row.want {
			t.Errorf("%v\ngot  %s\nwant %s", row.values, got, row.want)
		}
	}
}
