package measure

import (
	"math"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Bound is one condition of goodput: a request is good when its own value of Row is within Limit, in Row's base unit. The
// row's direction says on which side that is.
type Bound struct {
	Row   *metric.Row
	Limit float64
}

// Bindable reports whether a row can stand in a goodput condition: each request has a value of its own, and one side of it
// is the better one.
func Bindable(row *metric.Row) bool {
	i := extractOf(row.Name)
	return i >= 0 && extracts[i].of != nil && row.Better != metric.Neither
}

// bound is a Bound made ready for the fold.
type bound struct {
	of      func(*backends.Sample) (int64, bool)
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
			of: extracts[extractOf(b.Row.Name)].of, atLeast: b.Row.Better == metric.Higher,
			limit: int64(math.Round(b.Limit * unit)), // 0.0312 × 10⁹ is not always whole
		})
	}
	return out
}

// good reports whether a request was answered well and within every bound. One without a value for a bound is not.
func good(bounds []bound, s *backends.Sample) bool {
	if s.Class != backends.OK {
		return false
	}
	for i := range bounds {
		b := &bounds[i]
		v, ok := b.of(s)
		if !ok || !b.atLeast && v > b.limit || b.atLeast && v < b.limit {
			return false
		}
	}
	return len(bounds) > 0
}
