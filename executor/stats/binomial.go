package stats

import (
	"math"
	"sort"
)

// BinomialTail returns P(B >= k) for B binomial(n, q), by the regularised incomplete beta function: I
// of q at (k, n-k+1).
func BinomialTail(k, n int64, q float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return betaRegularised(float64(k), float64(n-k+1), q)
}

// binomialCDF returns P(B <= k) for B binomial(n, q): at least n-k of n do not occur.
func binomialCDF(k, n int64, q float64) float64 { return BinomialTail(n-k, n, 1-q) }

// between0And1 reports whether p can be the probability of an event that is open.
func between0And1(p float64) bool { return p > 0 && p < 1 }

// ClopperPearson returns the exact two-sided interval of a share observed as k of n. Each side
// keeps half of the risk, so that one side alone holds with confidence (1 + confidence) / 2. ok is
// false if the arguments are out of range.
func ClopperPearson(k, n int64, confidence float64) (lo, hi float64, ok bool) {
	if n <= 0 || k < 0 || k > n || !between0And1(confidence) {
		return 0, 1, false
	}
	half := (1 - confidence) / 2
	lo, hi = 0, 1
	if k > 0 {
		lo = solve(0, 1, func(q float64) bool { return BinomialTail(k, n, q) > half })
	}
	if k < n {
		hi = solve(0, 1, func(q float64) bool { return binomialCDF(k, n, q) <= half })
	}
	return lo, hi, true
}

// Wilson returns the two-sided score interval of a share observed as k of n. ok is false if the
// arguments are out of range.
func Wilson(k, n int64, confidence float64) (lo, hi float64, ok bool) {
	if n <= 0 || k < 0 || k > n || !between0And1(confidence) {
		return 0, 1, false
	}
	z, m := normalQuantile((1+confidence)/2), float64(n)
	p := float64(k) / m
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	lo, hi = max(0, mid-half), min(1, mid+half)
	if k == 0 { // the remaining difference is rounding
		lo = 0
	}
	if k == n {
		hi = 1
	}
	return lo, hi, true
}

// normalQuantile returns the p-quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// solve returns the point in [lo, hi] from which above is true, to the last bits; above must be
// monotone.
func solve(lo, hi float64, above func(float64) bool) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if above(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// maxSamples ends a search for a number of samples.
const maxSamples = int64(1) << 40

// Samples returns the smallest number of samples of which `over` may exceed the p-quantile (0 < p <
// 1) and still prove, with the given confidence, that at least p of all are within: the early
// stopping of MLPerf without tolerance. It returns 0 if there is none.
//
//	P(B <= over) <= 1 - confidence,  B binomial(n, 1-p)
func Samples(p, confidence float64, over int64) int64 {
	if !between0And1(p) || !between0And1(confidence) {
		return 0
	}
	return smallestWith(over+1, func(n int64) bool { return binomialCDF(over, n, 1-p) <= 1-confidence })
}

// MaxExceeding returns the number of n samples that may exceed the p-quantile and still prove, with
// the given confidence, that at least p of all are within. ok is false if n is too small even for
// none.
func MaxExceeding(n int64, p, confidence float64) (over int64, ok bool) {
	if n <= 0 || !between0And1(p) || !between0And1(confidence) {
		return 0, false
	}
	k := int64(sort.Search(int(n),
		func(k int) bool { return binomialCDF(int64(k), n, 1-p) > 1-confidence }))
	return k - 1, k > 0
}

// SamplesToDecide returns the total number of samples that would prove that a share observed as k
// of n lies on its side of q, if it stays the same. ok is false if it is too close to q.
func SamplesToDecide(k, n int64, q, confidence float64) (total int64, ok bool) {
	if n <= 0 || k < 0 || k > n || !between0And1(q) || !between0And1(confidence) {
		return 0, false
	}
	share := float64(k) / float64(n)
	total = smallestWith(n, func(m int64) bool {
		if share < q {
			return binomialCDF(int64(math.Ceil(share*float64(m)-1e-9)), m, q) <= 1-confidence
		}
		return BinomialTail(int64(math.Floor(share*float64(m)+1e-9)), m, q) <= 1-confidence
	})
	return total, total > 0
}

// smallestWith returns the first number from `from` on for which enough is true, 0 above
// maxSamples. Between two doublings enough must be monotone, as binomial tails are except for the
// last sample.
func smallestWith(from int64, enough func(int64) bool) int64 {
	lo, hi := from-1, from
	for !enough(hi) {
		if lo, hi = hi, hi*2; hi > maxSamples {
			return 0
		}
	}
	return lo + 1 + int64(sort.Search(int(hi-lo-1), func(i int) bool { return enough(lo + 1 + int64(i)) }))
}
