package statstest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func uniform(x float64) float64 { return min(max(x, 0), 1) }

func TestKSDistance(t *testing.T) {
	tests := []struct {
		name   string
		sorted []float64
		want   float64
	}{
		{"one value in the middle", []float64{0.5}, 0.5},
		{"quarters", []float64{0.125, 0.375, 0.625, 0.875}, 0.125},
		{"all to the left", []float64{0, 0, 0, 0}, 1},
		{"gap below the first", []float64{0.6, 0.7, 0.8}, 0.6},
	}
	for _, tt := range tests {
		if got := KS(tt.sorted, uniform); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if !math.IsNaN(KS(nil, uniform)) {
		t.Error("a distance of nothing")
	}
}

// Known: n = 10 at 1 % is 0.48893 (exact tables), n = 40 is 0.2521; for many values 1.6276/√n.
func TestKSCritical(t *testing.T) {
	for n, want := range map[int]float64{10: 0.48893, 40: 0.25205, 1_000_000: 1.6276e-3} {
		if got := KSCritical(n, 0.01); math.Abs(got-want) > 0.005*want {
			t.Errorf("n %d: %v, want %v", n, got, want)
		}
	}
}

// Alpha is how often a right sample is refused, and a wrong one is found.
func TestKSRefusesAsOftenAsItSays(t *testing.T) {
	const runs, n = 2000, 200
	r := rand.New(rand.NewPCG(3, 4))
	right, wrong := 0, 0
	values := make([]float64, n)
	for range runs {
		for i := range values {
			values[i] = r.ExpFloat64()
		}
		slices.Sort(values)
		if KS(values, func(x float64) float64 { return 1 - math.Exp(-x) }) > KSCritical(n, 0.01) {
			right++
		}
		if KS(values, func(x float64) float64 { return 1 - math.Exp(-1.5*x) }) > KSCritical(n, 0.01) {
			wrong++
		}
	}
	if right > 20+5*5 { // mean 20, five deviations of 4.4
		t.Errorf("%d of %d right samples refused at 1 %%", right, runs)
	}
	if wrong < runs*9/10 {
		t.Errorf("only %d of %d wrong samples refused", wrong, runs)
	}
}
