package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// emptyPass finds evidence that is missing for a pass: a run that measured nothing, a ladder
// without a level that holds, a node that ran without evidence, a stage that was skipped although
// nothing failed.
func emptyPass(r *result.Result) (string, bool) {
	if !slices.ContainsFunc(r.Nodes, func(n *result.Node) bool { return n.Outcome != result.SkippedNode }) {
		return "every stage was skipped: nothing was measured", true
	}
	if reason, ok := nodes(r, "was interrupted",
		func(n *result.Node) bool { return n.Outcome == result.InterruptedNode }); ok {
		return reason, true
	}
	if reason, ok := noLevelHolds(r); ok {
		return reason, true
	}
	for _, n := range r.Nodes {
		if n.Outcome == result.SkippedNode || isLadderEnd(n) {
			continue
		}
		if reason := missingEvidence(n); reason != "" {
			return reason, true
		}
	}
	return nodes(r, "was skipped although nothing failed", func(n *result.Node) bool {
		return n.Outcome == result.SkippedNode && !hasFinding(n, result.NotNeeded)
	})
}

// noLevelHolds finds a ladder without a level that holds. The levels of a ladder are the nodes of
// one stage at one point.
func noLevelHolds(r *result.Result) (string, bool) {
	type ladder struct{ stage, point string }
	of := func(n *result.Node) ladder {
		var point []string
		for axis, value := range n.Point {
			if axis != n.Load.Kind {
				point = append(point, axis+"="+value)
			}
		}
		slices.Sort(point)
		return ladder{n.Stage, strings.Join(point, ",")}
	}
	holds := map[ladder]bool{}
	for _, n := range r.Nodes {
		holds[of(n)] = holds[of(n)] || n.Outcome != result.SkippedNode && !isLadderEnd(n)
	}
	for _, n := range r.Nodes {
		if isLadderEnd(n) && !holds[of(n)] {
			return fmt.Sprintf("no level of %s holds: %s: %s", n.Stage, n.ID, ladderEndReason(n)), true
		}
	}
	return "", false
}

// isLadderEnd reports whether a node is a level at which `while` does not hold: it is shown and
// decides nothing.
func isLadderEnd(n *result.Node) bool { return hasFinding(n, result.LadderEnd) }

func hasFinding(n *result.Node, code string) bool {
	return slices.ContainsFunc(n.Validity.Findings, func(f result.Finding) bool { return f.Code == code })
}

// ladderEndReason returns why `while` does not hold at a level.
func ladderEndReason(n *result.Node) string {
	for _, a := range n.While {
		if a.Verdict != result.Pass {
			return a.Reason
		}
	}
	for _, f := range n.Validity.Findings {
		if f.Code == result.LadderEnd {
			return f.Text
		}
	}
	return n.Reason
}

// missingEvidence returns what a node lacks for a pass, or "": an OK request, one of each entry of
// its mix, and a gate or `while` that was judged on data.
func missingEvidence(n *result.Node) string {
	if len(n.Trials) > 0 && !slices.ContainsFunc(n.Trials, func(t result.Trial) bool { return t.Used }) {
		return fmt.Sprintf("the search of %s found nothing: %s", n.ID, n.Reason)
	}
	if i := slices.IndexFunc(n.Repeats, func(r result.Repeat) bool {
		return len(n.Trials) > 0 &&
			countSucceeded(r.Metrics) == 0
	}); i >= 0 {
		return fmt.Sprintf("the search of %s found nothing in repeat %d of %d: %s", n.ID, i+
			1, len(n.Repeats), n.Repeats[i].Reason)
	}
	if sent, ok := n.Metrics[metric.RequestsCount].Stat(metric.Stat{}); ok && sent == 0 {
		return fmt.Sprintf("no request of %s was sent while it was measured", n.ID)
	}
	if countSucceeded(n.Metrics) == 0 {
		return fmt.Sprintf("no request of %s succeeded%s", n.ID, failures(n))
	}
	for _, s := range n.Scopes {
		if s.Mix != "" && s.Phase == "" && countSucceeded(s.Metrics) == 0 {
			return fmt.Sprintf("no request of entry %q of the mix of %s succeeded: send more requests, "+
				"or give it a larger weight", s.Mix, n.ID)
		}
	}
	if !judgedOnData(n) {
		return fmt.Sprintf("no gate of %s was judged on data: assert something that is measured there", n.ID)
	}
	return ""
}

// countSucceeded returns the number of OK requests.
func countSucceeded(metrics map[string]*result.Metric) int64 {
	if m := metrics[metric.Latency]; m != nil && m.Count != nil {
		return *m.Count
	}
	return 0
}

// failures lists the error classes of a node, most frequent first.
func failures(n *result.Node) string {
	var classes []string
	for _, e := range n.Errors {
		classes = append(classes, fmt.Sprintf("%d %s", e.Count, e.Class))
	}
	if len(classes) == 0 {
		return ""
	}
	return ": failures: " + strings.Join(classes, ", ")
}

// judgedOnData reports whether a gate passed, or `while` held, on measured values. A gate that
// passes because of on_no_data has none.
func judgedOnData(n *result.Node) bool {
	passed := func(a result.Assertion) bool {
		return a.Severity != result.Warn && a.Verdict == result.Pass && a.Observed != nil
	}
	if slices.ContainsFunc(n.Assertions, passed) || slices.ContainsFunc(n.While, passed) {
		return true
	}
	return slices.ContainsFunc(n.Trials,
		func(t result.Trial) bool { return t.Used && slices.ContainsFunc(t.While, passed) })
}
