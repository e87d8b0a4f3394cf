package stats

import "math"

// StudentT returns the p-quantile of Student's distribution with df degrees of freedom, which may
// be fractional. It is NaN if p or df is out of range.
func StudentT(p, df float64) float64 {
	switch {
	case !between0And1(p) || !(df > 0):
		return math.NaN()
	case p == 0.5:
		return 0
	case p < 0.5:
		return -StudentT(1-p, df)
	}
	hi := 1.0
	for studentCDF(hi, df) < p && hi < 1e300 {
		hi *= 2
	}
	return solve(0, hi, func(t float64) bool { return studentCDF(t, df) >= p })
}

// studentCDF returns P(T <= t) for t >= 0.
func studentCDF(t, df float64) float64 {
	return 1 - betaRegularised(df/2, 0.5, df/(df+t*t))/2
}

// TwoSided returns the probability that Student's distribution with df degrees of freedom is as far from 0 as
// t, or farther: the p-value of a difference.
func TwoSided(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || !(df > 0):
		return math.NaN()
	case math.IsInf(t, 0):
		return 0
	case math.IsInf(df, 1):
		return math.Erfc(math.Abs(t) / math.Sqrt2)
	}
	return betaRegularised(df/2, 0.5, df/(df+t*t))
}

// MeanBounds returns the two-sided interval of a mean by Student's distribution, from n independent
// values with this mean and standard deviation (divisor n-1). ok is false for fewer than two
// values.
func MeanBounds(mean, std float64, n int64, confidence float64) (lo, hi float64, ok bool) {
	if n < 2 || !between0And1(confidence) {
		return math.Inf(-1), math.Inf(1), false
	}
	half := StudentT((1+confidence)/2, float64(n-1)) * std / math.Sqrt(float64(n))
	return mean - half, mean + half, true
}

// MeanOf returns the mean of independent values, and the interval of MeanBounds.
func MeanOf(values []float64, confidence float64) (mean, lo, hi float64) {
	mean, squares := deviations(values)
	n := len(values)
	lo, hi, _ = MeanBounds(mean, math.Sqrt(squares/float64(n-1)), int64(n), confidence)
	return mean, lo, hi
}

// Jackknife returns the standard error of a statistic and its degrees of freedom, from the values
// of the statistic with one unit of each group left out in turn. Groups must be independent; for
// means the result equals Welch's test. ok is false if a group has fewer than two units, or the
// number of values differs from the number of units.
func Jackknife(values []float64, groups []int) (err, df float64, ok bool) {
	var total, below float64
	for _, n := range groups {
		if n < 2 || n > len(values) {
			return 0, 0, false
		}
		part := values[:n]
		values = values[n:]
		_, squares := deviations(part)
		v := squares * float64(n-1) / float64(n)
		total += v
		below += v * v / float64(n-1)
	}
	if len(groups) == 0 || len(values) != 0 || math.IsNaN(total) || math.IsInf(total, 0) {
		return 0, 0, false
	}
	if total == 0 {
		return 0, math.Inf(1), true
	}
	return math.Sqrt(total), total * total / below, true
}

// deviations returns the mean and the sum of the squared deviations from it.
func deviations(values []float64) (mean, squares float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, squares
}
