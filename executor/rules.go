package executor

import (
	"fmt"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// failure says why a node counts as failed for those that need it, or "". Inconclusive and unstable do not.
func failure(n *result.Node) string {
	if n.Outcome == result.Failed || n.Outcome == result.SkippedNode {
		return n.Reason
	}
	for _, a := range n.Assertions {
		if a.Severity != result.Warn && (a.Verdict == result.Fail || a.Verdict == result.ErrorVerdict) {
			return fmt.Sprintf("%s: %s", a.ID, a.Verdict)
		}
	}
	return ""
}

// skip says why a node is not to run, or "". Silent ones leave no trace: the rest of a ladder that `while` ended.
func (m *member) skip(n *Node) (why string, silent bool) {
	if why := m.r.stops.now(); why != "" {
		return why, false
	}
	if n.first() {
		return m.r.needs(n.Stage), false
	}
	before := m.repeats[n.prev].sofar()
	if before == nil {
		return "the level before was not reached", true
	}
	if before.Outcome == result.SkippedNode || before.Outcome == result.Failed {
		return before.Reason, false
	}
	if text, holds := m.whileHolds(n.prev, before); !holds {
		return fmt.Sprintf("%s is not true at %s", text, n.prev.ID), true
	}
	return "", false
}

// ended notes at the last level of a ladder why those after it did not run.
func (m *member) ended(n *Node) {
	last := m.repeats[n.prev].sofar()
	if last == nil {
		return // that was a level before
	}
	text, _ := m.whileHolds(n.prev, last)
	last.Validity.Findings = append(last.Validity.Findings, result.Finding{
		Code: "ladder_end", Severity: result.Note, Text: m.r.program.Plan.Mask(text) + " is not true here: the levels after this one did not run",
	})
}

// needs applies `when` to the stages that must have come before. A failure with `on_fail: continue` holds up nobody who
// waits for success; it is still a failure for who waits for that.
func (r *runner) needs(s *scenario.Stage) string {
	failed, blocked := false, ""
	for _, need := range s.Needs {
		dep := r.stage(need.ID)
		if dep == nil || dep.When == "never" {
			continue // as if absent
		}
		why := r.failed[need.ID]
		failed = failed || why != ""
		if why != "" && dep.OnFail != "continue" {
			blocked = fmt.Sprintf("stage %q failed (%s)", need.ID, why)
		}
	}
	switch {
	case s.When == "success" && blocked != "":
		return blocked
	case s.When == "failure" && !failed:
		return "nothing that it needs has failed"
	}
	return ""
}

func (r *runner) stage(id string) *scenario.Stage {
	for _, s := range r.program.Plan.Stages {
		if s.ID == id {
			return s
		}
	}
	return nil
}
