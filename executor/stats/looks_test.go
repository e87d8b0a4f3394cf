package stats

import (
	"math"
	"testing"
)

func TestLooks(t *testing.T) {
	for _, row := range []struct {
		first, most float64
		want        int
	}{{10, 10, 1}, {10, 15, 2}, {10, 16, 3}, {10, 600, 12}, {20, 10, 1}} {
		if got := LooksWithin(row.first, row.most); got != row.want {
			t.Errorf("from %v to %v s: %d looks, want %d", row.first, row.most, got, row.want)
		}
	}
	if at := NextLook(500, 600); at != 600 {
		t.Errorf("the last look is at %v", at)
	}
	for looks, want := range map[int]float64{12: 0.05, 0: 0.05 * 12 / 13} {
		risk := 0.0
		for k := 1; k <= 12; k++ {
			risk += 1 - LookConfidence(0.95, k, looks)
		}
		if math.Abs(risk-want) > 1e-12 {
			t.Errorf("%d looks have a risk of %v together, want %v", looks, risk, want)
		}
	}
}
