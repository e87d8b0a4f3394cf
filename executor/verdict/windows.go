package verdict

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Each complete window of the scope of an assertion with `every` or `within` is judged by the table
// of the package: true (pass), false (fail) or open (inconclusive).
//
//	every       fail: more windows are false than `allow` permits, even if all open ones were true
//	            pass: no more are, even if all open ones were false
//	within      true from the end of the last false window on, which is the observed value, relative to the
//	            start of the scope
//	            fail: later than `within`, even if all open ones were true; or the last window is false
//	            pass: in time, even if all open ones were false
//	otherwise   inconclusive; also instead of a pass if windows were not kept, or errors are in no window

// defaultEvery is the window length of `within` without `every`.
const defaultEvery = time.Second

// Every returns the length of the windows that an assertion is judged on; 0: it is judged as a
// whole.
func Every(a scenario.Assertion) time.Duration {
	if a.Within > 0 && a.Every == 0 {
		return defaultEvery
	}
	return a.Every
}

// judgedWindow is one window with its ruling.
type judgedWindow struct {
	result.View
	ruling
}

func (j judgedWindow) truthValue() int8 {
	if j.verdict == result.Fail {
		return -1
	}
	if j.verdict == result.Pass {
		return 1
	}
	return 0
}

func (j judgedWindow) rangeText() string {
	from := "0 s"
	if j.From > 0 {
		from = expression.Format(metric.Duration, j.From)
	}
	return from + " to " + expression.Format(metric.Duration, j.To)
}

// judgeWindows judges an assertion on its windows.
func judgeWindows(a scenario.Assertion, p *expression.Program, v Values, every time.Duration) ruling {
	found, why := v.Windows(p.Refs, every.Seconds())
	if why == "" && len(found.Windows) == 0 {
		why = "its scope has no whole window of " + durationText(every)
	}
	if why != "" {
		return ruling{verdict: result.Inconclusive, cause: result.CauseNoData, reason: "no data: " + why}
	}
	list := make([]judgedWindow, 0, len(found.Windows))
	for _, x := range found.Windows {
		j := judgedWindow{x, judgeValues(a, p, x.Values)}
		if j.verdict == result.ErrorVerdict {
			return j.ruling
		}
		list = append(list, j)
	}
	out := judgeEvery(a, list)
	if a.Within > 0 {
		out = judgeWithin(a, list)
	}
	if out.verdict == result.Inconclusive {
		out.cause = openCause(list)
	}
	if out.verdict == result.Pass && found.Missing > 0 {
		out.verdict, out.cause = result.Inconclusive, result.CauseNoData
		out.reason = fmt.Sprintf("%d windows were not kept: use longer ones; of the others: %s",
			found.Missing, out.reason)
	}
	if n := errorsOutside(p, v, list); out.verdict == result.Pass && n > 0 {
		out.verdict, out.cause = result.Inconclusive, result.CauseNoData
		what := "errors are"
		if n == 1 {
			what = "error is"
		}
		out.reason = fmt.Sprintf("%.0f %s in no whole window of %s: let the stage be a multiple of it; "+
			"of the windows: %s", n, what, durationText(every), out.reason)
	}
	return out
}

// openCause returns the cause of the first window that is open, or that one has no data.
func openCause(list []judgedWindow) (cause result.Cause) {
	for _, j := range list {
		if j.cause == result.CauseNoData {
			return j.cause
		}
		cause = cmp.Or(cause, j.cause)
	}
	return cause
}

// errorsOutside counts the errors of the scope in none of its windows: those after the last
// complete one.
func errorsOutside(p *expression.Program, v Counted, list []judgedWindow) (most float64) {
	errors := func(v expression.Values, r expression.Ref) float64 {
		q := v.Quantity(r)
		switch {
		case !q.Known:
			return 0
		case r.Leaf.Dim() == metric.Ratio:
			return math.Round(q.V * float64(q.N))
		}
		return q.V
	}
	for _, r := range p.Refs {
		if r.Baseline || !r.Leaf.Row.OfErrors() {
			continue
		}
		rest := errors(v, r)
		for _, w := range list {
			rest -= errors(w.Values, r)
		}
		most = max(most, rest)
	}
	return most
}

