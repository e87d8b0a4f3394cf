package stats

import (
	"math"
	"testing"
)

func TestStudentT(t *testing.T) {
	for _, row := range []struct{ p, df, want float64 }{
		{.975, 4, 2.776445},
		{.975, 9, 2.262157},
		{.975, 10, 2.228139},
		{.99, 4, 3.746947},
		{.025, 4, -2.776445},
		{.5, 3, 0},
		{.975, 1, 12.706205},
		{.975, 1e7, 1.959964},
		{.95, 2.5, 2.558219},
	} {
		if got := StudentT(row.p, row.df); math.Abs(got-row.want) > 2e-6 {
			t.Errorf("t(%v, %v) = %.6f, want %.6f", row.p, row.df, got, row.want)
		}
	}
	for _, bad := range [][2]float64{{0, 3}, {1, 3}, {.5, 0}, {math.NaN(), 3}} {
		if !math.IsNaN(StudentT(bad[0], bad[1])) {
			t.Errorf("t(%v) is a number", bad)
		}
	}
}

// means are those of values with one left out in turn.
func means(values []float64, sign, other float64) []float64 {
	var out []float64
	for i := range values {
		sum := 0.0
		for k, v := range values {
			if k != i {
				sum += v
			}
		}
		out = append(out, sign*(sum/float64(len(values)-1))+other)
	}
	return out
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// TestWelch: leaving out one value of two independent groups gives the difference's error and
// degrees of freedom of Welch's test.
func TestWelch(t *testing.T) {
	for _, row := range []struct {
		a, b           []float64
		t, df, plusMin float64
	}{
		{[]float64{100, 102, 98, 101, 99}, []float64{105, 107, 103, 108, 102}, 3.72678, 6.6804, 3.2035},
		{
			[]float64{50.1, 49.8, 50.5, 50.2, 49.9, 50.0},
			[]float64{52.0, 53.5, 51.2, 54.1, 52.7, 50.9},
			4.391615, 5.38294, 1.32753,
		},
	} {
		values := append(means(row.a, -1, mean(row.b)), means(row.b, 1, -mean(row.a))...)
		err, df, ok := Jackknife(values, []int{len(row.a), len(row.b)})
		diff := mean(row.b) - mean(row.a)
		if !ok || math.Abs(diff/err-row.t) > 1e-5 || math.Abs(df-row.df) > 1e-4 {
			t.Errorf("t %.6f df %.5f %v, want %v %v", diff/err, df, ok, row.t, row.df)
		}
		if half := StudentT(.975, df) * err; math.Abs(half-row.plusMin) > 1e-4 {
			t.Errorf("diff ± %.5f, want %.5f", half, row.plusMin)
		}
	}
	for _, bad := range [][]int{{1}, {2, 2}, {}, {4}} {
		if _, _, ok := Jackknife([]float64{1, 2, 3}, bad); ok {
			t.Errorf("groups %v of three values are ok", bad)
		}
	}
	if err, _, ok := Jackknife([]float64{2, 2, 2}, []int{3}); !ok || err != 0 {
		t.Errorf("no spread: %v %v", err, ok)
	}
}

func TestMeanBounds(t *testing.T) {
	lo, hi, ok := MeanBounds(100, math.Sqrt(2.5), 5, .95)
	if half := 2.776445 * math.Sqrt(2.5/5); !ok || math.Abs(hi-100-half) > 1e-5 ||
		math.Abs(100-lo-half) > 1e-5 {
		t.Errorf("%v … %v %v", lo, hi, ok)
	}
	if _, _, ok := MeanBounds(1, 0, 1, .95); ok {
		t.Error("one value bounds a mean")
	}
}

// TestOneSided: one side of the order statistics at 90 % two-sided holds at 95 %, and its upper
// bound exists from as many values on as a percentile needs.
func TestOneSided(t *testing.T) {
	for confidence, row := range map[float64]map[float64]int64{
		.95: {50: 5, 90: 29, 95: 59, 99: 299, 99.9: 2995}, .99: {50: 7, 90: 44, 95: 90, 99: 459, 99.9: 4603},
	} {
		for p, want := range row {
			if got := Samples(p/100, confidence, 0); got != want {
				t.Errorf("p%v at %v needs %d, want %d", p, confidence, got, want)
			}
			_, at := boundRanks(want, p/100, 2*confidence-1)
			_, below := boundRanks(want-1, p/100, 2*confidence-1)
			if at > want || below <= want-1 {
				t.Errorf("p%v at %v: n %d upper rank %d, n %d upper rank %d", p, confidence, want, at,
					want-1, below)
			}
		}
	}
}

// TestTwoSided: the p-value belongs to the quantile.
func TestTwoSided(t *testing.T) {
	for _, df := range []float64{1, 3, 7.5, 100} {
		for _, p := range []float64{0.6, 0.9, 0.975, 0.999} {
			if got, want := TwoSided(StudentT(p, df), df), 2*(1-p); math.Abs(got-want) > 1e-9 {
				t.Errorf("df %v, p %v: %v, want %v", df, p, got, want)
			}
		}
	}
	if got := TwoSided(math.Inf(1), 3); got != 0 {
		t.Errorf("infinitely far: %v", got)
	}
	if got := TwoSided(1.959964, math.Inf(1)); math.Abs(got-0.05) > 1e-6 {
		t.Errorf("normal: %v", got)
	}
}
