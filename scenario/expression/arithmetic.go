package expression

import (
	"cmp"
	"math"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// Quantity is a value with what is known about it. The zero Quantity is "no data": nothing that is
// forgotten, missing or mistyped can become a number, let alone a pass.
type Quantity struct {
	Known     bool
	V, Lo, Hi float64 // point and confidence bounds, equal without a confidence; an infinite bound is none
	N, Need   int64   // samples, and samples wanted for this statistic; Need 0: a constant of the plan
	Why       string  // why it is unknown, or has no bounds
	// Again holds the values on other selections of the same measurement (rounds left out in turn),
	// which a Judge weighs. All that have any have equally many; nil: the value is the same on
	// each.
	Again []float64
}

// exactly returns the quantity of a constant.
func exactly(v float64) Quantity { return Quantity{Known: true, V: v, Lo: v, Hi: v} }

// result returns a quantity computed of a and b: bounds as intervals, values on other selections
// one by one. What leaves the finite numbers is unknown; a bound may be infinite.
func result(v, lo, hi float64, a, b Quantity, f func(x, y float64) float64) Quantity {
	if !finite(v) {
		return Quantity{Why: "the result is not a finite number"}
	}
	if math.IsNaN(lo) || math.IsNaN(hi) { // of two without a bound
		lo, hi = math.Inf(-1), math.Inf(1)
	}
	q := Quantity{Known: true, V: v, Lo: lo, Hi: hi, Again: each(a, b, f), Why: cmp.Or(a.Why, b.Why)}
	q.N, q.Need = samples(a, b)
	return q
}

// each returns f of the values on each selection. A value that is not finite stays in the list,
// where a Judge sees it.
func each(a, b Quantity, f func(x, y float64) float64) []float64 {
	n := max(len(a.Again), len(b.Again))
	if n == 0 {
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = f(a.on(i), b.on(i))
	}
	return out
}

// on returns the value on selection i.
func (q Quantity) on(i int) float64 {
	switch {
	case q.Again == nil:
		return q.V
	case i < len(q.Again):
		return q.Again[i]
	}
	return math.NaN()
}

// Apart returns the difference of two quantities on each selection; nil where both are the same on all.
func Apart(a, b Quantity) []float64 {
	return each(a, b, func(x, y float64) float64 { return x - y })
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// samples returns those of the operand that lacks most, else those of the first. The fewest of one
// and the needs of the other would call a mix of one value read once and one percentile too small;
// constants have no samples at all.
func samples(a, b Quantity) (n, need int64) {
	switch {
	case a.Need == 0:
		return b.N, b.Need
	case b.Need == 0:
		return a.N, a.Need
	case b.Need > b.N && b.Need-b.N > a.Need-a.N:
		return b.N, b.Need
	}
	return a.N, a.Need
}

// both returns the first operand that is unknown.
func both(a, b Quantity) (unknown Quantity, ok bool) {
	if !a.Known {
		return a, false
	}
	return b, b.Known
}

// rising returns f of two quantities; f rises in both, so bounds of the operands give those of the
// result.
func rising(a, b Quantity, f func(x, y float64) float64) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	return result(f(a.V, b.V), f(a.Lo, b.Lo), f(a.Hi, b.Hi), a, b, f)
}

func add(a, b Quantity) Quantity {
	return rising(a, b, func(x, y float64) float64 { return x + y })
}

func subtract(a, b Quantity) Quantity { return add(a, negate(b)) }

func negate(a Quantity) Quantity {
	a.V, a.Lo, a.Hi = -a.V, -a.Hi, -a.Lo
	a.Again = each(a, a, func(x, _ float64) float64 { return -x })
	return a
}

func multiply(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	lo, hi := spread(times(a.Lo, b.Lo), times(a.Lo, b.Hi), times(a.Hi, b.Lo), times(a.Hi, b.Hi))
	return result(a.V*b.V, lo, hi, a, b, func(x, y float64) float64 { return x * y })
}

// times returns the product of two bounds, which is 0 where one is 0 and the other infinite.
func times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}

// spread returns the least and the greatest of four numbers; NaN where one is.
func spread(a, b, c, d float64) (lo, hi float64) {
	return min(a, b, c, d), max(a, b, c, d)
}

func divide(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	if b.V == 0 {
		return Quantity{Why: "division by zero"}
	}
	over := func(x, y float64) float64 { return x / y }
	if b.Lo <= 0 && b.Hi >= 0 {
		q := result(a.V/b.V, math.Inf(-1), math.Inf(1), a, b, over)
		q.Why = cmp.Or(q.Why, "the divisor may be zero within its confidence bounds")
		return q
	}
	lo, hi := spread(a.Lo/b.Lo, a.Lo/b.Hi, a.Hi/b.Lo, a.Hi/b.Hi)
	return result(a.V/b.V, lo, hi, a, b, over)
}

func smaller(a, b Quantity) Quantity { return rising(a, b, math.Min) }

func larger(a, b Quantity) Quantity { return rising(a, b, math.Max) }

func absolute(a Quantity) Quantity {
	switch {
	case a.Lo >= 0:
	case a.Hi <= 0:
		a.V, a.Lo, a.Hi = -a.V, -a.Hi, -a.Lo
	default:
		a.V, a.Lo, a.Hi = math.Abs(a.V), 0, math.Max(-a.Lo, a.Hi)
	}
	a.Again = each(a, a, func(x, _ float64) float64 { return math.Abs(x) })
	return a
}

// clean makes a quantity of Values safe to compute with: only a finite value within its bounds is
// known, and only a constant of the plan needs no sample.
func clean(q Quantity) Quantity {
	if q.Lo == 0 && q.Hi == 0 { // not set
		q.Lo, q.Hi = q.V, q.V
	}
	q.Need = max(q.Need, 1)
	switch {
	case !q.Known:
		q.Why = cmp.Or(q.Why, "no data")
	case !finite(q.V) || math.IsNaN(q.Lo) || math.IsNaN(q.Hi):
		q.Why = "not a finite number"
	case q.Lo > q.V || q.Hi < q.V:
		q.Why = "the confidence bounds do not hold the value"
	default:
		return q
	}
	return Quantity{N: q.N, Need: q.Need, Why: q.Why}
}

// bounds returns the least and the greatest value that a metric can have.
func bounds(leaf metric.Leaf) (least, most float64) {
	switch {
	case leaf.Dim() == metric.Number:
		return math.Inf(-1), math.Inf(1)
	case leaf.Dim() == metric.Ratio && leaf.Row.From != metric.Client: // the share of a CPU may exceed 1
		return 0, 1
	}
	return 0, math.Inf(1)
}
