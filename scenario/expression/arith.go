package expression

import (
	"cmp"
	"math"
)

// Arithmetic on quantities: the value, its bounds as intervals, its values on other selections one by one. What is unknown
// stays unknown, and so does what leaves the finite numbers; a bound may be infinite, which says that there is none.

func known(v, lo, hi float64, again []float64, a, b Quantity) Quantity {
	if !finite(v) {
		return Quantity{Why: "the result is not a finite number"}
	}
	if math.IsNaN(lo) || math.IsNaN(hi) { // of two that have no bound
		lo, hi = math.Inf(-1), math.Inf(1)
	}
	n, need := samples(a, b)
	return Quantity{Known: true, V: v, Lo: lo, Hi: hi, N: n, Need: need, Again: again, Why: cmp.Or(a.Why, b.Why)}
}

// each is f of the values on the same selection. One that leaves the finite numbers stays in the list, where a Judge sees
// it.
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

// on is the value on selection i.
func (q Quantity) on(i int) float64 {
	switch {
	case q.Again == nil:
		return q.V
	case i < len(q.Again):
		return q.Again[i]
	}
	return math.NaN()
}

// Apart are the differences of two quantities on each selection; nil where both are the same on all.
func Apart(a, b Quantity) []float64 {
	return each(a, b, func(x, y float64) float64 { return x - y })
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// samples of a result: those of the operand that lacks most, else those of the first. The fewest of one and the needs
// of the other would call a mix of one value read once and one percentile too small; constants have no samples at all.
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

// both gives the first operand that is unknown.
func both(a, b Quantity) (unknown Quantity, ok bool) {
	if !a.Known {
		return a, false
	}
	return b, b.Known
}

func add(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	again := each(a, b, func(x, y float64) float64 { return x + y })
	return known(a.V+b.V, a.Lo+b.Lo, a.Hi+b.Hi, again, a, b)
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
	return known(a.V*b.V, lo, hi, each(a, b, func(x, y float64) float64 { return x * y }), a, b)
}

// times is a product of bounds: nothing of what has no bound is still nothing.
func times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}

// spread is the least and the greatest of some numbers.
func spread(xs ...float64) (lo, hi float64) {
	lo, hi = xs[0], xs[0]
	for _, x := range xs {
		lo, hi = math.Min(lo, x), math.Max(hi, x)
	}
	return lo, hi
}

func divide(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	if b.V == 0 {
		return Quantity{Why: "division by zero"}
	}
	again := each(a, b, func(x, y float64) float64 { return x / y })
	if b.Lo <= 0 && b.Hi >= 0 {
		q := known(a.V/b.V, math.Inf(-1), math.Inf(1), again, a, b)
		q.Why = cmp.Or(q.Why, "the divisor may be zero within its confidence bounds")
		return q
	}
	lo, hi := spread(a.Lo/b.Lo, a.Lo/b.Hi, a.Hi/b.Lo, a.Hi/b.Hi)
	return known(a.V/b.V, lo, hi, again, a, b)
}

func smaller(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	return known(math.Min(a.V, b.V), math.Min(a.Lo, b.Lo), math.Min(a.Hi, b.Hi), each(a, b, math.Min), a, b)
}

func larger(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	return known(math.Max(a.V, b.V), math.Max(a.Lo, b.Lo), math.Max(a.Hi, b.Hi), each(a, b, math.Max), a, b)
}

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

// clean makes what a Values gave safe to compute with: only a finite value within its bounds is known, and only a
// constant of the plan needs no sample.
func clean(q Quantity) Quantity {
	if !q.Known {
		if q.Why == "" {
			q.Why = "no data"
		}
		return Quantity{N: q.N, Need: max(q.Need, 1), Why: q.Why}
	}
	if q.Lo == 0 && q.Hi == 0 { // not set
		q.Lo, q.Hi = q.V, q.V
	}
	q.Need = max(q.Need, 1)
	if !finite(q.V) || math.IsNaN(q.Lo) || math.IsNaN(q.Hi) {
		return Quantity{N: q.N, Need: q.Need, Why: "not a finite number"}
	}
	if q.Lo > q.V || q.Hi < q.V {
		return Quantity{N: q.N, Need: q.Need, Why: "the confidence bounds do not hold the value"}
	}
	return q
}
