package trial

import (
	"fmt"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
)

// TestAbortOfDependentRequests: requests of a queue near capacity that are slow together end no run whose
// assertion has a confidence; where they count as independent they end runs that would have passed. What
// is false beyond doubt ends runs with a confidence too, and so does a server that answers nothing in time.
func TestAbortOfDependentRequests(t *testing.T) {
	slow := func(uint64) server { return steady(1, func(float64) float64 { return 1000 }) }
	seeds := cases.Count(8, 40)
	for _, c := range []struct {
		name, that  string
		server      func(seed uint64) server
		least, most int // aborted runs
	}{
		{"independent", "latency.p95 < 110ms", mm1, 1, seeds},
		{"dependent", "latency.p95 < 110ms, confidence: 95%", mm1, 0, 0},
		{"false", "latency.p95 < 10ms, confidence: 95%", mm1, seeds / 2, seeds},
		{"hangs", "latency.p95 < 100ms, confidence: 95%", slow, seeds, seeds},
	} {
		p := compilePlan(t, fmt.Sprintf("stages: [{id: s, load: {rate: 170/s, arrivals: poisson}, for: 60s, "+
			"assert: [{that: %s, abort: true}]}]", c.that))
		aborted := 0
		for seed := range seeds {
			if n := simulate(t, p, c.server(uint64(seed))); n.Aborted != nil {
				aborted++
				t.Logf("%s, seed %d, after %.1f s: %s", c.name, seed, n.Aborted.At, n.Aborted.Reason)
			}
		}
		if aborted < c.least || aborted > c.most {
			t.Errorf("%s: %d of %d runs were aborted", c.name, aborted, seeds)
		}
	}
}
