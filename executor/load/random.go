package load

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Poisson returns a Poisson process: independent exponential gaps with mean 1/rate seconds, the
// first arrival after the first gap, a random number of arrivals in any window (for a fixed number
// see Exact). The seed alone decides the gaps, the rate only scales them. A rate that is not
// positive has no arrivals.
func Poisson(rate float64, seed [2]uint64) Schedule { return newRandom(perSecond(rate), 1, seed) }

// Gamma returns a schedule of independent gaps with mean 1/rate seconds and coefficient of
// variation cv: 0 equals Constant, 1 equals Poisson bit for bit, more than 1 gives bursts. The gaps
// are gamma distributed with shape 1/cv².
func Gamma(rate, cv float64, seed [2]uint64) Schedule {
	if !(cv > 0) {
		return Constant(rate)
	}
	return newRandom(perSecond(rate), cv, seed)
}

// curve is a cumulative number of arrivals over time. at may remember its position, so the counts
// passed to it must not decrease.
type curve interface {
	at(count float64) float64 // time at which the count is reached, ns; +Inf: never
	count(t int64) float64    // count reached at t
	deterministic() *computed // the arrivals of the curve without randomness
}

// perSecond is the curve of a constant rate.
type perSecond float64

func (r perSecond) at(count float64) float64 {
	if !(r > 0) {
		return math.Inf(1)
	}
	return count / float64(r) * 1e9
}

func (r perSecond) count(t int64) float64    { return max(float64(r), 0) * float64(t) / 1e9 }
func (r perSecond) deterministic() *computed { return Constant(float64(r)).(*computed) }

// random adds gaps of mean 1 and maps the sum to time through the inverse of a curve, so that a
// constant rate and a ramp share one generator and nothing drifts.
type random struct {
	curve curve
	cv    float64
	seed  [2]uint64
	gaps  gaps
	sum   float64
}

func newRandom(c curve, cv float64, seed [2]uint64) *random {
	return &random{curve: c, cv: cv, seed: seed, gaps: newGaps(cv, seed)}
}

func (r *random) Next() (int64, bool) {
	r.sum += r.gaps.next()
	due := math.Round(r.curve.at(r.sum))
	if !(due < math.MaxInt64) {
		return 0, false
	}
	return int64(due), true
}

// gaps draws from a gamma distribution of mean 1, with the method of Marsaglia and Tsang (2000).
type gaps struct {
	random      *rand.Rand
	exponential bool
	d, c        float64 // for a shape of at least 1
	// 1/shape if the shape is below 1: the draw has shape + 1 and is multiplied by a uniform to
	// this power
	power float64
	scale float64
}

func newGaps(cv float64, seed [2]uint64) gaps {
	g := gaps{random: rand.New(rand.NewPCG(seed[0], seed[1])), exponential: cv == 1}
	shape := 1 / (cv * cv)
	g.scale = cv * cv
	if shape < 1 {
		g.power = 1 / shape
		shape++
	}
	g.d = shape - 1.0/3
	g.c = 1 / math.Sqrt(9*g.d)
	return g
}

func (g *gaps) next() float64 {
	if g.exponential {
		return g.random.ExpFloat64()
	}
	v := g.gamma() * g.scale
	if g.power > 0 {
		v *= math.Pow(1-g.random.Float64(), g.power)
	}
	return v
}

func (g *gaps) gamma() float64 {
	for {
		x := g.random.NormFloat64()
		v := 1 + g.c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - g.random.Float64()
		if u < 1-0.0331*x*x*x*x || math.Log(u) < 0.5*x*x+g.d*(1-v+math.Log(v)) {
			return g.d * v
		}
	}
}

// Seed derives a node's seed from the seed of the plan, the id of the stage and the point (level,
// matrix, repetition). It does not depend on lanes or machines.
func Seed(planSeed uint64, stage, point string) [2]uint64 {
	var b []byte
	b = binary.LittleEndian.AppendUint64(b, planSeed)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(stage)))
	b = append(b, stage...)
	b = append(b, point...)
	sum := sha256.Sum256(b)
	return [2]uint64{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
}
