package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
)

func TestSlices(t *testing.T) {
	open := int64(3)
	n := newNode(t, Config{Slice: 100 * ms, InFlight: func() int64 { return open }})
	n.end = n.start + 250*ms
	n.done(0, 10)
	n.done(10, 40, func(s *backends.Sample) { s.Items = 4 })
	n.done(90, 120)
	n.at(99)
	open = 7
	n.done(110, 130, failed(backends.ResetByPeer, ""))
	n.done(-10, 140, warm)
	n.at(199)
	n.done(240, 400) // ends after hold: sent, but in no slice's completions
	n.at(240)
	total := n.Finish(n.start + 500*ms)
	want := []Slice{
		{
			From: 0, To: 100 * ms, Sent: 3, OK: 2, Items: 5, InFlight: 3, N: 2, P50: 10 * ms, P99: 30 * ms,
			Max: 30 * ms,
		},
		{
			From: 100 * ms, To: 200 * ms, Sent: 1, OK: 2, Failed: 1, Items: 2, InFlight: 7, N: 2,
			P50: 30 * ms, P99: 150 * ms, Max: 150 * ms,
		},
		{From: 200 * ms, To: 250 * ms, Sent: 1, InFlight: 7},
	}
	if diff := cmp.Diff(want, total.Slices); diff != "" {
		t.Error(diff)
	}
}

// A silent stretch, a straggler folded late, and a slice longer ago than that.
func TestSlicesGapsAndStragglers(t *testing.T) {
	s := &slicer{start: 0, width: 10}
	add := func(due, end int64) { s.completed(&backends.Sample{Due: due}, end) }
	add(0, 5)
	add(68, 75) // slices 1 to 6 are silent
	add(60, 66) // one slice back: still counts into its percentiles
	add(0, 9)   // seven back: counted, no percentile moves
	got := s.finish(80)
	want := make([]Slice, 8)
	for i := range want {
		want[i] = Slice{From: int64(i) * 10, To: int64(i+1) * 10}
	}
	want[0].OK, want[0].N, want[0].P50, want[0].P99, want[0].Max = 2, 2, 5, 5, 9
	want[6].OK, want[6].N, want[6].P50, want[6].P99, want[6].Max = 1, 1, 6, 6, 6
	want[7].OK, want[7].N, want[7].P50, want[7].P99, want[7].Max = 1, 1, 7, 7, 7
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A run of four hours has at most 3,600 slices, and loses no request of them.
func TestSlicesCoarsen(t *testing.T) {
	const second, hours = int64(1e9), 4 * 3600
	s := &slicer{start: 0, width: second}
	for i := range int64(hours) {
		s.sent(i * second)
		s.completed(&backends.Sample{Due: i * second, Items: 2}, i*second+1+i%100)
	}
	got := s.finish(hours * second)
	if len(got) != 3600 || s.width != 4*second {
		t.Fatalf("%d slices of %d ns", len(got), s.width)
	}
	var sent, ok, items int64
	for i, x := range got {
		if x.From != int64(i)*s.width || x.To != int64(i+1)*s.width || x.N != 4 || x.P50 == 0 ||
			x.P99 < x.P50 || x.Max < x.P99 {
			t.Fatalf("slice %d: %+v", i, x)
		}
		sent, ok, items = sent+x.Sent, ok+x.OK, items+x.Items
	}
	if sent != hours || ok != hours || items != 2*hours {
		t.Errorf("sent %d, ok %d, items %d of %d", sent, ok, items, hours)
	}
}
