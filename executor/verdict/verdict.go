// Package verdict judges: truth, samples and validity become a verdict, and the verdicts of a run become its exit code.
//
// It is not: a reader of live state, an evaluator of expressions, a writer of text for terminals.
//
// An assertion gets the first verdict of this table that applies. Nothing that was not proven is a pass.
//
//	it ended the run, being certainly false         fail
//	its node did not run                            skipped
//	the measurement is invalid                      inconclusive
//	the node was interrupted                        inconclusive
//	the node never became stable                    inconclusive
//	no level holds on which it is to be judged      inconclusive
//	the expression could not be evaluated           error
//	a metric has no data                            on_no_data: inconclusive, fail or pass
//	the confidence bounds hold the limit            inconclusive
//	too few samples, and false is not proven yet    inconclusive
//	false                                           fail
//	true                                            pass
//
// With `every` and `within` the table is asked of each window, and windows are weighed as windows.go says. With
// `confidence` the bounds decide: what they are is said in package result.
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
	CertainBecause   string // the assertion was certainly false before the end, and ended the run
	InvalidBecause   string // the measurement cannot be trusted
	UnstableBecause  string // until: stable was never reached
	NoLevelBecause   string // the `while` of its load holds on no level
	InterruptedAfter string // the node was stopped: what of it was measured ("12 s of 60 s")
}

// counter is what Values may also offer: how many of the n samples behind a reference are over a limit. It decides
// whether a percentile is over its limit for certain although there are fewer samples than it needs.
type counter interface {
	Above(r expression.Ref, limit float64) (over, n int64, ok bool)
}

// confident is what Values may also offer: bounds that hold with a confidence. Without it none are known.
type confident interface {
	Confident(confidence float64, refs []expression.Ref) expression.Values
}

// doubter is what Values may also offer: why a measurement that refs read is there but cannot be trusted; "" where all can.
type doubter interface {
	Doubt(refs []expression.Ref) string
}

// ruling is the verdict of one evaluation, before what is known of the node is weighed.
type ruling struct {
	verdict result.Verdict
	reason  string
	truth   expression.Truth
}

// Judge judges one assertion. p is its compiled expression.
func Judge(a scenario.Assertion, p *expression.Program, c Context, v expression.Values) result.Assertion {
	out := newAssertion(a)
	if c.SkippedBecause != "" && c.CertainBecause == "" {
		return withVerdict(out, result.Skipped, c.SkippedBecause)
	}
	if p == nil {
		return withVerdict(out, result.ErrorVerdict, "the expression was not compiled")
	}
	r := judgeScope(a, p, v)
	setNumbers(&out, r.truth)
	if a.Confidence > 0 && !byRepeats(p.Refs) {
		out.Needed = max(out.Needed, samplesToProve(r.truth, a.Confidence))
	}
	switch {
	case c.CertainBecause != "":
		return withVerdict(out, result.Fail, c.CertainBecause)
	case c.InvalidBecause != "":
		return withVerdict(out, result.Inconclusive, "the measurement is invalid: "+c.InvalidBecause)
	case c.InterruptedAfter != "":
		return withVerdict(out, result.Inconclusive, "interrupted: "+c.InterruptedAfter)
	case c.UnstableBecause != "":
		return withVerdict(out, result.Inconclusive, "not stable: "+c.UnstableBecause)
	case c.NoLevelBecause != "":
		return withVerdict(out, result.Inconclusive, "there is no level to judge it on: "+c.NoLevelBecause)
	}
	return withVerdict(out, r.verdict, r.reason)
}

// ruled judges the whole scope, or its windows.
func judgeScope(a scenario.Assertion, p *expression.Program, v expression.Values) ruling {
	if every := Every(a); every > 0 {
		return judgeWindows(a, p, v, every)
	}
	return judgeValues(a, p, v)
}

// once judges one set of values.
func judgeValues(a scenario.Assertion, p *expression.Program, v expression.Values) ruling {
	v = withDemands(v, a, p)
	t := p.Truth(v)
	r := ruling{truth: t}
	switch {
	case t.Err != nil:
		r.verdict, r.reason = result.ErrorVerdict, t.Err.Error()
	case t.Is == 0 && t.Observed.Known && t.Limit.Known: // which nothing excuses
		r.verdict, r.reason = result.Inconclusive, undecidedText(a, t, v)
	case t.Is == 0:
		r.verdict, r.reason = noDataVerdict(a, t, p, v)
	case t.Lacks() > 0 && !provenFalse(t, v):
		r.verdict, r.reason = result.Inconclusive, missingSamplesText(a, t)
	case t.Is < 0:
		r.verdict, r.reason = result.Fail, measuredText(a, t)+allowedText(a, t, v)
	default:
		r.verdict, r.reason = result.Pass, measuredText(a, t)+allowedText(a, t, v)
	}
	return r
}

// asked is v with the bounds that a's confidence asks for, and the samples that its min_samples does.
func withDemands(v expression.Values, a scenario.Assertion, p *expression.Program) expression.Values {
	if a.Confidence > 0 {
		c, ok := v.(confident)
		if !ok {
			return withoutBounds{v}
		}
		v = c.Confident(a.Confidence, p.Refs)
	}
	return withMinSamples(v, a.MinSamples)
}

// unknown is the verdict for want of data, which the plan may allow; not for want of trust.
func noDataVerdict(a scenario.Assertion, t expression.Truth, p *expression.Program, v expression.Values) (result.Verdict, string) {
	if d, ok := v.(doubter); ok && d.Doubt(p.Refs) != "" {
		return result.Inconclusive, "no data: " + t.Why
	}
	switch a.OnNoData {
	case "fail":
		return result.Fail, fmt.Sprintf("no data, and on_no_data is fail: %s", t.Why)
	case "pass":
		return result.Pass, fmt.Sprintf("no data, and on_no_data is pass: %s", t.Why)
	}
	return result.Inconclusive, "no data: " + t.Why
}

// blank is what is known of an assertion before it is judged.
func newAssertion(a scenario.Assertion) result.Assertion {
	at := a.Use
	if at == (source.Pos{}) {
		at = a.That.Pos
	}
	out := result.Assertion{
		ID: a.ID, Description: a.Description, That: a.That.Text, SLO: a.SLO, Severity: a.Severity, Confidence: a.Confidence,
		Every: a.Every.Seconds(), Allow: a.Allow, Within: a.Within.Seconds(),
	}
	if at != (source.Pos{}) {
		out.At = at.String()
	}
	if out.Severity == "" {
		out.Severity = result.Gate
	}
	return out
}

func withVerdict(out result.Assertion, v result.Verdict, reason string) result.Assertion {
	out.Verdict, out.Reason = v, reason
	return out
}

// fill copies the deciding comparison's numbers. Those that are not known stay null.
func setNumbers(out *result.Assertion, t expression.Truth) {
	if t.Op == "" {
		return
	}
	out.Op, out.Unit = t.Op, t.Dim.Unit()
	out.Observed, out.Limit = value(t.Observed), value(t.Limit)
	out.Samples, out.Needed = t.Samples()
	if q := t.Observed; q.Known && q.Lo != q.Hi {
		out.Low, out.High = finite(q.Lo), finite(q.Hi)
	}
}

func value(q expression.Quantity) *float64 {
	if !q.Known {
		return nil
	}
	return &q.V
}
