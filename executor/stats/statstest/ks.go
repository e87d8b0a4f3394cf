// Package statstest tests whether values come from a distribution.
package statstest

import "math"

// KS returns the Kolmogorov-Smirnov distance between sorted values and a continuous distribution
// function: the largest difference between the share of values at or below x and cdf(x). It is NaN
// without values.
func KS(sorted []float64, cdf func(float64) float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	n, largest := float64(len(sorted)), 0.0
	for i, x := range sorted {
		f := cdf(x)
		largest = max(largest, f-float64(i)/n, float64(i+1)/n-f)
	}
	return largest
}

// KSCritical returns the distance that n values drawn from the given distribution exceed with
// probability alpha, by the asymptotic law with Stephens' correction for small n (good from n = 5).
// The distribution must be given, not fitted.
func KSCritical(n int, alpha float64) float64 {
	root := math.Sqrt(float64(n))
	return math.Sqrt(-math.Log(alpha/2)/2) / (root + 0.12 + 0.11/root)
}
