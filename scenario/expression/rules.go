package expression

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// kind is a dimension, or truth. The zero kind is a mistake that was reported.
type kind uint8

const (
	duration = kind(metric.Duration)
	rate     = kind(metric.Rate)
	count    = kind(metric.Count)
	ratio    = kind(metric.Ratio)
	size     = kind(metric.Bytes)
	power    = kind(metric.Power)
	energy   = kind(metric.Energy)
	number   = kind(metric.Number)
	truth    = kind(100)
)

func (k kind) String() string {
	if k == truth {
		return "condition"
	}
	return metric.Dim(k).String()
}

// an returns the kind with its article.
func (k kind) an() string {
	if k == energy {
		return "an " + k.String()
	}
	return "a " + k.String()
}

// rule is what an operator or function makes of operands of two kinds.
type rule struct {
	result kind
	shown  metric.Dim // of a comparison: the dimension in which both sides are shown
	apply  func(a, b Quantity) Quantity
}

// ruleOf returns the rule for an operator or function; right is 0 where it has one operand. What
// has no rule is refused.
func ruleOf(op string, left, right kind) (rule, bool) {
	both := common(left, right)
	switch op {
	case "and", "or":
		return rule{result: truth}, left == truth && right == truth
	case "not":
		return rule{result: truth}, left == truth && right == 0
	case "abs":
		return rule{left, 0, single(absolute)}, left != truth && right == 0
	case "<", "<=", ">", ">=":
		return rule{truth, metric.Dim(both), nil}, both != 0
	case "==", "!=": // two measured values of the other dimensions are equal by chance only
		return rule{truth, metric.Dim(both), nil}, both == count || both == number
	case "+":
		return rule{both, 0, add}, both != 0
	case "-":
		if right == 0 {
			return rule{left, 0, single(negate)}, left != truth
		}
		return rule{both, 0, subtract}, both != 0
	case "min":
		return rule{both, 0, smaller}, both != 0
	case "max":
		return rule{both, 0, larger}, both != 0
	case "*":
		result := product(left, right)
		return rule{result, 0, multiply}, result != 0
	case "/":
		result := quotient(left, right)
		return rule{result, 0, divide}, result != 0
	}
	return rule{}, false
}

func single(f func(Quantity) Quantity) func(a, b Quantity) Quantity {
	return func(a, _ Quantity) Quantity { return f(a) }
}

// common returns the dimension in which two can be compared and added; 0: there is none. A number
// is a count or a ratio beside one; see bareNumber for constants.
func common(l, r kind) kind {
	switch {
	case l == truth || r == truth:
		return 0
	case l == r, r == number && (l == count || l == ratio):
		return l
	case l == number && (r == count || r == ratio):
		return r
	}
	return 0
}

// product returns the kind of l * r; 0: it has none. A number and a ratio scale every dimension.
func product(l, r kind) kind {
	switch {
	case l == truth || r == truth:
		return 0
	case r == number:
		return l
	case l == number:
		return r
	case r == ratio:
		return l
	case l == ratio:
		return r
	case l == rate && r == duration, l == duration && r == rate:
		return count
	}
	return 0
}

// quotient returns the kind of l / r; 0: it has none.
func quotient(l, r kind) kind {
	switch {
	case l == truth || r == truth:
		return 0
	case l == r:
		return number
	case r == number, r == ratio && l != number:
		return l
	case r == duration && (l == count || l == number || l == size):
		return rate
	case r == rate && (l == count || l == number):
		return duration
	}
	return 0
}

func isComparison(op string) bool { return turned[op] != "" }

// example returns a limit of the kind.
func example(k kind) string {
	return cmp.Or(map[kind]string{
		duration: "50ms", rate: "200/s", ratio: "0.1%", size: "64MiB", power: "500W", energy: "2J",
	}[k], "10")
}

