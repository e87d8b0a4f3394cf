package expression

import (
	"math"
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
		if share, of := r, l; share.literal && share.kind == kind(metric.Ratio) && of.kind != share.kind {
			p.detail = "a share of a metric is a factor of it"
		}
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
	if l.literal && !r.literal {
		l, r = r, l
	}
	if r.literal && r.kind != kind(metric.Number) {
		return ownUnit(metric.Dim(l.kind))
	}
	if !r.literal {
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
	case metric.Power:
		return "give the number a unit, such as " + n + "W"
	case metric.Count, metric.Ratio, metric.Number:
	}
	return ""
}

// ownUnit says how a literal of a dimension is written.
func ownUnit(d metric.Dim) string {
	switch d {
	case metric.Duration:
		return "a duration is written 50ms"
	case metric.Rate:
		return "a rate is written 200/s"
	case metric.Ratio:
		return "a ratio is written 0.1%"
	case metric.Bytes:
		return "a size is written 64MiB"
	case metric.Power:
		return "a power is written 500W"
	case metric.Count, metric.Number:
		return "a " + d.String() + " has no unit"
	}
	return ""
}

// bareNumber finds a constant without a unit that is compared with, added to or taken from a ratio: errors.ratio < 1 reads
// as 1 % and would mean 100 %. Quotients and scrape() are numbers too, and are measured: they are no constants.
func (c *checker) bareNumber(op string, l, r operand) (bare operand, p problem) {
	if op == "*" || op == "/" {
		return bare, p
	}
	number, ratio := kind(metric.Number), kind(metric.Ratio)
	other := l
	if bare = r; l.kind == number {
		bare, other = l, r
	}
	if bare.kind != number || !bare.fixed || other.kind != ratio {
		return bare, problem{}
	}
	p = problem{code: codeType, summary: "a bare number beside a ratio"}
	whole := percent(bare.value)
	meant := whole
	if isComparison(token{kind: tokOperator, text: op}) && bare.value >= 1 {
		meant = strconv.FormatFloat(bare.value, 'f', -1, 64) + "%"
	}
	if t := c.tokens[bare.from]; bare.from == bare.to && t.kind == tokVariable { // its value may be secret
		p.detail = "give ${" + t.text + "} a ratio, such as 1%"
		return bare, p
	}
	if p.detail = "write " + meant; meant != whole {
		p.detail += ": " + c.source(bare) + " alone would be " + whole
	}
	return bare, p
}

// factor is what a share more or less is as a factor: 1.1 for + 10%.
func factor(op string, share float64) string {
	if op == "-" {
		share = -share
	}
	return strconv.FormatFloat(math.Round((1+share)*1e9)/1e9, 'f', -1, 64)
}

// percent is a number as a ratio is written: 0.07 is 7%.
func percent(v float64) string {
	shown, err := strconv.ParseFloat(strconv.FormatFloat(100*v, 'g', 12, 64), 64)
	if err != nil {
		shown = 100 * v
	}
	return strconv.FormatFloat(shown, 'f', -1, 64) + "%"
}

// functions are the words that may be called.
func functions() []string {
	return append(places(), scrapeWord, "min", "max", "abs")
}
