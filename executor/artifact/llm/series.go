package llm

import (
	"math"
	"slices"
)

// maxValues limits the values of a metric that are kept for percentiles. Of more, every second, fourth … is.
const maxValues = 1 << 20

// series sums up the values of one metric.
type series struct {
	kept                   []float64
	every, n               int64
	mean, squares          float64 // squares of the distances from the mean, summed up
	smallest, largest, sum float64
}

func (s *series) add(v float64) {
	if s.n == 0 {
		s.every, s.smallest, s.largest = 1, v, v
	}
	if s.n%s.every == 0 {
		s.kept = append(s.kept, v)
		if len(s.kept) >= maxValues {
			half := s.kept[:0]
			for i := 0; i < len(s.kept); i += 2 {
				half = append(half, s.kept[i])
			}
			s.kept, s.every = half, 2*s.every
		}
	}
	s.n++
	s.sum += v
	d := v - s.mean
	s.mean += d / float64(s.n)
	s.squares += d * (v - s.mean)
	s.smallest, s.largest = min(s.smallest, v), max(s.largest, v)
}

// stats returns the statistics of the values, of which there is at least one. Percentiles are those of numpy, between two
// values in proportion, and the deviation is that of the population, as in the tools.
func (s *series) stats(unit string) Stats {
	slices.Sort(s.kept)
	out := Stats{unit, map[string]float64{
		"avg": s.sum / float64(s.n), "min": s.smallest, "max": s.largest,
		"std": math.Sqrt(s.squares / float64(s.n)), "count": float64(s.n), "sum": s.sum,
	}}
	for name, p := range percents() {
		out.Values[name] = percentile(s.kept, p)
	}
	return out
}
