package stats

// Bounds is the confidence interval of the p-th percentile by order statistics, two-sided: with the given confidence
// (0.95) the true percentile is in [lo, hi]. Where too few values bound it, lo is math.MinInt64 or hi math.MaxInt64.
// It is false when there are no values, or p or confidence is out of range.
func (d *Dist) Bounds(p, confidence float64) (lo, hi int64, ok bool) {
	return 0, 0, false
}
