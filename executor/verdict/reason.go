package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// measuredText states the observed value and the limit: "latency.p99 is 61.2 ms, the limit is 50 ms
// (n = 1200)".
func measuredText(a scenario.Assertion, t expression.Truth) string {
	s := comparisonText(a, t)
	q := t.Observed
	switch n, need := t.Samples(); {
	case need > 0 && t.Ref != nil && dependent(q):
		s += fmt.Sprintf(" (n = %d, worth %d independent)", q.N, q.Worth)
	case need > 0:
		s += fmt.Sprintf(" (n = %d)", n)
	}
	return s
}

// dependent reports whether samples are worth fewer independent ones.
func dependent(q expression.Quantity) bool { return q.Worth > 0 && q.Worth < q.N }

// comparisonText is measuredText without the number of samples.
func comparisonText(a scenario.Assertion, t expression.Truth) string {
	observed, limit := expression.FormatApart(t.Dim, t.Observed.V, t.Limit.V)
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s%s", t.What, observed, boundsText(a, t.Dim, t.Observed, t.Limit.V))
	switch t.Op {
	case "==":
		fmt.Fprintf(&b, ", it must be %s", limit)
	case "!=":
		fmt.Fprintf(&b, ", it must not be %s", limit)
	default:
		fmt.Fprintf(&b, ", the limit is %s", limit)
	}
	if t.Limit.Need != 0 {
		fmt.Fprintf(&b, "%s = %s", boundsText(a, t.Dim, t.Limit, t.Observed.V), t.Against)
	}
	if m := t.Margin; m != nil {
		fmt.Fprintf(&b, "; over %d repeats their difference is %s%s", m.N, expression.Format(t.Dim, m.V),
			boundsText(a, t.Dim, *m, 0))
	}
	return b.String()
}

// boundsText formats the bounds of a quantity, "" for a point: " (30 ms … 42 ms at 95 %)". A bound
// that differs from the limit is formatted differently.
func boundsText(a scenario.Assertion, dim metric.Dim, q expression.Quantity, limit float64) string {
	format := func(v float64) string {
		s, _ := expression.FormatApart(dim, v, limit)
		return s
	}
	lo, hi := math.IsInf(q.Lo, -1), math.IsInf(q.Hi, 1)
	at := ""
	if a.Confidence > 0 {
		at = " at " + expression.Format(metric.Ratio, a.Confidence)
	}
	switch {
	case q.Lo == q.Hi || (lo || q.Lo == 0) && hi:
		return ""
	case lo:
		return fmt.Sprintf(" (at most %s%s)", format(q.Hi), at)
	case hi:
		return fmt.Sprintf(" (at least %s%s)", format(q.Lo), at)
	}
	return fmt.Sprintf(" (%s … %s%s)", format(q.Lo), format(q.Hi), at)
}

// missingSamplesText states the missing samples: "12 more requests needed for p99 (have 287 of
// 299)".
func missingSamplesText(a scenario.Assertion, t expression.Truth) string {
	n, need := t.Samples()
	what, of := "requests", ""
	if t.Lacks() == 1 {
		what = "request"
	}
	if dependent(t.Observed) {
		what = "independent " + what
	}
	if t.Ref != nil && t.Ref.Leaf.Stat.Kind == metric.Percentile {
		of = " for " + t.Ref.Leaf.Stat.String()
	}
	return fmt.Sprintf("%d more %s needed%s (have %d of %d): so far %s", t.Lacks(), what, of, n, need,
		comparisonText(a, t))
}

// allowedText states the samples over a percentile's limit, and the number allowed at a's
// confidence: "; 3 of 1000 are over it, 4 may be". It is "" if they do not decide.
func allowedText(a scenario.Assertion, t expression.Truth, v Counted) string {
	over, n, ok := countExceeding(t, v)
	if !ok || a.Confidence <= 0 || t.Op != "<" && t.Op != "<=" || dependent(t.Observed) {
		return ""
	}
	most, ok := stats.MaxExceeding(n, t.Ref.Leaf.Stat.P/100, a.Confidence)
	if !ok {
		return ""
	}
	wrong := "over it"
	if expression.TakesEqual(t.Op) {
		wrong = "not below it"
	}
	return fmt.Sprintf("; %d of %d are %s, %d may be", over, n, wrong, most)
}

// undecidedText states that the limit is within the bounds, and how many samples are likely to
// decide.
func undecidedText(a scenario.Assertion, t expression.Truth, v Counted) string {
	s := t.Why + ": " + measuredText(a, t) + allowedText(a, t, v)
	if hint := moreSamplesHint(a, t, v); hint != "" {
		s += "; " + hint
	}
	return s
}

// moreSamplesHint estimates the further samples that decide a comparison if the values stay the
// same; "" if unknown.
func moreSamplesHint(a scenario.Assertion, t expression.Truth, v Counted) string {
	if a.Confidence <= 0 {
		return ""
	}
	if m := t.Margin; m != nil {
		return moreText(m.N, samplesForBounds(m.N, m.Hi-m.V, math.Abs(m.V)), "repeat")
	}
	if t.Observed.Why != "" || t.Limit.Why != "" || t.Ref == nil || t.Limit.Need != 0 {
		return ""
	}
	k, n, q, ok := share(t, v)
	if !ok || dependent(t.Observed) {
		half := math.Max(t.Observed.Hi-t.Observed.V, t.Observed.V-t.Observed.Lo)
		return moreText(t.Observed.N, samplesForBounds(t.Observed.N, half,
			math.Abs(t.Observed.V-t.Limit.V)), "request")
	}
	total, ok := stats.SamplesToDecide(k, n, q, a.Confidence)
	if !ok {
		total = -1
	}
	return moreText(n, total, "request")
}

// share returns the comparison as one of a share k of n with a limit q: samples over a percentile's
// limit, or requests of a ratio.
func share(t expression.Truth, v Counted) (k, n int64, q float64, ok bool) {
	if over, n, ok := countExceeding(t, v); ok {
		return over, n, 1 - t.Ref.Leaf.Stat.P/100, true
	}
	row := t.Ref.Leaf.Row
	if row.Dim != metric.Ratio || row.From == metric.Client || row.From == metric.Series {
		return 0, 0, 0, false
	}
	n = t.Observed.N
	return int64(math.Round(t.Observed.V * float64(n))), n, t.Limit.V, true
}

// samplesForBounds returns the total number of samples with which bounds that are half away from
// the value exclude a limit that is apart from it: bounds shrink with the root of the number. -1:
// none.
func samplesForBounds(n int64, half, apart float64) int64 {
	total := math.Ceil(float64(n) * (half / apart) * (half / apart))
	if !(total < 1e12) {
		return -1
	}
	return int64(total)
}

func moreText(have, total int64, what string) string {
	switch {
	case total < 0:
		return "it is too close to the limit for more " + what + "s to decide it"
	case total <= have:
		total = have + 1
	}
	if total-have == 1 {
		return "if it stays so, one more " + what + " decides it"
	}
	return fmt.Sprintf("if it stays so, about %d more %ss decide it", total-have, what)
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}
