package stats

// KS is the Kolmogorov-Smirnov distance between sorted values and a distribution function.
func KS(sorted []float64, cdf func(float64) float64) float64 { return 0 }

// KSCritical is the distance that a sample of n values of the right distribution exceeds with probability alpha.
func KSCritical(n int, alpha float64) float64 { return 0 }
