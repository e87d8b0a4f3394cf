package stats

import "math"

// lookGrowth is the ratio of the times of two looks at a hold that goes on until it is precise: few
// looks, so that each keeps much of the risk, and at most half as long again as needed.
const lookGrowth = 1.5

// NextLook returns the time of the look after one at t, at most `most`.
func NextLook(t, most float64) float64 { return math.Min(lookGrowth*t, most) }

// LooksWithin returns the number of looks at first, 1.5 first, 2.25 first and so on, of which the last
// is at `most`.
func LooksWithin(first, most float64) (n int) {
	for n = 1; first < most; n++ {
		first = NextLook(first, most)
	}
	return n
}

// LookConfidence returns the confidence of each look (1, 2, …) at a growing hold, so that all of them
// together hold with the confidence given, whenever one stops: the risk in equal shares if the number of
// looks is known, else (looks 0) 1/k(k+1) of it for the k-th look. This is Bonferroni's inequality; the
// looks share requests, so the true risk is smaller.
func LookConfidence(confidence float64, look, looks int) float64 {
	share := 1 / float64(max(1, looks))
	if looks == 0 {
		share = 1 / (float64(look) * float64(look+1))
	}
	return 1 - (1-confidence)*share
}
