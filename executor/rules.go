package executor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// failure says why a node counts as failed for those that need it, or "". Inconclusive and unstable
// do not.
func failure(n *result.Node) string {
	if failed(n) {
		return n.Reason
	}
	for _, a := range n.Assertions {
		if a.Severity != result.Warn && (a.Verdict == result.Fail || a.Verdict == result.ErrorVerdict) {
			return fmt.Sprintf("%s: %s", a.ID, a.Verdict)
		}
	}
	return ""
}

// skip says why a node is not to run, or "". Silent ones leave no trace: the rest of a ladder that
// `while` ended, and of one without an end, as how far it would have gone is unknown.
func (m *member) skip(n *program.Node) (why string, silent bool) {
	if why := cmp.Or(m.r.unfit, m.r.stops.now()); why != "" {
		return why, n.Endless()
	}
	if n.First() {
		return m.r.needs(n.Stage), false
	}
	before := m.repeats[n.Prev].sofar()
	if before == nil {
		return "the level before was not reached", true
	}
	if failed(before) {
		return before.Reason, n.Endless()
	}
	if open := whileOpen(m.repeats[n.Prev].short(), n.Prev, m.values(before)); open != "" {
		return open + " at " + n.Prev.ID, true
	}
	return "", false
}

// ladderEnd notes at a level whose `while` does not hold that it is the end: it is shown, and does
// not count as reached.
func ladderEnd(p *program.Program, n *program.Node, out *result.Node, open string) {
	more := slices.ContainsFunc(p.Nodes, func(o *program.Node) bool { return o.Prev == n })
	if failed(out) || len(n.While) == 0 && !more {
		return // nothing was measured, or there are no levels
	}
	text := p.Plan.Mask(open) + " here"
	if more {
		text += ": the levels after this one did not run"
	}
	note(out, result.LadderEnd, text)
}

// failed reports whether a node has measured nothing.
func failed(n *result.Node) bool {
	return n.Outcome == result.Failed || n.Outcome == result.SkippedNode
}

// notNeeded says why a stage that waits for a failure is skipped where there was none.
const notNeeded = "nothing that it needs has failed"

// needs applies `when` to the stages that must have ended before. A failure with `on_fail: continue`
// does not hold up a stage that waits for success; it counts for one that waits for a failure.
func (r *runner) needs(s *scenario.Stage) string {
	failed, blocked := false, ""
	for _, need := range s.Needs {
		stages := r.program.Plan.Stages
		i := slices.IndexFunc(stages, func(s *scenario.Stage) bool { return s.ID == need.ID })
		if i < 0 || stages[i].When == "never" {
			continue // as if absent
		}
		why := r.failed[need.ID]
		failed = failed || why != ""
		if why != "" && stages[i].OnFail != "continue" {
			blocked = fmt.Sprintf("stage %q failed (%s)", need.ID, why)
			if wasSkipped(r.result.Nodes, need.ID) {
				blocked = fmt.Sprintf("stage %q was skipped (%s)", need.ID, why)
			}
		}
	}
	switch {
	case s.When == "success" && blocked != "":
		return blocked
	case s.When == "failure" && !failed:
		return notNeeded
	}
	return ""
}

// wasSkipped reports whether no node of a stage ran.
func wasSkipped(nodes []*result.Node, stage string) bool {
	return !slices.ContainsFunc(nodes, func(n *result.Node) bool {
		return n.Stage == stage && n.Outcome != result.SkippedNode
	})
}
