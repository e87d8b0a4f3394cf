package measure

import (
	"math"
	"testing"
)

// The cases of perf_analyzer's own tests, and what it leaves out.
func TestStable(t *testing.T) {
	none := math.NaN()
	tests := []struct {
		name         string
		ips, latency []float64
		need         int
		within       float64
		want         bool
	}{
		{"34", []float64{1, 1000, 500}, []float64{1, 1, 1}, 3, 0.1, false},
		{"35", []float64{500, 520, 510}, []float64{1, 1, 1}, 3, 0.1, true},
		{"36", []float64{500, 520, 510}, []float64{100, 106, 112}, 3, 0.1, false},
		{"36 without latency", []float64{500, 520, 510}, nil, 3, 0.1, true},
		{"37", []float64{500, 520, 510}, []float64{100, 104, 108}, 3, 0.1, true},
		{"38", []float64{1, 1000, 500, 1500, 500, 520, 510}, []float64{1, 1, 1, 1, 1, 1, 1}, 3, 0.1, true},
		{"39 stable", []float64{500, 520, 510, 505, 515}, []float64{100, 104, 108, 102, 106}, 5, 0.1, true},
		{
			"39 unstable",
			[]float64{1, 1000, 510, 505, 515},
			[]float64{100, 104, 108, 102, 106},
			5, 0.1, false,
		},
		{"40", []float64{500, 1000, 1, 505, 515}, []float64{100, 104, 108, 102, 106}, 2, 0.1, true},
		{"41", []float64{500, 0, 510}, []float64{1, 1, 1}, 3, 0.1, false},
		{"no data in a window", []float64{500, none, 500}, []float64{1, 1, 1}, 3, 0.1, false},
		{"no data long ago", []float64{none, 500, 500, 500}, []float64{none, 1, 1, 1}, 3, 0.1, true},
		{"nothing ever", []float64{0, 0, 0}, []float64{none, none, none}, 3, 0.1, false},
		{"at the limit", []float64{100, 110, 105}, []float64{0.1, 0.11, 0.1}, 3, 0.1, true},
		{"just over the limit", []float64{100, 110.001, 105}, []float64{1, 1, 1}, 3, 0.1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := latest(tt.ips, tt.need).Within(tt.within)
			if tt.latency != nil {
				got = got && latest(tt.latency, tt.need).Within(tt.within)
			}
			if got != tt.want {
				t.Errorf("stable = %v, want %v", got, tt.want)
			}
		})
	}
	if !SpreadOf([]float64{0, 0, 0}, false).Within(0.1) {
		t.Error("an error ratio that stays zero is not stable")
	}
	if SpreadOf([]float64{0, 0.01, 0}, false).Within(0.1) {
		t.Error("an error ratio that leaves zero is stable")
	}
}

// latest returns the spread of the last n values, of which 0 is no data.
func latest(values []float64, n int) Spread { return SpreadOf(values[len(values)-n:], true) }

// Cases of perf_analyzer's own tests.
func TestStableOnTwoMetrics(t *testing.T) {
	tests := []struct {
		name    string
		ips     []float64
		latency []float64
		stable  bool
	}{
		{"42 inside", []float64{1, 1, 1}, []float64{1e5, 1e5, 1e5}, true},
		{"43 unstable", []float64{1, 1000, 500}, []float64{1, 1, 1}, false},
		{"43 stable", []float64{500, 520, 510}, []float64{1e5, 1e5, 1e5}, true},
		{"latency unstable", []float64{500, 520, 510}, []float64{2e6, 1e5, 2e6}, false},
		{"no data", []float64{500, 520, 510}, []float64{2e6, math.NaN(), 2e6}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stable := latest(tt.ips, 3).Within(0.1) && latest(tt.latency, 3).Within(0.1)
			if stable != tt.stable {
				t.Errorf("stable = %v, want %v", stable, tt.stable)
			}
		})
	}
}
