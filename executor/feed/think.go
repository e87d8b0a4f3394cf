package feed

import "github.com/sluice-bench/sluice/scenario"

// Think is src with a pause after each reply of a closed loop, drawn from d (seconds) by arrival number and seed.
func Think(src Source, d scenario.Dist, seed uint64) Source { return &thinking{src, d, seed} }

type thinking struct {
	Source
	dist scenario.Dist
	seed uint64
}
