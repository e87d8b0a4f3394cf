package expression

import "math"

// Arithmetic on quantities: the value, and its bounds as intervals. What is unknown stays unknown, and so does what
// leaves the finite numbers.

func known(v, lo, hi float64, a, b Quantity) Quantity {
	if !finite(v) || !finite(lo) || !finite(hi) {
		return Quantity{Why: "the result is not a finite number"}
	}
	n, need := samples(a, b)
	return Quantity{Known: true, V: v, Lo: lo, Hi: hi, N: n, Need: need}
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
	return known(a.V+b.V, a.Lo+b.Lo, a.Hi+b.Hi, a, b)
}

func subtract(a, b Quantity) Quantity { return add(a, negate(b)) }

func negate(a Quantity) Quantity {
	a.V, a.Lo, a.Hi = -a.V, -a.Hi, -a.Lo
	return a
}

func multiply(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	corners := [...]float64{a.Lo * b.Lo, a.Lo * b.Hi, a.Hi * b.Lo, a.Hi * b.Hi}
	lo, hi := corners[0], corners[0]
	for _, c := range corners {
		lo, hi = math.Min(lo, c), math.Max(hi, c)
	}
	return known(a.V*b.V, lo, hi, a, b)
}

func divide(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	if b.V == 0 {
		return Quantity{Why: "division by zero"}
	}
	if b.Lo <= 0 && b.Hi >= 0 {
		return Quantity{Why: "the divisor may be zero within its confidence bounds"}
	}
	corners := [...]float64{a.Lo / b.Lo, a.Lo / b.Hi, a.Hi / b.Lo, a.Hi / b.Hi}
	lo, hi := corners[0], corners[0]
	for _, c := range corners {
		lo, hi = math.Min(lo, c), math.Max(hi, c)
	}
	return known(a.V/b.V, lo, hi, a, b)
}

func smaller(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	return known(math.Min(a.V, b.V), math.Min(a.Lo, b.Lo), math.Min(a.Hi, b.Hi), a, b)
}

func larger(a, b Quantity) Quantity {
	if u, ok := both(a, b); !ok {
		return u
	}
	return known(math.Max(a.V, b.V), math.Max(a.Lo, b.Lo), math.Max(a.Hi, b.Hi), a, b)
}

func absolute(a Quantity) Quantity {
	switch {
	case a.Lo >= 0:
		return a
	case a.Hi <= 0:
		return negate(a)
	}
	a.V, a.Lo, a.Hi = math.Abs(a.V), 0, math.Max(-a.Lo, a.Hi)
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
	if q.Lo == 0 && q.Hi == 0 {
		q.Lo, q.Hi = q.V, q.V
	}
	q.Need = max(q.Need, 1)
	if !finite(q.V) || !finite(q.Lo) || !finite(q.Hi) {
		return Quantity{N: q.N, Need: q.Need, Why: "not a finite number"}
	}
	if q.Lo > q.V || q.Hi < q.V {
		return Quantity{N: q.N, Need: q.Need, Why: "the confidence bounds do not hold the value"}
	}
	return q
}
