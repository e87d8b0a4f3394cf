package load

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Poisson is a Poisson process: independent exponential gaps with mean 1/rate seconds, the first arrival after the first
// gap, a random number of arrivals in any window (free Poisson, not a fixed number spread at random). Same seed, same
// bytes; the seed alone decides the gaps, the rate only scales them. A rate that is not positive has no arrivals.
func Poisson(rate float64, seed [2]uint64) Schedule {
	return &poisson{perSecond: rate, random: rand.New(rand.NewPCG(seed[0], seed[1]))}
}

type poisson struct {
	perSecond float64
	sum       float64 // of unit exponentials: the process of rate 1
	random    *rand.Rand
}

func (p *poisson) Next() (int64, bool) {
	if !(p.perSecond > 0) {
		return 0, false
	}
	p.sum += p.random.ExpFloat64()
	due := math.Round(p.sum / p.perSecond * 1e9)
	if due >= math.MaxInt64 {
		return 0, false
	}
	return int64(due), true
}

// Seed derives a node's seed from the plan's, the stage's id and the point (level, matrix, repetition) that the node
// is. Lanes and machines have no part in it.
func Seed(planSeed uint64, stage, point string) [2]uint64 {
	var b []byte
	b = binary.LittleEndian.AppendUint64(b, planSeed)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(stage)))
	b = append(b, stage...)
	b = append(b, point...)
	sum := sha256.Sum256(b)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
}
