package executor

import (
	"cmp"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
)

// judge judges a node's assertions on its stored form.
func (r *runner) judge(n *Node, out *result.Node) {
	c := circumstances(out)
	if text, holds := r.whileHolds(n, out); !holds && out.Outcome != result.SkippedNode {
		c.SkippedBecause = text + " is not true here: this level is shown and fails nothing"
	}
	values := result.Values(r.result, out)
	for _, check := range n.Checks {
		if check.Program == nil {
			continue
		}
		a := verdict.Judge(check.Assertion, check.Program, c, values)
		if a.ID == DefaultErrors && a.Verdict == result.Fail {
			a.Reason += "; nothing here says how many errors are allowed: write a budget, such as errors.ratio < 0.1%"
		}
		out.Assertions = append(out.Assertions, a)
	}
}

// circumstances are what a node's outcome means for its assertions.
func circumstances(n *result.Node) verdict.Context {
	var c verdict.Context
	switch n.Outcome {
	case result.SkippedNode, result.Failed:
		c.SkippedBecause = n.Reason
	case result.Invalid:
		c.InvalidBecause = n.Reason
	case result.Unstable:
		c.UnstableBecause = n.Reason
	case result.InterruptedNode:
		c.InterruptedAfter = n.Reason
	case result.Done:
	}
	return c
}

// whileHolds evaluates a level's `while`; text is the condition that is not true.
func (r *runner) whileHolds(n *Node, out *result.Node) (text string, holds bool) {
	values := result.Values(r.result, out)
	for _, c := range n.While {
		if c.Program != nil && c.Program.Truth(values).Is != 1 {
			return c.Assertion.That.Text, false
		}
	}
	return "", true
}

// judgePlan judges the plan's own assertions: each on the nodes that it names.
func (r *runner) judgePlan() {
	values := result.Values(r.result, nil)
	for _, check := range r.program.Assert {
		if check.Program == nil {
			continue
		}
		r.result.Assertions = append(r.result.Assertions, verdict.Judge(check.Assertion, check.Program, r.worst(check), values))
	}
}

// worst joins the contexts of the nodes that a check refers to: the first of each kind of trouble.
func (r *runner) worst(check Check) verdict.Context {
	var all verdict.Context
	for _, ref := range check.Program.Refs {
		n := r.nodes[ref.Node]
		if n == nil {
			all.SkippedBecause = cmp.Or(all.SkippedBecause, "stage "+ref.Node+" did not run")
			continue
		}
		c := circumstances(n)
		all.SkippedBecause = cmp.Or(all.SkippedBecause, prefix(ref.Node, c.SkippedBecause))
		all.InvalidBecause = cmp.Or(all.InvalidBecause, prefix(ref.Node, c.InvalidBecause))
		all.UnstableBecause = cmp.Or(all.UnstableBecause, prefix(ref.Node, c.UnstableBecause))
		all.InterruptedAfter = cmp.Or(all.InterruptedAfter, prefix(ref.Node, c.InterruptedAfter))
	}
	return all
}

func prefix(node, text string) string {
	if text == "" {
		return ""
	}
	return node + ": " + text
}

// finish closes the result: plan assertions, times, exit code.
func (r *runner) finish(o verdict.Occasion) {
	r.judgePlan()
	r.result.Ended = r.now()
	r.result.Partial = r.signal != 0
	r.result.Clients = []result.Client{r.health()}
	r.result.ExitCode, r.result.Verdict, r.result.Reason = verdict.Exit(r.result, o)
	r.result.Redact(r.program.Plan.Mask)
}
