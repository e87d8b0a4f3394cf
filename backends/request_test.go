package backends

import (
	"math"
	"testing"
)

// TestShare: a share is exact within two requests, over any stretch and for each row of data with
// any period.
func TestShare(t *testing.T) {
	for _, ratio := range []float64{1e-3, 0.01, 0.1, 0.5, 0.9, 1, 2} {
		s := ShareOf(ratio)
		if !s.Has(0) {
			t.Errorf("%v leaves the first out", ratio)
		}
		for _, period := range []uint64{1, 2, 3, 7, 10, 16, 1000} {
			const n = 20000
			count := 0.0
			for i := range uint64(n) {
				if s.Has(i * period) {
					count++
				}
			}
			if want := min(ratio, 1) * n; math.Abs(count-want) > 20 {
				t.Errorf("every %d-th: %v of %d, want %v", period, count, n, want)
			}
		}
	}
}
