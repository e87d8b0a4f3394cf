package executor

import (
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestSteadySpan: steady. takes rates, times and counts of the span with at least 90 % of the most in flight,
// of the stage and of an entry of its mix: the ramp and the tail of a short run are left out.
func TestSteadySpan(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: triton, url: URL, model: simple, statistics: none}
stages:
  - id: ramp
    load: {concurrency: {ramp: [{to: 6, over: 400ms, hold: 400ms, name: full}]}}
    mix: {a: {weight: 1}, b: {weight: 1}}
    assert: [steady.latency.p95 < 5s, steady.errors.count == 0, steady.mix("b").errors.ratio <= 0%, 'steady.mix("a").requests.count > 0']
  - id: stable
    load: {concurrency: 2}
    until: {stable: {window: 40ms, windows: 3, within: 999%, max_windows: 4}}
    assert: [steady.errors.count == 0]
`, s.HTTPURL(), Env{})
	for _, id := range []string{"ramp", "stable"} {
		n := node(t, r, id)
		for _, a := range n.Assertions {
			if id == "ramp" && a.Verdict != result.Pass {
				t.Errorf("%s: %s: %s: %s", id, a.That, a.Verdict, a.Reason)
			}
		}
		part := n.Scope("steady", "")
		if part == nil || part.Duration <= 0 || part.Duration > n.Duration+1e-6 {
			t.Errorf("%s: %+v", id, part)
		}
	}
	n := node(t, r, "ramp")
	count := func(s *result.Scope, row string) float64 { return *s.Metrics[row].Value }
	a, b, both := n.Scope("steady", "a"), n.Scope("steady", "b"), n.Scope("steady", "")
	if a == nil || b == nil || both == nil {
		t.Fatal("the steady span was not measured")
	}
	if count(a, "requests.count")+count(b, "requests.count") != count(both, "requests.count") {
		t.Error("the entries are not the whole")
	}
	if both.From < 0.15 {
		t.Errorf("steady from %g s", both.From)
	}
}
