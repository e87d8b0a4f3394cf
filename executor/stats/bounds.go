package stats

import (
	"math"
	"sort"
)

// Bounds returns the two-sided confidence interval of the p-th percentile from order statistics:
// with the given confidence (such as 0.95) the true percentile lies in [lo, hi], whatever the
// distribution. `beyond` counts further values known to be larger than all in d. With too few
// values lo is math.MinInt64 or hi math.MaxInt64. ok is false without values, or if p is not in (0,
// 100) or confidence not in (0, 1).
func (d *Dist) Bounds(p, confidence float64, beyond int64) (lo, hi int64, ok bool) {
	if d.n == 0 || beyond < 0 || !between0And1(p/100) || !between0And1(confidence) {
		return 0, 0, false
	}
	l, u := boundRanks(d.n+beyond, p/100, confidence)
	lo, hi = math.MinInt64, math.MaxInt64
	d = d.unpacked()
	if l >= 1 {
		lo = d.at(min(l, d.n)) // a rank beyond d has at least the largest value of d
	}
	if u <= d.n {
		hi = d.at(u)
	}
	return lo, hi, true
}

// boundRanks returns the two ranks of Bounds; 0 and n+1 mean that there is no such value.
//
// The number of n values at or below the q-th quantile is binomial(n, q). The lower rank l is the
// largest with P(B <= l-1) <= alpha/2, the upper rank u the smallest with P(B <= u-1) >= 1 -
// alpha/2.
func boundRanks(n int64, q, confidence float64) (l, u int64) {
	half := (1 - confidence) / 2
	// sort.Search finds the first k in [0, n] where P(B <= k) is above its limit; int has 64 bits
	// on supported platforms.
	l = int64(sort.Search(int(n), func(k int) bool { return binomialCDF(int64(k), n, q) > half }))
	u = int64(sort.Search(int(n), func(k int) bool { return binomialCDF(int64(k), n, q) >= 1-half })) + 1
	return l, u
}

// UpperBoundSamples returns the least number of values from which the p-th percentile has an upper bound at
// a two-sided confidence: the largest of n is one if it is beyond the percentile often enough,
// 1 - (p/100)ⁿ >= 1 - alpha/2.
func UpperBoundSamples(p, confidence float64) int64 {
	if !between0And1(p/100) || !between0And1(confidence) {
		return 1
	}
	return max(1, int64(math.Ceil(math.Log((1-confidence)/2)/math.Log(p/100))))
}

// betaRegularised returns I_x(a, b) for a, b > 0 and 0 <= x <= 1. The continued fraction converges
// quickly only left of the mean, so the other side is computed by symmetry.
func betaRegularised(a, b, x float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	lab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(a, b, x) / a
	}
	return 1 - front*betaFraction(b, a, 1-x)/b
}

// betaFraction evaluates the continued fraction of the incomplete beta function by the modified
// Lentz method, in about √max(a, b) steps.
func betaFraction(a, b, x float64) float64 {
	const tiny, precision = 1e-300, 1e-14
	offZero := func(v float64) float64 { // avoids division by 0
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/offZero(1-(a+b)*x/(a+1))
	f := d
	for m := 1.0; m < 1e6; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / offZero(1+even*d)
		c = offZero(1 + even/c)
		f *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / offZero(1+odd*d)
		c = offZero(1 + odd/c)
		f *= d * c
		if math.Abs(d*c-1) < precision {
			break
		}
	}
	return f
}
