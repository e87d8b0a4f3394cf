// Package verdict judges: truth, samples and validity become a verdict, and the verdicts of a run become its exit code.
//
// It is not: a reader of live state, an evaluator of expressions, a writer of text for terminals.
//
// An assertion gets the first verdict of this table that applies. Nothing that was not proven is a pass.
//
//	its node did not run                            skipped
//	the measurement is invalid                      inconclusive
//	the node was interrupted                        inconclusive
//	the node never became stable                    inconclusive
//	the expression could not be evaluated           error
//	a metric has no data                            on_no_data: inconclusive, fail or pass
//	the confidence bounds hold the limit            inconclusive
//	too few samples, and false is not proven yet    inconclusive
//	false                                           fail
//	true                                            pass
package verdict

import (
	"fmt"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Context is what is known about the node that an assertion is judged on, beside its numbers. The zero Context is a
// node that ran to its end and measured validly. Each text says why, for people; "" means it is not so.
type Context struct {
	SkippedBecause   string // the node did not run
	InvalidBecause   string // the measurement cannot be trusted
	UnstableBecause  string // until: stable was never reached
	InterruptedAfter string // the node was stopped: what of it was measured ("12 s of 60 s")
}

// counter is what Values may also offer: how many of the n samples behind a reference are over a limit. It decides
// whether a percentile is over its limit for certain although there are fewer samples than it needs.
type counter interface {
	Above(r expression.Ref, limit float64) (over, n int64, ok bool)
}

// Judge judges one assertion. p is its compiled expression.
func Judge(a scenario.Assertion, p *expression.Program, c Context, v expression.Values) result.Assertion {
	out := blank(a)
	if c.SkippedBecause != "" {
		return settle(out, result.Skipped, c.SkippedBecause)
	}
	if p == nil {
		return settle(out, result.ErrorVerdict, "the expression was not compiled")
	}
	t := p.Truth(required(v, a.MinSamples))
	fill(&out, t)
	switch {
	case c.InvalidBecause != "":
		return settle(out, result.Inconclusive, "the measurement is invalid: "+c.InvalidBecause)
	case c.InterruptedAfter != "":
		return settle(out, result.Inconclusive, "interrupted: "+c.InterruptedAfter)
	case c.UnstableBecause != "":
		return settle(out, result.Inconclusive, "not stable: "+c.UnstableBecause)
	case t.Err != nil:
		return settle(out, result.ErrorVerdict, t.Err.Error())
	case t.Is == 0:
		return unknown(out, t, a.OnNoData)
	case t.Lacks() > 0 && !certain(t, v):
		return settle(out, result.Inconclusive, lacking(t))
	case t.Is < 0:
		return settle(out, result.Fail, measured(t))
	}
	return settle(out, result.Pass, measured(t))
}

// blank is what is known of an assertion before it is judged.
func blank(a scenario.Assertion) result.Assertion {
	at := a.Use
	if at == (source.Pos{}) {
		at = a.That.Pos
	}
	out := result.Assertion{
		ID: a.ID, Description: a.Description, That: a.That.Text, SLO: a.SLO, Severity: a.Severity,
	}
	if at != (source.Pos{}) {
		out.At = at.String()
	}
	if out.Severity == "" {
		out.Severity = result.Gate
	}
	return out
}

func settle(out result.Assertion, v result.Verdict, reason string) result.Assertion {
	out.Verdict, out.Reason = v, reason
	return out
}

// fill copies the deciding comparison's numbers. Those that are not known stay null.
func fill(out *result.Assertion, t expression.Truth) {
	if t.Op == "" {
		return
	}
	out.Op, out.Unit = t.Op, t.Dim.Unit()
	out.Observed, out.Limit = value(t.Observed), value(t.Limit)
	out.Samples, out.Needed = t.Samples()
}

func value(q expression.Quantity) *float64 {
	if !q.Known {
		return nil
	}
	return &q.V
}

// unknown is the verdict where the comparison could not be decided: for want of data, which the plan may allow, or
// because the bounds hold the limit, which nothing excuses.
func unknown(out result.Assertion, t expression.Truth, onNoData string) result.Assertion {
	if t.Observed.Known && t.Limit.Known {
		return settle(out, result.Inconclusive, t.Why+": "+measured(t))
	}
	switch onNoData {
	case "fail":
		return settle(out, result.Fail, fmt.Sprintf("no data, and on_no_data is fail: %s", t.Why))
	case "pass":
		return settle(out, result.Pass, fmt.Sprintf("no data, and on_no_data is pass: %s", t.Why))
	}
	return settle(out, result.Inconclusive, "no data: "+t.Why)
}
