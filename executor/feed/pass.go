package feed

import "math"

// Share is one kind of request of a stage: the number of rows of its data, the rows of a request, and
// its weight in the mix (0 in all: in turn).
type Share struct {
	Rows   int
	Batch  int
	Weight float64
}

// Passes returns the number of requests of a stage until every row of each share was sent the given
// number of times. The seed is that of the mix.
func Passes(passes int64, of []Share, seed uint64) int64 {
	weights, most := make([]float64, len(of)), int64(0)
	need := make([]int64, len(of))
	for i, s := range of {
		weights[i] = s.Weight
		batch := int64(max(s.Batch, 1))
		if passes > (math.MaxInt64-batch)/int64(max(s.Rows, 1)) {
			return math.MaxInt64
		}
		need[i] = (passes*int64(s.Rows) + batch - 1) / batch
	}
	d := newDrawn(weights, seed)
	for i, n := range need {
		switch {
		case n == 0:
		case d != nil:
			most = max(most, d.number(i, n)+1)
		default: // entry i's call n-1 is arrival (n-1)·entries + i
			most = max(most, (n-1)*int64(len(of))+int64(i)+1)
		}
	}
	return most
}

// number returns the arrival that is the n-th of entry, n from 1; -1 for an entry that is never drawn.
func (d *drawn) number(entry int, n int64) int64 {
	all := int64(d.marks[len(d.marks)-1][entry])
	if all == 0 {
		return -1
	}
	size := int64(len(d.cells))
	for at := (n - 1) / all * size; ; at++ {
		if e, rank := d.at(uint64(at)); e == uint64(entry) && rank == uint64(n-1) {
			return at
		}
	}
}
