package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOrderLeavesSchedules: a stage's draws come from its id and point alone, wherever it stands in
// the plan.
func TestOrderLeavesSchedules(t *testing.T) {
	t.Parallel()
	const a = "  - {id: a, load: {rate: 400/s, arrivals: poisson}, for: 20 requests}\n"
	const b = "  - {id: b, matrix: {p: [1, 2]}, parameters: {p: \"${matrix.p}\"}, load: {rate: 300/s, " +
		"arrivals: poisson}, for: 20 requests}\n"
	const c = "  - {id: c, load: {rate: 200/s, arrivals: poisson}, for: 10 requests}\n"
	hashes := func(stages string) map[string]string {
		w := watch(t, fourInts)
		r := play(t,
			"version: 1\nseed: 5\ntarget: {backend: kserve, url: URL, model: m, ready: 0s}\nstages:\n"+stages, w.URL,
			Env{})
		all := map[string]string{}
		for _, n := range r.Nodes {
			all[n.ID] = n.Load.ScheduleHash
		}
		return all
	}
	first, second := hashes(a+b), hashes(c+b+a)
	delete(second, "c")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("schedules (-before +after the order changed):\n%s", diff)
	}
	if first["a"] == "" || first["b[p=1]"] == "" || first["b[p=1]"] == first["b[p=2]"] {
		t.Errorf("stages and points do not draw for themselves: %v", first)
	}
}