// mismatch refuses an operator whose operands have no rule.
func (c *checker) mismatch(op string, o, l, r operand) operand {
	a, b := l.kind.an(), r.kind.an()
	joins := op == "and" || op == "or"
	where, summary, detail := culprit(joins, o, l, r).span, "", unitHint(l, r)
	switch {
	case joins:
		if l.kind == truth {
			a = b
		}
		summary, detail = op+" joins conditions; this is "+a, "compare it with a limit"
	case l.kind == truth || r.kind == truth:
		summary = "a condition cannot be part of a comparison or a calculation"
		detail = "conditions are joined with and, or and not"
	case isComparison(op) && common(l.kind, r.kind) != 0:
		if l.kind == number {
			a = b
		}
		where, summary = o.span, a+" cannot be compared with "+op
		detail = "two measured values are equal by chance only: use <= or >=, or a count"
	case isComparison(op):
		summary = a + " cannot be compared with " + b
	case op == "+" || op == "-":
		summary = a + " and " + b + " cannot be added"
		if op == "-" {
			summary = b + " cannot be taken from " + a
		}
		if r.literal && r.kind == ratio {
			detail = "a share of a metric is a factor of it"
			if l.ref >= 0 { // 1.1 * latency.p99 for latency.p99 + 10%
				return c.problem(o.span, source.Errorf(codeType, "%s", summary).Help(detail).
					Among(factor(op, r.value)+" * "+c.written(l), nil))
			}
		}
	case op == "*":
		summary, detail = a+" cannot be multiplied by "+b, ""
	case op == "/":
		summary, detail = a+" cannot be divided by "+b, ""
	default:
		summary = op + " cannot compare " + a + " with " + b
	}
	c.mistake(where, codeType, summary, detail)
	return o
}

// culprit returns the operand that a mismatch is marked at: the condition, or what is none under
// and/or, the bare number, else the whole.
func culprit(joins bool, o, l, r operand) operand {
	switch {
	case l.kind == truth && r.kind == truth:
	case (l.kind == truth) != (r.kind == truth):
		if (l.kind == truth) == joins {
			return r
		}
		return l
	case r.literal && r.kind == number:
		return r
	case l.literal && l.kind == number:
		return l
	}
	return o
}

// unitHint offers the unit that one of two operands lacks.
func unitHint(l, r operand) string {
	if l.literal && (l.kind == number || !r.literal) {
		l, r = r, l
	}
	unit := strings.TrimLeft(example(l.kind), "0123456789.")
	n := plain(r.value)
	switch {
	case !r.literal:
		return ""
	case r.kind != number && unit == "":
		return l.kind.an() + " has no unit"
	case r.kind != number:
		return l.kind.an() + " is written " + example(l.kind)
	case unit == "":
		return ""
	case l.kind == duration:
		return "give the number a unit, such as " + n + "ms or " + n + "s"
	}
	return "give the number a unit, such as " + n + unit
}

// bareNumber refuses a constant without a unit that is compared with, added to or taken from a ratio:
// errors.ratio < 1 reads as 1 % and would mean 100 %. Quotients and scrape() are numbers too, and
// are measured: they are no constants. It reports whether it refused one.
func (c *checker) bareNumber(op string, l, r operand) bool {
	bare, other := r, l
	if l.kind == number {
		bare, other = l, r
	}
	if op == "*" || op == "/" || bare.kind != number || !bare.constant || other.kind != ratio {
		return false
	}
	const summary = "a bare number beside a ratio"
	if c.text[bare.from] == '$' && bare.literal { // its value may be secret
		c.mistake(bare.span, codeType, summary, "give ${"+c.variableName(bare)+"} a ratio, such as 1%")
		return true
	}
	whole := percent(bare.value)
	meant := whole
	if isComparison(op) && bare.value >= 1 {
		meant = plain(bare.value) + "%"
	}
	detail := "write " + meant
	if meant != whole {
		detail += ": " + c.written(bare) + " alone would be " + whole
	}
	c.mistake(bare.span, codeType, summary, detail)
	return true
}

// factor returns a share more or less as a factor: 1.1 for + 10%.
func factor(op string, share float64) string {
	if op == "-" {
		share = -share
	}
	return plain(math.Round((1+share)*1e9) / 1e9)
}

// percent returns a number as a ratio is written: 0.07 is 7%.
func percent(v float64) string {
	shown, err := strconv.ParseFloat(strconv.FormatFloat(100*v, 'g', 12, 64), 64)
	if err != nil {
		shown = 100 * v
	}
	return plain(shown) + "%"
}
