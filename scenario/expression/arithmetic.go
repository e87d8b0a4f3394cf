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
	Worth     int64   // independent samples that tell as much as the N, by which they are judged; 0: N
	Assumed   bool    // its bounds take samples as independent, as nothing says what they are worth
	Why       string  // why it is unknown, or has no bounds
	// Again holds the values on other selections of the same measurement (rounds left out in turn),
	// which a Judge weighs. All that have any have equally many; nil: the value is the same on
	// each.
	Again []float64
}

// Exactly returns a known quantity of n samples, with as many wanted as need says; 0: a constant.
func Exactly(v float64, n, need int64) Quantity {
	return Quantity{Known: true, V: v, Lo: v, Hi: v, N: n, Need: need}
}

// combine returns f of two quantities, which is monotone in both: its bounds are the least and the
// greatest value on theirs. What leaves the finite numbers is unknown; a bound may be infinite, and so may a
// value that is made of an infinite one.
func combine(a, b Quantity, f func(x, y float64) float64) Quantity {
	switch {
	case !a.Known:
		return a
	case !b.Known:
		return b
	}
	q := Quantity{Known: true, V: f(a.V, b.V), Again: each(a, b, f), Why: cmp.Or(a.Why, b.Why)}
	q.Assumed = a.Assumed || b.Assumed
	if !finite(q.V) && !(math.IsInf(q.V, 1) && (math.IsInf(a.V, 1) || math.IsInf(b.V, 1))) {
		return Quantity{Why: "the result is not a finite number"}
	}
	q.N, q.Need = samples(a, b)
	q.Lo, q.Hi = math.Inf(1), math.Inf(-1)
	for _, x := range [...]float64{a.Lo, a.Hi} {
		for _, y := range [...]float64{b.Lo, b.Hi} {
			corner := f(x, y)
			if math.IsNaN(corner) && (x == 0 || y == 0) {
				corner = 0 // 0 times an infinite bound
			}
			q.Lo, q.Hi = min(q.Lo, corner), max(q.Hi, corner)
		}
	}
	if math.IsNaN(q.Lo) { // of two without a bound
		q.Lo, q.Hi = math.Inf(-1), math.Inf(1)
	}
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
		return b.judged(), b.Need
	case b.Need == 0:
		return a.judged(), a.Need
	case b.Need > b.judged() && b.Need-b.judged() > a.Need-a.judged():
		return b.judged(), b.Need
	}
	return a.judged(), a.Need
}

// judged returns the number of samples by which a quantity is judged.
func (q Quantity) judged() int64 { return cmp.Or(q.Worth, q.N) }

func add(a, b Quantity) Quantity {
	return combine(a, b, func(x, y float64) float64 { return x + y })
}

func subtract(a, b Quantity) Quantity {
	return combine(a, b, func(x, y float64) float64 { return x - y })
}

func negate(a Quantity) Quantity { return subtract(Exactly(0, 0, 0), a) }

func multiply(a, b Quantity) Quantity {
	return combine(a, b, func(x, y float64) float64 { return x * y })
}

func divide(a, b Quantity) Quantity {
	if a.Known && b.Known && b.V == 0 {
		return Quantity{Why: "division by zero"}
	}
	q := combine(a, b, func(x, y float64) float64 { return x / y })
	if q.Known && b.Lo <= 0 && b.Hi >= 0 {
		q.Lo, q.Hi = math.Inf(-1), math.Inf(1)
		q.Why = cmp.Or(q.Why, "the divisor may be zero within its confidence bounds")
	}
	return q
}

func smaller(a, b Quantity) Quantity { return combine(a, b, math.Min) }

func larger(a, b Quantity) Quantity { return combine(a, b, math.Max) }

func absolute(a Quantity) Quantity {
	q := larger(a, negate(a))
	q.Lo = max(q.Lo, 0)
	return q
}

// clean makes a quantity of Values safe to compute with: only a finite value within its bounds, or one that is
// larger than all, is known, and only a constant of the plan needs no sample.
func clean(q Quantity) Quantity {
	if q.Lo == 0 && q.Hi == 0 { // not set
		q.Lo, q.Hi = q.V, q.V
	}
	q.Need = max(q.Need, 1)
	switch {
	case !q.Known:
		q.Why = cmp.Or(q.Why, "no data")
	case !finite(q.V) && !math.IsInf(q.V, 1) || math.IsNaN(q.Lo) || math.IsNaN(q.Hi):
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
