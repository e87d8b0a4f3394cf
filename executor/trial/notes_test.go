package trial

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// TestLostSamples: a request that was sent and left no sample makes the measurement invalid.
func TestLostSamples(t *testing.T) {
	for lost, valid := range map[int64]bool{0: true, 1: false, -1: false} {
		out := &result.Node{Validity: result.Validity{OK: true}}
		if lostSamples(20, 20-lost).addTo(out); out.Validity.OK != valid {
			t.Errorf("%d lost: valid is %v", lost, out.Validity.OK)
		}
	}
}
