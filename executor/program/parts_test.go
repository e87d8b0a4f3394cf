package program

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario"
)

// TestLastHold: the last value of a ramp is held until the node is over, be it by `for` or by the
// others of its group, and all of that is its hold. Where the ramp says itself when it is over, it
// ends there.
func TestLastHold(t *testing.T) {
	const ramp = "load: {concurrency: {ramp: [{to: 4, over: 1s, hold: 1s}]}}"
	for stage, to := range map[string]int64{
		"  - {id: s, " + ramp + "}\n":          2e9,
		"  - {id: s, " + ramp + ", for: 5m}\n": math.MaxInt64,
		"  - parallel:\n      - {id: s, " + ramp +
			", until: others}\n      - {id: o, load: {concurrency: 1}, for: 50s}\n": math.MaxInt64,
	} {
		p, diags := compiling(t, "\nstages:\n"+stage)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		want := []phase{
			{name: scenario.RampPhase, spans: []measure.Span{{From: 0, To: 1e9}}},
			{name: scenario.HoldPhase, spans: []measure.Span{{From: 1e9, To: to}}},
		}
		if d := cmp.Diff(want, p.Nodes[0].phases, cmp.AllowUnexported(phase{})); d != "" {
			t.Errorf("%s%s", stage, d)
		}
	}
}
