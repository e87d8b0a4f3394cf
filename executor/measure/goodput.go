package measure

import (
	"math"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Bound is one condition of goodput: a request is good if its value of Row is within Limit, in
// Row's base unit. The row's direction decides whether Limit is a minimum or a maximum.
type Bound struct {
	Row   *metric.Row
	Limit float64
}

// Bindable reports whether a row can be used in a goodput condition: each request has one value of
// it, and one direction is better.
func Bindable(row *metric.Row) bool {
	i := extractOf(row.Name)
	return i >= 0 && extracts[i].value != nil && row.Better != metric.Neither
}

// bound is a Bound prepared for folding.
type bound struct {
	row     int   // of extracts
	limit   int64 // in the sample's unit
	atLeast bool  // the value must be at least limit
}

func newBounds(list []Bound) []bound {
	var out []bound
	for _, b := range list {
		unit := 1.0
		if b.Row.Dim == metric.Duration {
			unit = nsPerSecond
		}
		out = append(out, bound{
			row: extractOf(b.Row.Name), atLeast: b.Row.Better == metric.Higher,
			limit: int64(math.Round(b.Limit * unit)), // 0.0312 × 10⁹ is not always an integer
		})
	}
	return out
}

// good reports whether a request is OK and within every bound. A request without a value for a
// bound is not good.
func good(bounds []bound, x *finished) bool {
	if x.Class != backends.OK {
		return false
	}
	for i := range bounds {
		b := &bounds[i]
		v, ok := x.valueOf(b.row)
		if !ok || !b.atLeast && v > b.limit || b.atLeast && v < b.limit {
			return false
		}
	}
	return len(bounds) > 0
}
