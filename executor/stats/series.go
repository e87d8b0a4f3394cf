package stats

import "math"

// series is a statistic by parts: the ratio of two sums, such as errors of requests, or latencies of
// requests, or requests of seconds.
type series struct{ num, den []float64 }

// totals returns both sums, whose ratio is the statistic of all parts.
func (s series) totals() (num, den float64) {
	for i, v := range s.num {
		num += v
		den += s.den[i]
	}
	return num, den
}

// errs returns by how much each part exceeds its share: they sum to 0, and their sum over independent
// runs varies as the numerator of the ratio does about its expectation (the linearised ratio estimator;
// Cochran, Sampling Techniques, 1977, chapter 6).
func (s series) errs() []float64 {
	num, den := s.totals()
	r, list := num/den, make([]float64, len(s.num))
	for i, v := range s.num {
		if e := v - r*s.den[i]; math.Abs(e) > rounding*math.Abs(v) {
			list[i] = e
		}
	}
	return list
}

// rounding is the relative difference of a part from its share that arithmetic alone can make.
const rounding = 1e-12

// drift returns the relative standard deviation of the statistic over the parts.
func (s series) drift() float64 {
	num, den := s.totals()
	squares, parts := 0.0, 0.0
	for i, v := range s.num {
		if s.den[i] > 0 {
			e := v/s.den[i]*den/num - 1
			squares, parts = squares+e*e, parts+1
		}
	}
	return math.Sqrt(squares / parts)
}

// variance estimates the variance of the sum of a stationary sequence from the b slowest cosines of its
// course:
//
//	2/b Σ_{j=1}^{b} (Σ_i e_i cos(π j (i+½)/m))²
//
// the equal-weighted cosine estimator, a multiple of χ² with b degrees of freedom (Lazarus, Lewis, Stock
// and Watson, "HAR Inference: Recommendations for Practice", Journal of Business & Economic Statistics
// 36, 2018). It is to b cosines what batch means are to b+1 batches (Law and Kelton, Simulation
// Modeling and Analysis, chapter 9), without a remainder where the number of parts has no such divisor.
func variance(e []float64, b int) (v float64) {
	m := len(e)
	step, last, now := make([]float64, m), make([]float64, m), make([]float64, m)
	for i := range e {
		step[i] = math.Cos(math.Pi * (float64(i) + 0.5) / float64(m))
		last[i], now[i] = 1, step[i]
	}
	for range b {
		c := 0.0
		for i, x := range e {
			c += x * now[i]
			last[i], now[i] = now[i], 2*step[i]*now[i]-last[i] // of the next multiple of the angle
		}
		v += 2 * c * c / float64(b)
	}
	return v
}

// skewness returns that of the sum of e, from its sums over 20 groups of neighbours.
func skewness(e []float64) float64 {
	groups := min(20, len(e))
	var squares, cubes float64
	for g := range groups {
		sum := 0.0
		for _, x := range e[g*len(e)/groups : (g+1)*len(e)/groups] {
			sum += x
		}
		squares += sum * sum
		cubes += sum * sum * sum
	}
	if squares == 0 {
		return 0
	}
	return cubes / math.Pow(squares, 1.5)
}

// blocks estimates how many times hold is as long as requests depend on each other: the number of
// independent observations that a mean over hold amounts to. It takes the correlation of neighbouring
// parts for that of averages over a process whose correlation decays exponentially,
//
//	(1 - e⁻ˣ)² / 2(x - 1 + e⁻ˣ)
//
// where x is the length of a part in time constants; the estimate of the correlation is corrected for
// its bias (Marriott and Pope, Biometrika 41, 1954). It is infinite if neighbours do not depend on each
// other.
func blocks(e []float64) float64 {
	m := float64(len(e))
	var squares, products float64
	for i, x := range e {
		squares += x * x
		if i > 0 {
			products += x * e[i-1]
		}
	}
	if squares == 0 {
		return math.Inf(1)
	}
	r := products / squares
	r += (1 + 4*r) / m
	if r <= 0.02 {
		return math.Inf(1)
	}
	x := solve(1e-3, 60, func(x float64) bool { return averaged(x) <= r })
	return m * x / 2
}

func averaged(x float64) float64 {
	e := -math.Expm1(-x)
	return e * e / (2 * (x - e))
}
