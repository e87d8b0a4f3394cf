package executor

import (
	"fmt"
	"math"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// The bounds of a load that comes from a result: those of one that is written.
const (
	mostSlots = 65536 // requests in flight
	mostRate  = 1e7   // requests a second
)

// amount is a compiled value of a load that comes from earlier results.
type amount struct {
	program *expression.Program
	open    bool // a rate; else requests in flight
}

// Amount is the value of one of the node's levels, ramp steps or search bounds when it starts: as written, or computed
// from what earlier nodes gave. why says why there is none; then the node cannot run.
func (n *Node) Amount(l scenario.Level, v expression.Values) (value float64, why string) {
	if l.Expr == nil {
		return l.Value, ""
	}
	a := n.amounts[l.Expr]
	if a == nil {
		return 0, fmt.Sprintf("${%s} was not understood", l.Expr.Text)
	}
	q, _ := a.program.Quantity(v)
	switch {
	case !q.Known:
		return 0, fmt.Sprintf("${%s} has no value: %s", l.Expr.Text, q.Why)
	case a.open && !(q.V > 0 && q.V <= mostRate):
		return 0, fmt.Sprintf("${%s} is %.6g/s here; a rate is above 0 and at most %.0f/s", l.Expr.Text, q.V, mostRate)
	case a.open:
		return q.V, ""
	}
	if value = math.Round(q.V); !(value >= 1 && value <= mostSlots) {
		return 0, fmt.Sprintf("${%s} is %.6g here; requests in flight are from 1 to %d", l.Expr.Text, q.V, mostSlots)
	}
	return value, ""
}
