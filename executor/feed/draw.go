package feed

import (
	"math"
	"math/rand/v2"

	"github.com/sluice-bench/sluice/scenario"
)

// drawFrom draws one number from d.
func drawFrom(d scenario.Dist, rng *rand.Rand) float64 { return quantile(&d, unit(rng.Uint64())) }

// unit returns a number between 0 and 1, neither of them, from random bits: the middle of one of 2⁵³
// equal parts.
func unit(bits uint64) float64 { return (float64(bits>>11) + 0.5) / (1 << 53) }

// quantile returns the value below which a share u of d lies: a draw from one uniform number, so that it
// can be drawn by arrival number too, without a generator whose state depends on who drew before.
// Normal and lognormal have the mean and standard deviation of the numbers themselves; whatever the
// shape, Min and Max cut.
func quantile(d *scenario.Dist, u float64) float64 {
	var v float64
	switch d.Shape {
	case "uniform":
		v = d.Min + u*(d.Max-d.Min)
	case "normal":
		v = d.Mean + d.Std*normal(u)
	case "exponential":
		v = -d.Mean * math.Log1p(-u)
	case "lognormal":
		s2 := math.Log1p(d.Std * d.Std / (d.Mean * d.Mean))
		v = math.Exp(math.Log(d.Mean) - s2/2 + math.Sqrt(s2)*normal(u))
	case "values":
		v = d.Values[weighted(d.Weights, len(d.Values), u)]
	default:
		v = d.Mean
	}
	if d.HasMin {
		v = max(v, d.Min)
	}
	if d.HasMax {
		v = min(v, d.Max)
	}
	return v
}

// normal returns the quantile of the standard normal distribution.
func normal(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }

// weighted returns the index that a share u of all weights falls on; nil weights are equal.
func weighted(weights []float64, n int, u float64) int {
	if weights == nil {
		return min(int(u*float64(n)), n-1)
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at := u * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return n - 1
}

// Expected returns the mean and the standard deviation of a whole number of at least 1 that is drawn
// from d.
func Expected(d scenario.Dist) (mean, sd float64) {
	const draws = 1 << 12
	sum, squares := 0.0, 0.0
	for i := range draws {
		v := max(math.Round(quantile(&d, (float64(i)+0.5)/draws)), 1)
		sum, squares = sum+v, squares+v*v
	}
	mean = sum / draws
	return mean, math.Sqrt(max(squares/draws-mean*mean, 0))
}
