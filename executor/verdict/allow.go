package verdict

import (
	"slices"

	"github.com/sluice-bench/sluice/executor/result"
)

// Allow gives an inconclusive run the exit code 0 if every cause is one that may be allowed: an invalid
// measurement, too few samples, a limit within the bounds of a confidence or the client's delay. Its verdict
// stays. A run without data, without a request that succeeded, without a level that holds, without its
// baseline, that did not become stable or that was cut short keeps its code.
func Allow(r *result.Result, o RunOutcome) {
	if r.Verdict == result.Inconclusive && o.OutOfTime == "" && mayBeAllowed(r) {
		r.ExitCode, r.Allowed = CodePass, true
	}
}

func mayBeAllowed(r *result.Result) bool {
	for _, a := range r.Judged() {
		if openGate(a) && !allowed(a) {
			return false
		}
	}
	judged := func(n *result.Node) bool { return judgedOnData(n) || openByAllowed(n) }
	return missingForPass(r, judged) == "" && !slices.ContainsFunc(r.Nodes, hasOutcome(result.Unstable))
}

func openGate(a result.Assertion) bool {
	return a.Severity != result.Warn && a.Verdict == result.Inconclusive
}

// allowed reports whether the cause of an inconclusive gate is one that may be allowed.
func allowed(a result.Assertion) bool {
	return slices.Contains([]result.Cause{
		result.CauseClient, result.CauseInvalid, result.CauseSamples, result.CauseBounds,
	}, a.Cause)
}

// openByAllowed reports whether a gate of a node is open for a cause that may be allowed.
func openByAllowed(n *result.Node) bool {
	return slices.ContainsFunc(n.Assertions, func(a result.Assertion) bool {
		return openGate(a) && allowed(a)
	})
}
