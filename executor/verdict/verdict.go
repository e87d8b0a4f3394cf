// Package verdict turns truth, samples and validity into the verdict of an assertion, and the
// verdicts of a run into its exit code. It reads no live state, evaluates no expressions and
// formats nothing for terminals.
//
// An assertion gets the first verdict of this table that applies. Only what is proven passes.
//
//	it ended the run, being certainly false         fail
//	its node did not run                            skipped
//	the measurement is invalid                      inconclusive
//	the node was interrupted                        inconclusive
//	the node never became stable                    inconclusive
//	no level holds on which it could be judged      inconclusive
//	the expression could not be evaluated           error
//	a metric has no data                            on_no_data: inconclusive, fail or pass
//	the limit is within the confidence bounds       inconclusive
//	too few samples, and false is not proven yet    inconclusive
//	false                                           fail
//	true                                            pass
//
// With `every` and `within` the table applies to each window, and windows.go combines them. With
// `confidence` the bounds decide, as package result computes them.
package verdict

import (
	"fmt"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Context describes the node that an assertion is judged on, besides its values. The zero Context
// is a valid node that ran to its end. Each text is a reason for people; "" means that it does not
// apply.
type Context struct {
	SkippedBecause   string // the node did not run
	CertainBecause   string // the assertion was certainly false before the end, and ended the run
	InvalidBecause   string // the measurement cannot be trusted
	UnstableBecause  string // `until: stable` was never reached
	NoLevelBecause   string // the `while` of its load holds on no level
	InterruptedAfter string // the node was stopped after a part of its time ("12 s of 60 s")
}

// counter is an optional interface of Values: it counts the samples of a reference over a limit.
// With it a percentile can be proven over its limit with fewer samples than it needs.
type counter interface {
	Above(r expression.Ref, limit float64) (over, n int64, ok bool)
}

// confident is an optional interface of Values: values with bounds at a confidence.
type confident interface {
	Confident(confidence float64, refs []expression.Ref) expression.Values
}

// doubter is an optional interface of Values: why an existing measurement that refs read cannot be
// trusted, or "".
type doubter interface {
	Doubt(refs []expression.Ref) string
}

// ruling is the verdict of one evaluation, before the Context is considered.
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

// judgeScope judges the whole scope, or its windows.
func judgeScope(a scenario.Assertion, p *expression.Program, v expression.Values) ruling {
	if every := Every(a); every > 0 {
		return judgeWindows(a, p, v, every)
	}
	return judgeValues(a, p, v)
}

// judgeValues judges one set of values.
func judgeValues(a scenario.Assertion, p *expression.Program, v expression.Values) ruling {
	v = withDemands(v, a, p)
	t := p.Truth(v)
	r := ruling{truth: t}
	switch {
	case t.Err != nil:
		r.verdict, r.reason = result.ErrorVerdict, t.Err.Error()
	case t.Is == 0 && t.Observed.Known && t.Limit.Known: // on_no_data does not apply
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

// withDemands returns v with the bounds of a's confidence and the samples of its min_samples.
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

// noDataVerdict returns the verdict without data, which the plan may choose, unless the data cannot
// be trusted.
func noDataVerdict(a scenario.Assertion, t expression.Truth, p *expression.Program,
	v expression.Values,
) (result.Verdict, string) {
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

// newAssertion returns an assertion before it is judged.
func newAssertion(a scenario.Assertion) result.Assertion {
	at := a.Use
	if at == (source.Pos{}) {
		at = a.That.Pos
	}
	out := result.Assertion{
		ID:          a.ID,
		Description: a.Description,
		That:        a.That.Text,
		SLO:         a.SLO,
		Severity:    a.Severity,
		Confidence:  a.Confidence,
		Every:       a.Every.Seconds(),
		Allow:       a.Allow,
		Within:      a.Within.Seconds(),
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

// setNumbers copies the deciding comparison's numbers. Unknown ones stay null.
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
