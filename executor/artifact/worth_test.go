package artifact

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// TestWorth: tables say what samples are worth that depend on each other, and nothing of others.
func TestWorth(t *testing.T) {
	v := 0.05
	for want, a := range map[string]result.Assertion{
		"2530 samples, worth 58 independent": {Verdict: result.Pass, Samples: 2530, Effective: 58},
		"": {
			Verdict: result.Fail, Observed: &v, Limit: &v, Samples: 99, Effective: 99,
		},
		"too few": {
			Verdict: result.Inconclusive, Reason: "too few", Samples: 9, Effective: 2,
		},
	} {
		if got := reasonText(a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
	n := &result.Node{Outcome: result.Done, Duration: 15}
	a := result.Assertion{Verdict: result.Inconclusive, Samples: 2530, Effective: 58, Needed: 59}
	if got, want := advice(a, n), "measure for about 16 s instead of 15 s"; got != want {
		t.Errorf("advice %q, want %q", got, want)
	}
	if a.Cause = result.CauseBounds; advice(a, n) != "" {
		t.Errorf("advice %q beside the reason's", advice(a, n))
	}
}
