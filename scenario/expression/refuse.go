package expression

import (
	"strconv"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// an is the kind with its article.
func (k kind) an() string { return "a " + k.String() }

// mismatch says why op cannot be applied to l and r.
func mismatch(op string, l, r operand) problem {
	p := problem{code: codeType}
	a, b := l.kind.an(), r.kind.an()
	switch {
	case l.kind == truth || r.kind == truth:
		p.summary = "a condition cannot be part of a comparison or a calculation"
		p.detail = "conditions are joined with and, or and not"
	case isComparison(token{kind: tokOperator, text: op}):
		p.summary = a + " cannot be compared with " + b
		p.detail = unitHint(l, r)
	case op == "+" || op == "-":
		p.summary = map[string]string{"+": a + " and " + b + " cannot be added", "-": b + " cannot be taken from " + a}[op]
		p.detail = unitHint(l, r)
	case op == "*":
		p.summary = a + " cannot be multiplied by " + b
	case op == "/":
		p.summary = a + " cannot be divided by " + b
	default:
		p.summary = op + " cannot compare " + a + " with " + b
		p.detail = unitHint(l, r)
	}
	return p
}

// unitHint offers the units that a bare number lacks.
func unitHint(l, r operand) string {
	if l.literal && l.kind == kind(metric.Number) {
		l, r = r, l
	}
	if !r.literal || r.kind != kind(metric.Number) {
		return ""
	}
	n := strconv.FormatFloat(r.value, 'f', -1, 64)
	switch metric.Dim(l.kind) {
	case metric.Duration:
		return "give the number a unit, such as " + n + "ms or " + n + "s"
	case metric.Rate:
		return "give the number a unit, such as " + n + "/s"
	case metric.Bytes:
		return "give the number a unit, such as " + n + "MiB"
	case metric.Count, metric.Ratio, metric.Power, metric.Number:
	}
	return ""
}

// functions are the words that may be called.
func functions() []string {
	return append(places(), scrapeWord, "min", "max", "abs")
}
