package measure

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
)

// TestMismatches: the first replies that differ are kept with their rows, the same whichever parts
// are merged first.
func TestMismatches(t *testing.T) {
	part := func(from, to uint32) *Aggregate {
		a := &Aggregate{}
		for i := from; i < to; i++ {
			a.count(&finished{ended: 1, Sample: &backends.Sample{
				Class: backends.Mismatch, Row: i, Items: 1 + i%2,
				Note: fmt.Appendf(nil, "output o[%d] is 1, want 2", i),
			}})
		}
		return a
	}
	left, right, rest := part(0, 1), part(0, 1), part(3, 9)
	left.Merge(part(1, 3))
	left.Merge(part(3, 9))
	middle := part(1, 3)
	middle.Merge(rest)
	right.Merge(middle)
	want := []string{
		"batch 1: output o[1] is 1, want 2", "row 2: output o[2] is 1, want 2",
		"batch 3: output o[3] is 1, want 2", "row 4: output o[4] is 1, want 2",
	}
	for name, a := range map[string]*Aggregate{"from the left": left, "from the right": right} {
		if a.Examples[backends.Mismatch] != "row 0: output o[0] is 1, want 2" ||
			!cmp.Equal(want, a.Mismatches) {
			t.Errorf("%s: %q, %q", name, a.Examples[backends.Mismatch], a.Mismatches)
		}
	}
	for _, a := range []*Aggregate{left, part(0, 1)} { // once more: nothing is kept twice
		before := len(a.Mismatches)
		for range 3 {
			a.Merge(part(0, 1))
			a.count(&finished{ended: 1, Sample: &backends.Sample{
				Class: backends.Mismatch, Row: 0, Items: 1,
				Note: []byte("output o[0] is 1, want 2"),
			}})
		}
		if len(a.Mismatches) != before {
			t.Errorf("one text is kept again: %q", a.Mismatches)
		}
	}
	if len(rest.Mismatches) != moreMismatches {
		t.Errorf("merging changed its argument: %q", rest.Mismatches)
	}
}
