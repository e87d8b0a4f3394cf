package executor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// judge judges a node's assertions on its stored form; short says how it was cut short.
func (m *member) judge(n *program.Node, out *result.Node, short trial.CutShort) {
	c := circumstances(out)
	values := m.values(out)
	judgeWhile(n, out, c, values)
	if why := openForClient(out.While); why != "" && out.Outcome == result.Done && short.That == "" {
		leaveOpen(out, why)
		c = circumstances(out)
	}
	open := whileOpen(short, n, values)
	level := open != "" && out.Outcome != result.SkippedNode && !n.Searches()
	if level {
		ladderEnd(m.r.program, n, out, open)
	}
	for _, check := range n.Checks {
		at := c
		switch {
		case level && n.First():
			at.NoLevelBecause = open + " at the first level already"
		case level:
			at.SkippedBecause = open + " here: this level is shown and fails nothing"
		}
		a := judgeCheck(m.r.program, check, at, values, out)
		if n.Searches() && a.Verdict == result.Inconclusive && out.Outcome == result.Done &&
			a.Observed == nil {
			a.Reason = cmp.Or(prefix("no data", nothingFound(out)), a.Reason)
		}
		if a.Verdict == result.Fail {
			a.Reason += failuresOf(check, out)
		}
		if a.ID == program.DefaultErrors && a.Verdict == result.Fail {
			a.Reason += "; no gate here says how many" + others(check) + " errors are allowed: " +
				whatToDo(n, out)
		}
		out.Assertions = append(out.Assertions, a)
	}
}

// values answers references as a node sees them: from the nodes before, the node itself, the baseline.
func (m *member) values(out *result.Node) result.Stored {
	return result.Values(m.view(), out).Against(m.r.program.Baseline)
}

// others is "other" where the errors rule leaves some out.
func others(rule program.Check) string {
	if len(rule.Refs) > 1 {
		return " other"
	}
	return ""
}

// failuresOf says what failed, where a check about errors does: the classes, most first, and what
// the message of the server.
func failuresOf(c program.Check, on *result.Node) string {
	about := slices.ContainsFunc(c.Refs, func(r expression.Ref) bool {
		return r.Leaf.Row.OfErrors() && !r.Baseline
	})
	if !about || len(on.Errors) == 0 {
		return ""
	}
	classes := make([]string, len(on.Errors))
	for i, e := range on.Errors {
		classes[i] = fmt.Sprintf("%d %s", e.Count, e.Class)
	}
	text := "; failures: " + strings.Join(classes, ", ")
	if example := on.Errors[0].Example; example != "" {
		text += fmt.Sprintf(" (%s)", example)
	}
	return text
}

// judgeWhile stores the verdicts of the conditions of a level.
func judgeWhile(n *program.Node, out *result.Node, c verdict.Context, values result.Stored) {
	if n.Searches() || failed(out) {
		return
	}
	for _, w := range n.While {
		out.While = append(out.While, verdict.Judge(w.Assertion, w.Program, c, values))
	}
}

// openForClient says which condition of a level is open for this client's delay alone, "" if none is, or
// one is false anyway.
func openForClient(while []result.Assertion) (why string) {
	for _, a := range while {
		switch {
		case a.Verdict == result.Fail:
			return ""
		case a.Cause == result.CauseClient:
			why = cmp.Or(why, a.That+" is neither true nor false here: "+a.Reason)
		}
	}
	return why
}

// whileOpen says why a level does not hold: "latency.p50 < 5ms is not true", of the condition that
// is false or not proven, or of the assertion that cut the level short. "": it holds.
func whileOpen(short trial.CutShort, n *program.Node, values result.Stored) string {
	if short.That != "" {
		return short.That + " is not true"
	}
	for _, c := range n.While {
		switch a := verdict.Judge(c.Assertion, c.Program, verdict.Context{}, values); a.Verdict {
		case result.Pass:
		case result.Inconclusive:
			return fmt.Sprintf("%s is not proven (%s)", c.That.Text, a.Reason)
		default:
			return c.That.Text + " is not true"
		}
	}
	return ""
}

// finish closes the result: plan assertions, times, exit code.
func (r *runner) finish() {
	r.judgePlan()
	r.result.Ended = r.result.Started.Add(time.Duration(r.clock.Now())) // by one anchor and a monotonic clock
	r.stops.end()
	r.occasion.Signal, r.occasion.OutOfTime = r.stops.received(), r.stops.over()
	if r.result.State = result.StateDone; r.occasion.Signal != 0 || r.occasion.OutOfTime != "" {
		r.result.State = result.StatePartial
	}
	r.result.Clients = []result.Client{clientHealth(r.result.Nodes, r.clock.Now())}
	r.result.ExitCode, r.result.Verdict, r.result.Reason = verdict.Exit(r.result, r.occasion)
	if r.env.AllowInconclusive {
		verdict.Allow(r.result, r.occasion)
	}
	r.result.Redact(r.program.Plan.Mask)
}

