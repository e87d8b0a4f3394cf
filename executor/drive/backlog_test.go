package drive

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

func TestBacklogCountBefore(t *testing.T) {
	var b backlog
	for i, due := range []int64{1, 2, 2, 3} {
		h := waitingArrival{arrival: arrival{due: due}}
		h.turn.Call = &backends.Call{Entry: uint16(i % 2)}
		b.push(h)
	}
	for _, c := range []struct {
		due  int64
		want [3]int64 // of all, of entry 0, of entry 1
	}{{1, [3]int64{}}, {2, [3]int64{1, 1, 0}}, {3, [3]int64{3, 2, 1}}, {4, [3]int64{4, 2, 2}}} {
		for entry := -1; entry < 2; entry++ {
			if got := b.countBefore(c.due, entry); got != c.want[entry+1] {
				t.Errorf("before %d, entry %d: %d, want %v", c.due, entry, got, c.want)
			}
		}
	}
}

// BenchmarkBacklogCountBefore shows how long the pacer waits for the count of a full backlog.
func BenchmarkBacklogCountBefore(b *testing.B) {
	var l backlog
	for i := range maxBacklog {
		l.push(waitingArrival{arrival: arrival{due: int64(i)}})
	}
	for b.Loop() {
		l.countBefore(maxBacklog, -1)
	}
}
