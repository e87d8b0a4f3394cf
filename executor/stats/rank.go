package stats

import (
	"math"
	"math/bits"
	"slices"
)

// percentScale turns a percentage into an integer number of 10⁻⁹ percent, so that ranks are
// computed without rounding: in floating point 99.9·1000/100 is above 999 and would give rank
// 1,000.
const percentScale = 1_000_000_000

// rank returns ⌈p·n/100⌉, at least 1 and at most n.
func rank(p float64, n int64) int64 {
	scaled := uint64(math.Round(min(max(p, 0), 100) * percentScale))
	hi, lo := bits.Mul64(scaled, uint64(n))
	lo, carry := bits.Add64(lo, 100*percentScale-1, 0)
	q, _ := bits.Div64(hi+carry, lo, 100*percentScale)
	return max(1, int64(q))
}

// Rank returns the p-th percentile, 0 < p <= 100, by nearest rank. ok is false without values or if
// p is out of range. Rank(100) is the exact max; in the histogram form the first rank is the exact
// min and the others are the upper end of their bucket, at most max.
func (d *Dist) Rank(p float64) (int64, bool) {
	if d.n == 0 || !(p > 0 && p <= 100) {
		return 0, false
	}
	return d.unpacked().at(rank(p, d.n)), true
}

// at returns the r-th smallest value, 1 <= r <= n.
func (d *Dist) at(r int64) int64 {
	if !d.isHDR() {
		d.sort()
		return d.exact[r-1]
	}
	switch {
	case r == 1 || r <= d.under:
		return d.min
	case r == d.n || r > d.n-d.over:
		return d.max
	}
	inside := d.h.TotalCount()
	// The library takes int(percent/100·total + 0.5) as rank: aim between two ranks, where its
	// rounding cannot matter.
	v := d.h.ValueAtPercentile((float64(r-d.under) - 0.25) / float64(inside) * 100)
	return min(max(v, d.min), d.max)
}

func (d *Dist) sort() {
	if !d.sorted {
		slices.Sort(d.exact)
		d.sorted = true
	}
}

// Above counts the values larger than v. In the histogram form a value counts as its bucket's upper
// end, as in Rank: Above(v) <= n-r exactly if the r-th value is at most v.
func (d *Dist) Above(v int64) int64 {
	if d.n == 0 || v >= d.max {
		return 0
	}
	if v < d.min {
		return d.n
	}
	d = d.unpacked()
	// Bisect for the first rank whose value exceeds v: at is monotone.
	low, high := int64(1), d.n // at(low) <= v < at(high)
	for high-low > 1 {
		if mid := low + (high-low)/2; d.at(mid) > v {
			high = mid
		} else {
			low = mid
		}
	}
	return d.n - high + 1
}

// Exceeding counts the values that are larger than a limit or, with equal, as large. A limit within 0.001 of
// an integer is that integer: the rest is the rounding error of 0.0312 × 10⁹.
func (d *Dist) Exceeding(limit float64, equal bool) int64 {
	whole := math.Round(limit)
	if math.Abs(limit-whole) > 1e-3 {
		whole, equal = math.Floor(limit), false
	}
	if equal {
		whole--
	}
	switch {
	case whole >= math.MaxInt64:
		return 0
	case whole <= math.MinInt64 || math.IsNaN(whole):
		return d.N()
	}
	return d.Above(int64(whole))
}

// MinSamples returns the number of values that a percentile needs so that one of them exceeds it
// with 95 % confidence: ⌈ln 0.05 / ln(p/100)⌉, at least 1.
func MinSamples(p float64) int64 {
	if !between0And1(p / 100) {
		return 1
	}
	return max(1, int64(math.Ceil(math.Log(0.05)/math.Log(p/100))))
}
