package expression

import (
	"math"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// vacuous warns of a comparison of one metric with a constant that no run can change: errors.ratio < 150%. The metric
// stands on the left of op.
func (c *checker) vacuous(o operand, leaf metric.Leaf, op string, limit float64) {
	lo, hi := bounds(leaf)
	if leaf.Row.OfErrors() && op == "<=" && limit == hi {
		return // how a plan says that any number of errors is fine
	}
	p := problem{from: c.tokens[o.from].from, to: c.tokens[o.to].to, code: codeVacuous, summary: "this is always true"}
	switch always(op, lo, hi, limit) {
	case 0:
		return
	case -1:
		p.summary = "this is never true"
	}
	p.detail = leaf.String() + " is never negative"
	if limit > lo {
		p.detail = leaf.String() + " is never above 100%"
	}
	c.warnings = append(c.warnings, p)
}

// bounds are the least and the greatest value that a metric can have.
func bounds(leaf metric.Leaf) (lo, hi float64) {
	lo, hi = 0, math.Inf(1)
	switch {
	case leaf.Dim() == metric.Number:
		lo = math.Inf(-1)
	case leaf.Dim() == metric.Ratio && leaf.Row.From != metric.Client: // shares of requests; that of the CPU may exceed 1
		hi = 1
	}
	return lo, hi
}

// always is 1 where every value from lo to hi is op limit, -1 where none is, else 0.
func always(op string, lo, hi, limit float64) int {
	switch op {
	case "<":
		return decided(hi < limit, lo >= limit)
	case "<=":
		return decided(hi <= limit, lo > limit)
	case ">":
		return decided(lo > limit, hi <= limit)
	case ">=":
		return decided(lo >= limit, hi < limit)
	case "==":
		return decided(false, limit < lo || limit > hi)
	case "!=":
		return decided(limit < lo || limit > hi, false)
	}
	return 0
}

func decided(yes, no bool) int {
	switch {
	case yes:
		return 1
	case no:
		return -1
	}
	return 0
}