// judgeEvery judges windows by the share of them that may be false.
func judgeEvery(a scenario.Assertion, list []judgedWindow) ruling {
	wrong, open := 0, 0
	var first, unsure *judgedWindow
	for i := range list {
		switch j := &list[i]; j.truthValue() {
		case -1:
			if wrong++; first == nil {
				first = j
			}
		case 0:
			if open++; unsure == nil {
				unsure = j
			}
		}
	}
	n := len(list)
	most := AllowedFalse(a, n)
	counts := fmt.Sprintf("true in %d of %d windows", n-wrong-open, n)
	if a.Allow > 0 {
		counts += fmt.Sprintf(", %s of them may be false", expression.Format(metric.Ratio, a.Allow))
	}
	switch {
	case wrong > most:
		return first.with(result.Fail, fmt.Sprintf("%s; the first that is false, %s: %s", counts,
			first.rangeText(), first.reason))
	case wrong+open > most:
		return unsure.with(result.Inconclusive,
			fmt.Sprintf("%s, %d open; the first, %s: %s", counts, open, unsure.rangeText(), unsure.reason))
	}
	worst := closest(list)
	text := "the closest"
	if worst.truthValue() < 0 {
		text = "the first that is false"
	}
	return worst.with(result.Pass, fmt.Sprintf("%s; %s, %s: %s", counts, text, worst.rangeText(),
		worst.reason))
}

// AllowedFalse returns the number of n windows that may be false.
func AllowedFalse(a scenario.Assertion, n int) int { return int(math.Floor(a.Allow*float64(n) + 1e-9)) }

func (j *judgedWindow) with(v result.Verdict, reason string) ruling {
	return ruling{verdict: v, reason: reason, truth: j.truth}
}

// closest returns the first false window, else the one nearest to its limit.
func closest(list []judgedWindow) *judgedWindow {
	best, least := &list[0], math.Inf(1)
	for i := range list {
		j := &list[i]
		if j.truthValue() < 0 {
			return j
		}
		if d := math.Abs(j.truth.Observed.V - j.truth.Limit.V); j.truth.Observed.Known &&
			j.truth.Limit.Known && d < least {
			best, least = j, d
		}
	}
	return best
}

// judgeWithin judges windows by the time from which on they are true.
func judgeWithin(a scenario.Assertion, list []judgedWindow) ruling {
	limit := a.Within.Seconds()
	early, _ := trueSince(list, false)
	late, cause := trueSince(list, true)
	r := ruling{truth: expression.Truth{
		Op: "<=", Dim: metric.Duration, What: "the time until it is true", Against: durationText(a.Within),
		Limit:    expression.Exactly(limit, 0, 0),
		Observed: expression.Quantity{N: int64(len(list)), Need: 1},
	}}
	observe := func(t float64) {
		r.truth.Observed = expression.Exactly(t, int64(len(list)), 1)
		at := func(t float64) string {
			if t == 0 {
				return "the start"
			}
			return expression.Format(metric.Duration, t)
		}
		r.reason = fmt.Sprintf("it is true from %s on, it must be from %s on", at(t), at(limit))
	}
	switch {
	case math.IsInf(early, 1):
		r.verdict, r.reason = result.Fail, "it is not true at the end of its scope"
	case early > limit:
		observe(early)
		r.verdict = result.Fail
	case late <= limit:
		observe(late)
		r.verdict = result.Pass
	default:
		observe(early)
		r.verdict, r.reason = result.Inconclusive, "it is not known from when on it is true"
	}
	if cause != nil {
		when := "before"
		if math.IsInf(late, 1) {
			when = "the last window"
		}
		r.reason += fmt.Sprintf("; %s, %s: %s", when, cause.rangeText(), cause.reason)
	}
	return r
}

// trueSince returns the end of the last window that is not true, in s since the scope began,
// infinite if it is the last one of its repeat. openIsFalse counts open windows as not true. cause
// is that window, nil if all are true.
func trueSince(list []judgedWindow, openIsFalse bool) (at float64, cause *judgedWindow) {
	for i := range list {
		j := &list[i]
		if j.truthValue() > 0 || j.truthValue() == 0 && !openIsFalse {
			continue
		}
		end := j.To
		if i == len(list)-1 || list[i+1].Repeat != j.Repeat {
			end = math.Inf(1)
		}
		if end >= at {
			at, cause = end, j
		}
	}
	return at, cause
}

// durationText formats a duration as in the plan.
func durationText(d time.Duration) string { return expression.Format(metric.Duration, d.Seconds()) }
