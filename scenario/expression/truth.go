package expression

import (
	"cmp"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// Truth is the value of comparisons and of and, or, not (Kleene): false beats unknown, unknown
// beats true. It keeps the comparison that decided it, whose sides are the observed value and the
// limit.
type Truth struct {
	Is              int8 // -1 false, 0 unknown, 1 true
	Observed, Limit Quantity
	Dim             metric.Dim // of Observed and Limit
	Op              string     // of Observed Op Limit: turned where the limit is written on the left
	What, Against   string     // Observed and Limit as they are written
	Ref             *Ref       // the one metric that Observed is; nil: it is computed
	Margin          *Quantity  // Observed - Limit, where a Judge decided by that
	Why             string     // why it is unknown
	Err             error      // the evaluation itself failed; Is is 0 then
}

// Judge is optionally implemented by Values: it decides comparisons that bounds cannot. t is
// undecided; either side may be unknown. decided is t with Is, Margin and Why; false leaves the
// decision to the bounds.
type Judge interface {
	Compare(t Truth) (decided Truth, ok bool)
}

// Decide compares two known quantities by their bounds: 1 and -1 where every value within them
// agrees, else 0.
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
		exact := a.Lo == a.Hi && b.Lo == b.Hi
		return sure(exact && a.V == b.V, a.Hi < b.Lo || b.Hi < a.Lo)
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

// turned holds the operators, and each for exchanged sides: a < b is b > a.
var turned = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

var opposite = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

// Opposite returns the operator that is true where op is false.
func Opposite(op string) string { return opposite[op] }

// TakesEqual reports whether values as large as the limit of a comparison belong to those that are larger:
// they make `<` false and `>=` true.
func TakesEqual(op string) bool { return op == "<" || op == ">=" }

// compare fills in the truth of a comparison whose texts and dimension are set.
func (t Truth) compare(a, b Quantity, j Judge) Truth {
	t.Observed, t.Limit = a, b
	if j != nil {
		if decided, ok := j.Compare(t); ok {
			return decided
		}
	}
	switch {
	case !a.Known:
		t.Why = a.Why
	case !b.Known:
		t.Why = b.Why
	default:
		if t.Is = Decide(t.Op, a, b); t.Is == 0 {
			t.Why = cmp.Or(a.Why, b.Why, "the limit lies within the confidence bounds")
		}
	}
	return t
}

// Samples returns the samples of the side of the deciding comparison that lacks most, and the
// samples that it needs.
func (t Truth) Samples() (n, need int64) { return samples(t.Observed, t.Limit) }

// Lacks counts the missing samples; not above 0: none.
func (t Truth) Lacks() int64 {
	n, need := t.Samples()
	return need - n
}

func not(a Truth) Truth {
	a.Is, a.Op = -a.Is, Opposite(a.Op)
	return a
}

// and is false where one is false, else unknown where one is unknown. Of two that decide alike it
// keeps the one that matters for the samples: true needs both, so the worse proven; one false is
// enough, so the better proven.
func and(a, b Truth) Truth {
	second := false
	switch {
	case a.Is != b.Is:
		second = b.Is < a.Is
	case a.Is < 0:
		second = b.Lacks() < a.Lacks() && a.Lacks() > 0
	case a.Is > 0:
		second = b.Lacks() > a.Lacks() && b.Lacks() > 0
	}
	if second {
		return b
	}
	return a
}

func or(a, b Truth) Truth { return not(and(not(a), not(b))) }
