package feed

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// TestCancelShare: the share of an entry's requests is exact, whichever requests they are, and the seed draws them.
func TestCancelShare(t *testing.T) {
	for _, ratio := range []float64{0.2, 0.1, 0.37, 1, 0.003, 0.999} {
		drawn := map[string]bool{}
		for seed := range uint64(3) {
			calls := []*backends.Call{{Entry: 0}, {Entry: 1}}
			src := Cancel(NewCalls(calls, Sequential, false, 1, 0), []CancelShare{{}, {Ratio: ratio, After: 5}}, seed)
			var turn Turn
			closed, which := 0, ""
			for n := range uint64(2000) {
				turn.CancelAfter = 9
				if !src.Next(0, n, &turn) {
					t.Fatal("the calls end")
				}
				switch {
				case turn.CancelAfter == 0:
				case turn.CancelAfter != 5 || turn.Call.Entry != 1:
					t.Fatalf("request %d of entry %d is closed after %d ns", n, turn.Call.Entry, turn.CancelAfter)
				default:
					closed++
					which += string(rune(n))
				}
				if of := float64(n/2) + float64(n%2); float64(closed) > of*ratio+1 || float64(closed) < of*ratio-1 {
					t.Fatalf("%v: %d of %v are closed", ratio, closed, of)
				}
			}
			if float64(closed) != ratio*1000 {
				t.Errorf("%v: %d of 1000 are closed", ratio, closed)
			}
			drawn[which] = true
		}
		if ratio < 0.5 && len(drawn) != 3 {
			t.Errorf("%v: %d draws of three seeds", ratio, len(drawn))
		}
	}
}
