package feed

import (
	"math"

	"github.com/sluice-bench/sluice/scenario"
)

// Think returns src with a pause after each reply of a closed loop: that of the row, else one that is
// drawn from d (in s) by arrival number and seed.
func Think(src Source, d scenario.Dist, seed uint64) Source {
	return &thinking{Source: src, dist: d, seed: mix(seed ^ 0x7468696e6b)}
}

type thinking struct {
	Source
	dist scenario.Dist
	seed uint64
}

// Next implements Source.
func (s *thinking) Next(slot int, n uint64, t *Turn) bool {
	t.Think = -1
	ok := s.Source.Next(slot, n, t)
	if t.Think >= 0 {
		t.Think = min(t.Think, longest)
		return ok
	}
	t.Think = int64(min(math.Round(max(quantile(&s.dist, unit(mix(s.seed+n))), 0)*1e9), longest))
	return ok
}

// longest limits a pause to a year, in ns.
const longest = 3.2e16
