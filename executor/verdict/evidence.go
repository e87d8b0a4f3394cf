package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// missingForPass returns what is missing for a pass, or "": a measurement, a level that holds on a
// ladder, evidence of a node that ran, a reason for a stage that was skipped. judged reports whether a node
// was judged as far as is wanted.
func missingForPass(r *result.Result, judged func(*result.Node) bool) string {
	if len(r.Nodes) == 0 {
		return "nothing was measured"
	}
	lacksData := func(n *result.Node) bool {
		return n.Outcome == result.SkippedNode && hasFinding(n, result.NoData)
	}
	if reason := firstNode(r, "was skipped for want of data", lacksData); reason != "" {
		return reason
	}
	if !slices.ContainsFunc(r.Nodes, func(n *result.Node) bool { return n.Outcome != result.SkippedNode }) {
		return "every stage was skipped: nothing was measured"
	}
	reason := cmp.Or(firstNode(r, "was interrupted", hasOutcome(result.InterruptedNode)), noLevelHolds(r))
	if reason != "" {
		return reason
	}
	for _, n := range r.Nodes {
		if n.Outcome == result.SkippedNode || isLadderEnd(n) {
			continue
		}
		if reason := missingSuccess(n); reason != "" {
			return reason
		}
		if !judged(n) && !isRanked(r, n) {
			return fmt.Sprintf("no gate of %s was judged on data: assert something that is measured there",
				n.ID)
		}
	}
	return firstNode(r, "was skipped although nothing failed", func(n *result.Node) bool {
		return n.Outcome == result.SkippedNode && !hasFinding(n, result.NotNeeded)
	})
}

// isRanked reports whether a node was judged by the `where` of a stage that has a best node.
func isRanked(r *result.Result, n *result.Node) bool {
	b := r.BestOf(n.Stage)
	return b != nil && b.Node != "" && slices.ContainsFunc(b.Ranking, func(x result.Ranked) bool { return x.Node == n.ID })
}

// noLevelHolds returns a ladder without a level that holds, "" if there is none. The levels of a
// ladder are the nodes of one stage at one point.
func noLevelHolds(r *result.Result) string {
	ladder := func(n *result.Node) string {
		point := maps.Clone(n.Point)
		delete(point, n.Load.Kind)
		return fmt.Sprintf("%q %q", n.Stage, point)
	}
	holds := map[string]bool{}
	for _, n := range r.Nodes {
		if n.Outcome != result.SkippedNode && !isLadderEnd(n) {
			holds[ladder(n)] = true
		}
	}
	for _, n := range r.Nodes {
		if isLadderEnd(n) && !holds[ladder(n)] {
			return fmt.Sprintf("no level of %s holds: %s: %s", n.Stage, n.ID, ladderEndReason(n))
		}
	}
	return ""
}

// isLadderEnd reports whether a node is a level at which `while` does not hold: it is shown and
// decides nothing.
func isLadderEnd(n *result.Node) bool { return hasFinding(n, result.LadderEnd) }

func hasFinding(n *result.Node, code string) bool { return n.Finding(code) != nil }

// ladderEndReason returns why `while` does not hold at a level, which has such a finding.
func ladderEndReason(n *result.Node) string {
	for _, a := range n.While {
		if a.Verdict != result.Pass {
			return a.Reason
		}
	}
	return n.Finding(result.LadderEnd).Text
}

// missingSuccess returns what a node lacks for a pass, or "": a trial that counts, an OK request, one of each
// entry of its mix.
func missingSuccess(n *result.Node) string {
	if len(n.Trials) > 0 && !slices.ContainsFunc(n.Trials, func(t result.Trial) bool { return t.Used }) {
		return fmt.Sprintf("the search of %s found nothing: %s", n.ID, n.Reason)
	}
	for i, repeat := range n.Repeats {
		if len(n.Trials) > 0 && result.Succeeded(repeat.Metrics) == 0 {
			return fmt.Sprintf("the search of %s found nothing in repeat %d of %d: %s",
				n.ID, i+1, len(n.Repeats), repeat.Reason)
		}
	}
	if sent, ok := n.Metrics[metric.RequestsCount].Stat(metric.Stat{}); ok && sent == 0 {
		return fmt.Sprintf("no request of %s was sent while it was measured", n.ID)
	}
	if result.Succeeded(n.Metrics) == 0 {
		return fmt.Sprintf("no request of %s succeeded%s", n.ID, failures(n))
	}
	for _, s := range n.Scopes {
		if s.Mix != "" && s.Phase == "" && result.Succeeded(s.Metrics) == 0 {
			return fmt.Sprintf("no request of entry %q of the mix of %s succeeded: send more requests, "+
				"or give it a larger weight", s.Mix, n.ID)
		}
	}
	return ""
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
		return a.Severity != result.Warn && a.Verdict == result.Pass && (a.Observed != nil || a.Infinite)
	}
	return slices.ContainsFunc(n.Assertions, passed) || slices.ContainsFunc(n.While, passed) ||
		slices.ContainsFunc(n.Trials,
			func(t result.Trial) bool { return t.Used && slices.ContainsFunc(t.While, passed) })
}
