package verdict

import (
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// measured says what was observed and what the limit is: "latency.p99 is 61.2 ms, the limit is 50 ms (n = 1200)".
func measured(t expression.Truth) string {
	observed, limit := expression.FormatApart(t.Dim, t.Observed.V, t.Limit.V)
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s", t.What, observed)
	if q := t.Observed; q.Lo != q.Hi {
		fmt.Fprintf(&b, " (%s … %s)", expression.Format(t.Dim, q.Lo), expression.Format(t.Dim, q.Hi))
	}
	switch t.Op {
	case "==":
		fmt.Fprintf(&b, ", it must be %s", limit)
	case "!=":
		fmt.Fprintf(&b, ", it must not be %s", limit)
	default:
		fmt.Fprintf(&b, ", the limit is %s", limit)
	}
	if t.Limit.Need != 0 {
		fmt.Fprintf(&b, " = %s", t.Against)
	}
	if n, need := t.Samples(); need > 0 {
		fmt.Fprintf(&b, " (n = %d)", n)
	}
	return b.String()
}

// lacking says how many samples are missing: "12 more requests needed for p99 (have 287 of 299)".
func lacking(t expression.Truth) string {
	n, need := t.Samples()
	what, of := "requests", ""
	if t.Lacks() == 1 {
		what = "request"
	}
	if t.Ref != nil && t.Ref.Leaf.Stat.Kind == metric.Percentile {
		of = " for " + t.Ref.Leaf.Stat.String()
	}
	return fmt.Sprintf("%d more %s needed%s (have %d of %d): so far %s", t.Lacks(), what, of, n, need, tentative(t))
}

// tentative is the observation without its count, which lacking has given.
func tentative(t expression.Truth) string {
	s := measured(t)
	if i := strings.LastIndex(s, " (n = "); i > 0 {
		return s[:i]
	}
	return s
}
