package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
)

// TestCauses: one text of each cause is kept, whatever ids and numbers it has, and whichever parts are
// merged first.
func TestCauses(t *testing.T) {
	part := func(notes ...string) *Aggregate {
		a := &Aggregate{}
		for _, note := range notes {
			a.count(&finished{
				ended: 1, Sample: &backends.Sample{Class: backends.Status, Note: []byte(note)},
			})
		}
		return a
	}
	a := part(
		"[request id: 00000000000000000007] no shape [1,2]", "[request id: 00000000000000000008] no shape [3,4]",
		"ValueError: x", "ValueError: y", "ValueError: x",
	)
	a.Merge(part("request fd2bb4e9-8a13-474f failed", "request 0bfe4904-ed79-417b failed", "ValueError: x"))
	a.Merge(part("a", "b", "c", "d"))
	want := []string{"ValueError: x", "ValueError: y", "request fd2bb4e9-8a13-474f failed", "a"}
	if diff := cmp.Diff(want, a.Causes[backends.Status]); diff != "" {
		t.Error(diff)
	}
	if a.Examples[backends.Status] != "[request id: 00000000000000000007] no shape [1,2]" {
		t.Errorf("first: %q", a.Examples[backends.Status])
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"", "", true},
		{"a 1", "a 22", true},
		{"a 1", "a 1 b", false},
		{"a (1)", "a [1]", false},
		{"pod-x7f", "pod-b21", true},
		{"größer 1", "größer 2", true},
	} {
		if sameCause(c.a, c.b) != c.same || sameCause([]byte(c.b), c.a) != c.same {
			t.Errorf("%q, %q: want %v", c.a, c.b, c.same)
		}
	}
}
