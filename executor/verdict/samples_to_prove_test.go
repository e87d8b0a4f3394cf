package verdict

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// TestNeededProves: with the samples that an assertion needs it can pass, with one fewer it cannot,
// and its result says how many those are.
func TestNeededProves(t *testing.T) {
	b := newBuild(t)
	for _, c := range []struct {
		that       string
		confidence float64
		failed     bool // all requests
		needed     int64
	}{
		{"errors.ratio < 1%", .95, false, 299},
		{"errors.ratio < 1%", .99, false, 459},
		{"0.1% > errors.ratio", .95, false, 2995},
		{"errors.ratio >= 90%", .95, true, 29},
		{"not (errors.ratio >= 1%)", .95, false, 299},
		{"errors.ratio < 1% or errors.ratio < 5%", .95, false, 59},
		{"errors.ratio < 1% and latency.p50 < 1s", .95, false, 299},
		{"latency.p99 < 1s", .95, false, 299},
	} {
		a := scenario.Assertion{Confidence: c.confidence}
		a.That.Text = c.that
		p := compile(t, c.that)
		if n, ok := SamplesNeeded(a, p); n != c.needed || !ok {
			t.Errorf("%s needs %d, %v; want %d", c.that, n, ok, c.needed)
			continue
		}
		judged := func(n int64) result.Assertion {
			failed := 0
			if c.failed {
				failed, n = int(n), 0
			}
			node := b.node("s", failed, same(10, int(n))...)
			return Judge(a, p, Context{}, result.Values(&result.Result{Nodes: []*result.Node{node}}, node))
		}
		if got := judged(c.needed); got.Verdict != result.Pass || got.Needed > c.needed {
			t.Errorf("%s with %d: %s, needed %d", c.that, c.needed, got.Verdict, got.Needed)
		}
		if got := judged(c.needed - 1); got.Verdict != result.Inconclusive || got.Needed != c.needed &&
			c.needed != 59 {
			t.Errorf("%s with %d: %s, needed %d", c.that, c.needed-1, got.Verdict, got.Needed)
		}
	}
}

// TestNeverProven: what no number of requests proves.
func TestNeverProven(t *testing.T) {
	for that, want := range map[string]bool{
		"errors.ratio <= 0%":                            false,
		"errors.ratio >= 100%":                          false,
		"errors.ratio < 1% and errors.ratio <= 0%":      false,
		"errors.ratio <= 0% or errors.ratio < 1%":       true,
		"errors.ratio <= 0% or latency.p50 < 1s":        true,
		"not (errors.ratio <= 0%)":                      true,
		"errors.ratio < 1%":                             true,
		`errors.ratio <= 1.1 * stage("x").errors.ratio`: true,
		"errors.count == 0":                             true,
		"errors.ratio < 1% and requests.count > 100":    true,
	} {
		if _, ok := SamplesNeeded(scenario.Assertion{Confidence: .95}, compile(t, that)); ok != want {
			t.Errorf("%s can be proven: %v", that, ok)
		}
	}
	if _, ok := SamplesNeeded(scenario.Assertion{}, compile(t, "errors.ratio <= 0%")); !ok {
		t.Error("a point is proven by itself")
	}
}
