package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBoundRanks(t *testing.T) {
	const none = -1
	tests := []struct {
		n        int64
		p        float64
		l, u     int64
		coverage float64
	}{
		{10, 50, 2, 9, .9785},
		{20, 50, 6, 15, .9586},
		{100, 50, 40, 61, .9648},
		{100, 90, 84, 96, .9557},
		{100, 95, 90, 100, .9826},
		{100, 99, 97, none, 0},
		{200, 99, 195, none, 0},
		{368, 99, 360, 368, .9624},
		{500, 99, 490, 500, .9802},
		{1000, 95, 936, 964, .9581},
		{1000, 99, 983, 997, .9761},
		{2000, 99, 1971, 1989, .9578},
		{5000, 99, 4936, 4964, .9537},
		{10000, 99, 9880, 9920, .9558},
		{10000, 99.9, 9983, 9997, .9755},
		{3688, 99.9, 3680, 3688, .9616},
	}
	for _, tt := range tests {
		l, u := boundRanks(tt.n, tt.p/100, 0.95)
		if tt.u == none {
			tt.u = tt.n + 1
		}
		if l != tt.l || u != tt.u {
			t.Errorf("n %d p%v: ranks %d, %d, want %d, %d", tt.n, tt.p, l, u, tt.l, tt.u)
			continue
		}
		covered := binomialCDF(u-1, tt.n, tt.p/100) - binomialCDF(l-1, tt.n, tt.p/100)
		if tt.coverage > 0 && math.Abs(covered-tt.coverage) > 0.00011 {
			t.Errorf("n %d p%v: coverage %.5f, want %.4f", tt.n, tt.p, covered, tt.coverage)
		}
	}
}

// The smallest number of values with an upper bound, two-sided 95 %.
func TestSmallestBounded(t *testing.T) {
	for p, want := range map[float64]int64{50: 6, 90: 36, 95: 72, 99: 368, 99.9: 3688} {
		_, at := boundRanks(want, p/100, 0.95)
		_, below := boundRanks(want-1, p/100, 0.95)
		if at > want || below <= want-1 {
			t.Errorf("p%v: n %d upper rank %d, n %d upper rank %d", p, want, at, want-1, below)
		}
	}
}

// Against the sum of the binomial's terms.
func TestBinomialCDF(t *testing.T) {
	for _, n := range []int64{1, 7, 60, 100} { // .001^100 is still above the smallest float
		for _, q := range []float64{0.01, 0.3, 0.5, 0.95, 0.999} {
			sum, term := 0.0, math.Pow(1-q, float64(n))
			for k := range n {
				sum += term
				if got := binomialCDF(k, n, q); math.Abs(got-sum) > 1e-11 {
					t.Fatalf("P(B<=%d) n %d q %v = %v, want %v", k, n, q, got, sum)
				}
				term *= float64(n-k) / float64(k+1) * q / (1 - q)
			}
		}
	}
}

func TestBoundsOfManyAreNearTheNormal(t *testing.T) {
	const n, q = int64(100_000_000), 0.999
	l, u := boundRanks(n, q, 0.95)
	mean, sd := float64(n)*q, math.Sqrt(float64(n)*q*(1-q))
	for _, r := range []struct{ got, want float64 }{
		{float64(l), mean - 1.959964*sd},
		{float64(u), mean + 1.959964*sd},
	} {
		if math.Abs(r.got-r.want) > 0.02*sd {
			t.Errorf("rank %.0f, want about %.0f", r.got, r.want)
		}
	}
}

// The interval covers the true percentile as often as it says, for a distribution it knows nothing of.
func TestBoundsCover(t *testing.T) {
	const runs, n, mean = 2000, 500, 1e6
	truth := -mean * math.Log(1-0.95)
	r := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range runs {
		var d Dist
		for range n {
			d.Add(int64(r.ExpFloat64() * mean))
		}
		lo, hi, ok := d.Bounds(95, 0.95, 0)
		if ok && float64(lo) <= truth && truth <= float64(hi) {
			covered++
		}
	}
	// Binomial(2000, >= .95): five deviations below the promise are 49.
	if covered < runs*95/100-49 {
		t.Errorf("%d of %d intervals cover the percentile", covered, runs)
	}
}

func TestBoundsWithoutOne(t *testing.T) {
	d := distOf(1, 2, 3)
	lo, hi, ok := d.Bounds(99, 0.95, 0)
	if !ok || hi != math.MaxInt64 || lo != 2 {
		t.Errorf("bounds %d %d %v, want 2 and no upper one", lo, hi, ok)
	}
	for _, bad := range [][2]float64{
		{0, .95},
		{100, .95},
		{50, 0},
		{50, 1},
		{math.NaN(), .95},
		{50, math.NaN()},
	} {
		if _, _, ok := d.Bounds(bad[0], bad[1], 0); ok {
			t.Errorf("Bounds(%v, %v) is ok", bad[0], bad[1])
		}
	}
}
