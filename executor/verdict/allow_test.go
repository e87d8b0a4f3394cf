package verdict

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// open returns a measured node whose gates are inconclusive for these causes.
func open(causes ...result.Cause) *result.Node {
	n := node(9)
	for _, c := range causes {
		a := assertion("s/1", result.Inconclusive)
		a.Cause = c
		n.Assertions = append(n.Assertions, a)
	}
	return n
}

// TestAllow: a run is allowed to be inconclusive if every cause may be, and nothing else is missing.
func TestAllow(t *testing.T) {
	skipped := with(node(0, result.Skipped), result.SkippedNode, "x")
	skipped.Validity.Findings = []result.Finding{{Code: result.NoData}}
	unanswered := open(result.CauseSamples)
	unanswered.Metrics = node(0).Metrics
	for _, row := range []struct {
		name string
		r    *result.Result
		o    RunOutcome
		want bool
	}{
		{"left open by the client", run(open(result.CauseClient)), RunOutcome{}, true},
		{"too few samples, bounds", run(open(result.CauseSamples, result.CauseBounds)), RunOutcome{}, true},
		{"invalid", run(with(open(result.CauseInvalid), result.Invalid, "late")), RunOutcome{}, true},
		{"beside one that passed", run(node(9, result.Pass), open(result.CauseSamples)), RunOutcome{}, true},
		{"of the plan", ofPlan(run(node(9, result.Pass)), open(result.CauseBounds).Assertions[0]), RunOutcome{}, true},
		{"passed", run(node(9, result.Pass)), RunOutcome{}, false},
		{"failed", run(node(9, result.Fail), open(result.CauseClient)), RunOutcome{}, false},
		{"no data", run(open(result.CauseNoData)), RunOutcome{}, false},
		{"one without data", run(open(result.CauseClient), open(result.CauseNoData)), RunOutcome{}, false},
		{"unknown cause", run(open("")), RunOutcome{}, false},
		{"no level", run(open(result.CauseNoLevel)), RunOutcome{}, false},
		{"no level holds", run(level(open(result.CauseSamples), "1", result.Fail, true)), RunOutcome{}, false},
		{"unstable", run(with(open(result.CauseSamples), result.Unstable, "x")), RunOutcome{}, false},
		{"node interrupted", run(with(open(result.CauseSamples), result.InterruptedNode, "x")), RunOutcome{}, false},
		{"out of time", run(open(result.CauseSamples)), RunOutcome{OutOfTime: "x"}, false},
		{"interrupted", run(open(result.CauseSamples)), RunOutcome{Signal: 2}, false},
		{"no success", run(unanswered), RunOutcome{}, false},
		{"no gate on data", run(warned(node(9, result.Pass)), open(result.CauseSamples)), RunOutcome{}, false},
		{"skipped for want of data", run(open(result.CauseSamples), skipped), RunOutcome{}, false},
		{"search without result", run(tried(open(result.CauseInvalid), false)), RunOutcome{}, false},
		{"nothing ran", &result.Result{}, RunOutcome{}, false},
	} {
		code, v, _ := Exit(row.r, row.o)
		row.r.ExitCode, row.r.Verdict = code, v
		Allow(row.r, row.o)
		if row.want {
			code = CodePass
		}
		if row.r.Allowed != row.want || row.r.ExitCode != code || row.r.Verdict != v {
			t.Errorf("%s: exit %d, allowed %v", row.name, row.r.ExitCode, row.r.Allowed)
		}
	}
}
