package expression

import "cmp"

// Decide compares two known quantities by their bounds: 1 and -1 where every value within them agrees, else 0.
func Decide(op string, a, b Quantity) int8 {
	switch op {
	case "<":
		return sure(a.Hi < b.Lo, a.Lo >= b.Hi)
	case "<=":
		return sure(a.Hi <= b.Lo, a.Lo > b.Hi)
	case ">":
		return Decide("<", b, a)
	case ">=":
		return Decide("<=", b, a)
	case "==":
		point := a.Lo == a.Hi && b.Lo == b.Hi
		return sure(point && a.V == b.V, a.Hi < b.Lo || b.Hi < a.Lo)
	case "!=":
		return -Decide("==", a, b)
	}
	return 0
}

func sure(yes, no bool) int8 {
	switch {
	case yes:
		return 1
	case no:
		return -1
	}
	return 0
}

// turned is op with its sides changed: a < b says what b > a says.
func turned(op string) string {
	switch op {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	}
	return op
}

// opposite is what holds where op does not.
func opposite(op string) string {
	switch op {
	case "<":
		return ">="
	case "<=":
		return ">"
	case ">":
		return "<="
	case ">=":
		return "<"
	case "==":
		return "!="
	case "!=":
		return "=="
	}
	return op
}

// compare fills in the truth of a comparison whose texts and dimension are known already.
func (t Truth) compare(a, b Quantity, j Judge) Truth {
	t.Observed, t.Limit = a, b
	if j != nil {
		if d, ok := j.Compare(t); ok {
			t.Is, t.Margin, t.Why = d.Is, d.Margin, d.Why
			return t
		}
	}
	if u, ok := both(a, b); !ok {
		t.Why = u.Why
		return t
	}
	if t.Is = Decide(t.Op, a, b); t.Is == 0 {
		t.Why = cmp.Or(a.Why, b.Why, "the limit lies within the confidence bounds")
	}
	return t
}

// Samples are those of the side of the deciding comparison that lacks most: how many there are and how many it needs.
func (t Truth) Samples() (n, need int64) { return samples(t.Observed, t.Limit) }

// Lacks is how many samples are missing; not above 0: none.
func (t Truth) Lacks() int64 {
	n, need := t.Samples()
	return need - n
}

func not(a Truth) Truth {
	a.Is, a.Op = -a.Is, opposite(a.Op)
	return a
}

// and is false where one is false, else unknown where one is unknown. Of two that decide alike it keeps the one that
// matters for the samples: true needs both, so the worse proven; one false is enough, so the better proven.
func and(a, b Truth) Truth {
	switch {
	case a.Is < 0 && b.Is < 0:
		return better(a, b)
	case a.Is < 0:
		return a
	case b.Is < 0:
		return b
	case a.Is == 0:
		return a
	case b.Is == 0:
		return b
	}
	return worse(a, b)
}

func or(a, b Truth) Truth { return not(and(not(a), not(b))) }

func better(a, b Truth) Truth {
	if b.Lacks() < a.Lacks() && a.Lacks() > 0 {
		return b
	}
	return a
}

func worse(a, b Truth) Truth {
	if b.Lacks() > a.Lacks() && b.Lacks() > 0 {
		return b
	}
	return a
}
