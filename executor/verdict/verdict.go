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
//	it is within what a late client may have seen   inconclusive, cause client
//	too few samples, and false is not proven yet    inconclusive
//	false                                           fail
//	true                                            pass
//
// With `every` and `within` the table applies to each window, and windows.go combines them. With
// `confidence` the bounds decide, as package result computes them.
package verdict

import (
	"cmp"
	"math"
	"slices"

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

// Counted are values that count the samples of a percentile over a limit, so that it can be proven
// over its limit with fewer samples than it needs: those that are over it even for a client on time,
// where op is <, and those that may be where it is >. Samples that equal the limit are among them where
// op is < or >=. ok is false if they cannot be counted.
type Counted interface {
	expression.Values
	Exceeding(r expression.Ref, op string, limit float64) (over, n int64, ok bool)
}

// Values are the values of a result that an assertion is judged on. refs are all that it reads.
type Values interface {
	Counted
	// Demanding returns the values with bounds at a confidence (0: none), and the samples that the
	// plan demands of metrics of requests (0: those that each metric needs).
	Demanding(confidence float64, samples int, refs []expression.Ref) expression.Values
	// Doubt returns why an existing measurement that refs read cannot be trusted, or "".
	Doubt(refs []expression.Ref) string
	// Windows returns the windows of one length in s, or why there are none.
	Windows(refs []expression.Ref, every float64) (result.Windowed, string)
}

// ruling is the verdict of one evaluation, before the Context is considered.
type ruling struct {
	verdict result.Verdict
	cause   result.Cause // of an inconclusive one
	reason  string
	truth   expression.Truth
}

// Judge judges one assertion. p is its compiled expression.
func Judge(a scenario.Assertion, p *expression.Program, c Context, v Values) result.Assertion {
	out := newAssertion(a)
	if c.SkippedBecause != "" && c.CertainBecause == "" {
		out.Verdict, out.Reason = result.Skipped, c.SkippedBecause
		return out
	}
	if p == nil {
		out.Verdict, out.Reason = result.ErrorVerdict, "the expression was not compiled"
		return out
	}
	r := judgeScope(a, p, v)
	setNumbers(&out, r.truth)
	if a.Confidence > 0 && !ByRepeats(p.Refs) {
		out.Needed = max(out.Needed, samplesToProve(r.truth, a.Confidence))
	}
	if c.CertainBecause != "" {
		out.Verdict, out.Reason = result.Fail, c.CertainBecause
		return out
	}
	if openForClient(a, p, r, v) {
		r.cause = result.CauseClient
	}
	if out.AsIndependent {
		r.reason += " (requests taken as independent)"
	}
	r = c.apply(r)
	out.Verdict, out.Cause, out.Reason = r.verdict, r.cause, r.reason
	return out
}

// lateClient is implemented by Values that know what a client on time would have measured at least and
// at most.
type lateClient interface {
	// Measured returns them with the client taken to have been on time.
	Measured() result.Stored
}

// openForClient reports whether an assertion is open only because this client was late or stood still.
func openForClient(a scenario.Assertion, p *expression.Program, r ruling, v Values) bool {
	late, ok := v.(lateClient)
	if !ok || r.verdict != result.Inconclusive {
		return false
	}
	as := judgeScope(a, p, late.Measured()).verdict
	return as == result.Pass || as == result.Fail
}

// judgeScope judges the whole scope, or its windows.
func judgeScope(a scenario.Assertion, p *expression.Program, v Values) ruling {
	if every := Every(a); every > 0 {
		return judgeWindows(a, p, v, every)
	}
	return judgeValues(a, p, v)
}

// apply returns the ruling that the state of the node leaves of r. Without data there is none to be had
// from a valid measurement either.
func (c Context) apply(r ruling) ruling {
	open := func(cause result.Cause, reason string) ruling {
		if r.cause == result.CauseNoData {
			cause = result.CauseNoData
		}
		return ruling{verdict: result.Inconclusive, cause: cause, reason: reason}
	}
	switch {
	case c.InvalidBecause != "":
		return open(result.CauseInvalid, "the measurement is invalid: "+c.InvalidBecause)
	case c.InterruptedAfter != "":
		return open(result.CauseInterrupted, "interrupted: "+c.InterruptedAfter)
	case c.UnstableBecause != "":
		return open(result.CauseUnstable, "not stable: "+c.UnstableBecause)
	case c.NoLevelBecause != "":
		return open(result.CauseNoLevel, "there is no level to judge it on: "+c.NoLevelBecause)
	}
	return r
}

// judgeValues judges one set of values.
func judgeValues(a scenario.Assertion, p *expression.Program, v Values) ruling {
	t := p.Truth(v.Demanding(a.Confidence, a.MinSamples, p.Refs))
	r := ruling{truth: t}
	switch {
	case t.Err != nil:
		r.verdict, r.reason = result.ErrorVerdict, t.Err.Error()
	case t.Is == 0 && t.Observed.Known && t.Limit.Known: // on_no_data does not apply
		r.verdict, r.cause, r.reason = result.Inconclusive, result.CauseBounds, undecidedText(a, t, v)
	case t.Is == 0:
		r.verdict, r.cause, r.reason = noDataVerdict(a, p, t.Why, v)
	case t.Lacks() > 0 && !provenFalse(t, v):
		r.verdict, r.cause, r.reason = result.Inconclusive, result.CauseSamples, missingSamplesText(a, t)
	case t.Is < 0:
		r.verdict, r.reason = result.Fail, measuredText(a, t)+allowedText(a, t, v)
	default:
		r.verdict, r.reason = result.Pass, measuredText(a, t)+allowedText(a, t, v)
	}
	return r
}

// noDataVerdict returns the verdict without data, which the plan may choose, unless there is data
// that cannot be trusted: of another node of the run, which has its own verdict, or of the baseline.
func noDataVerdict(
	a scenario.Assertion, p *expression.Program, why string, v Values,
) (result.Verdict, result.Cause, string) {
	cause := result.CauseNoData
	switch doubtful := v.Doubt(p.Refs) != ""; {
	case doubtful:
		if !slices.ContainsFunc(p.Refs, func(r expression.Ref) bool { return r.Baseline }) {
			cause = result.CauseInvalid
		}
	case a.OnNoData == "fail":
		return result.Fail, "", "no data, and on_no_data is fail: " + why
	case a.OnNoData == "pass":
		return result.Pass, "", "no data, and on_no_data is pass: " + why
	}
	return result.Inconclusive, cause, "no data: " + why
}

// newAssertion returns an assertion before it is judged.
func newAssertion(a scenario.Assertion) result.Assertion {
	out := result.Assertion{
		ID:          a.ID,
		Description: a.Description,
		That:        a.That.Text,
		SLO:         a.SLO,
		Severity:    cmp.Or(a.Severity, result.Gate),
		Confidence:  a.Confidence,
		Every:       a.Every.Seconds(),
		Allow:       a.Allow,
		Within:      a.Within.Seconds(),
	}
	if at := cmp.Or(a.Use, a.That.Pos); at != (source.Pos{}) {
		out.At = at.String()
	}
	return out
}

// setNumbers copies the deciding comparison's numbers. Unknown ones stay null.
func setNumbers(out *result.Assertion, t expression.Truth) {
	if t.Op == "" {
		return
	}
	out.Op, out.Unit = t.Op, t.Dim.Unit()
	out.Observed, out.Limit = value(t.Observed), value(t.Limit)
	out.Infinite = t.Observed.Known && math.IsInf(t.Observed.V, 1)
	out.Samples, out.Needed = t.Samples()
	if q := t.Observed; t.Ref != nil && q.Worth > 0 {
		out.Samples, out.Effective = q.N, q.Worth
	}
	out.AsIndependent = (t.Observed.Assumed || t.Limit.Assumed) && t.Margin == nil
	if q := t.Observed; q.Known && q.Lo != q.Hi {
		out.Low, out.High = finite(q.Lo), finite(q.Hi)
	}
}

func value(q expression.Quantity) *float64 {
	if !q.Known {
		return nil
	}
	return finite(q.V)
}
