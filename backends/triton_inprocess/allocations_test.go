//go:build inprocess && !race

package inprocess

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// TestAllocations: what is sent and received makes no garbage of ours. What remains is that of the
// callbacks, four a request, which purego makes by reflection. (Under the race detector its pools
// forget.)
func TestAllocations(t *testing.T) {
	const callbacks = 9
	s := ready(t)
	l := connect(t, s.target(t, "now; last"))
	call, sample := l.prepare(ask()), &backends.Sample{}
	n := testing.AllocsPerRun(2000, func() {
		l.gen++
		sample.Reset()
		sample.Gen = l.gen
		l.lane.Send(0, call, backends.Fields{ID: uint64(l.gen)}, sample)
		l.finish(func() {})
	})
	if n > callbacks {
		t.Errorf("%.0f allocations a request, the callbacks make %d", n, callbacks)
	}
	l.close()
}