// judgePlan judges the plan's own assertions: each on the nodes that it names.
func (r *runner) judgePlan() {
	values := result.Values(r.result, nil).Against(r.program.Baseline)
	for _, check := range r.program.Assert {
		c := worst(check, r.result)
		r.result.Assertions = append(r.result.Assertions, judgeCheck(r.program, check, c, values, nil))
	}
}

// worst joins the contexts of the nodes that a check refers to: the first of each kind of trouble.
// One that ended the run itself is kept at the node that ran by then.
func worst(check program.Check, r *result.Result) verdict.Context {
	var all verdict.Context
	for _, n := range r.Nodes {
		all.CertainBecause = cmp.Or(certain(check, n), all.CertainBecause)
	}
	for _, ref := range check.Refs {
		if ref.Baseline {
			continue // of another run
		}
		if ref.Leaf.Row.Name == metric.Best {
			if r.BestOf(ref.Node) == nil {
				all.SkippedBecause = cmp.Or(all.SkippedBecause, "stage "+ref.Node+" did not run")
			}
			continue
		}
		n := nodeOf(r.Nodes, ref.Node)
		if n == nil {
			all.SkippedBecause = cmp.Or(all.SkippedBecause, "stage "+ref.Node+" did not run")
			continue
		}
		c := circumstances(n)
		join := func(all *string, why string) { *all = cmp.Or(*all, prefix(ref.Node, why)) }
		join(&all.SkippedBecause, c.SkippedBecause)
		join(&all.InvalidBecause, c.InvalidBecause)
		join(&all.UnstableBecause, c.UnstableBecause)
		join(&all.InterruptedAfter, c.InterruptedAfter)
	}
	return all
}

func prefix(node, text string) string {
	if text == "" {
		return ""
	}
	return node + ": " + text
}

// nodeOf returns the result of a node, nil when it left none.
func nodeOf(nodes []*result.Node, id string) *result.Node {
	if i := slices.IndexFunc(nodes, func(n *result.Node) bool { return n.ID == id }); i >= 0 {
		return nodes[i]
	}
	return nil
}

// circumstances returns what a node's outcome means for its assertions.
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
		c.InterruptedAfter = strings.TrimPrefix(n.Reason, "interrupted ") // which the verdict says
	case result.Done:
	}
	return c
}

// judgeCheck returns the verdict of one check; on is the judged node, nil for the plan's own checks.
func judgeCheck(
	p *program.Program, check program.Check, c verdict.Context, values result.Stored, on *result.Node,
) result.Assertion {
	id := ""
	if on != nil {
		id = on.ID
		c.CertainBecause = certain(check, on)
	}
	c.SkippedBecause = cmp.Or(c.SkippedBecause, p.Unmatched(check, id))
	a := verdict.Judge(check.Assertion, check.Program, c, values)
	if a.Verdict != result.Skipped {
		a.Reason = p.Compared(check, a.Reason)
	}
	return a
}

// certain says why a check was certainly false before the end of the node that it ended, "" where
// it ended none.
func certain(check program.Check, n *result.Node) string {
	if n.Aborted == nil || n.Aborted.Assertion != check.ID {
		return ""
	}
	return n.Aborted.Reason
}

// fewErrors is the share of requests up to which a budget for errors is likely what the plan lacks.
// Above it the target, or the server, is more likely wrong.
const fewErrors = 0.1

// whatToDo returns the advice where the errors rule fails: a budget where few requests failed, else what
// fits most failures.
func whatToDo(n *program.Node, out *result.Node) string {
	ratio, _ := out.Metrics[metric.ErrorsRatio].Stat(metric.Stat{})
	target := n.Stage.Entries()[0].Request.Target
	if ratio > fewErrors && len(out.Errors) > 0 {
		switch most := out.Errors[0]; most.Class {
		case backends.TimedOut.String():
			return fmt.Sprintf("look at `timeout` of target %s, %s, or at why the server takes longer",
				target.Name, source.Duration(target.Timeout))
		case backends.Dial.String(), backends.TLS.String():
			return fmt.Sprintf("see whether the server of target %s runs, and listens at its `url`",
				target.Name)
		case backends.Write.String(), backends.ResetByPeer.String():
			return "see the server's log: it ended connections before its replies were whole"
		case backends.Status.String(), backends.Server.String(), backends.Cancelled.String():
			return "see what the server says"
		case backends.Protocol.String(), backends.Decode.String():
			return fmt.Sprintf("see whether target %s names the right server and model", target.Name)
		case backends.Mismatch.String():
			return "see the outputs that the data expects, and `expect`"
		case backends.Client.String():
			return "raise what this machine ran out of, such as `ulimit -n`"
		}
	}
	return "write a budget, such as errors.ratio < 0.1%"
}
