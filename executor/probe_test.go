package executor

import (
	"fmt"
	"testing"
)

// TestProbes: a real request goes to each model before the clock starts, once in a run, unless the
// plan says otherwise; it is counted at the stage that sends to the model first, and takes no
// sequence's id.
func TestProbes(t *testing.T) {
	for name, c := range map[string]struct {
		target, stages string
		sent           int   // over all
		probes         []int // by node
		health         bool  // the health endpoints are asked
	}{
		"default": {
			"",
			"[{id: a, load: {concurrency: 1}, for: 5 requests}, {id: b, load: {concurrency: 1}, for: 5 requests}]",
			11,
			[]int{1, 0},
			true,
		},
		"levels": {"", "[{id: a, load: {concurrency: [1, 2]}, for: 5 requests}]", 11, []int{1, 0}, true},
		"a mix": {
			"", "[{id: a, load: {concurrency: 1}, for: 6 requests, mix: {x: {model: m}, y: {model: n}}}]", 8,
			[]int{2},
			true,
		},
		"another model": {
			"",
			"[{id: a, load: {concurrency: 1}, for: 5 requests}, {id: b, model: n, load: {concurrency: 1}, for: 5 " +
				"requests}]",
			12,
			[]int{1, 1},
			true,
		},
		"after `before`": {
			"", "[{id: a, before: [{call: GET /v2}], load: {concurrency: 1}, for: 5 requests}]", 6, []int{1}, true,
		},
		"none": {
			", probe: false",
			"[{id: a, load: {concurrency: 1}, for: 5 requests}, {id: b, model: n, load: {concurrency: 1}, for: 5 " +
				"requests}]",
			10,
			[]int{0, 0},
			true,
		},
		"nothing asked": {", ready: 0s", "[{id: a, load: {concurrency: 1}, for: 5 requests}]", 5, []int{0}, false},
		"sequences": {
			"", "[{id: a, load: {concurrency: 1}, for: 3 sequences, sequences: {length: 2, ids: {from: 7, to: 9}}}]",
			7,
			[]int{1},
			true,
		},
	} {
		for _, over := range []string{"http", "grpc"} {
			if over == "grpc" && name == "after `before`" {
				continue // calls are HTTP's
			}
			t.Run(name+"/"+over, func(t *testing.T) {
				t.Parallel()
				w := watch(t, func(w *witness) { w.dim = 4 })
				r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: m%s}
stages: %s
`, c.target, c.stages), w.url(over), Env{})
				if got := len(w.all()); got != c.sent {
					t.Errorf("%d requests came, want %d", got, c.sent)
				}
				for i, n := range r.Nodes {
					if n.Probes != c.probes[i] {
						t.Errorf("%s: %d probes, want %d", n.ID, n.Probes, c.probes[i])
					}
				}
				w.mu.Lock()
				asked := w.paths["/v2/health/live"]+w.paths["ServerLive"] > 0
				w.mu.Unlock()
				if asked != c.health {
					t.Errorf("health was asked: %v", asked)
				}
				if name != "sequences" {
					return
				}
				var ids []any
				for _, q := range w.all()[1:] { // the first is the probe
					if q.params["sequence_start"] == true {
						ids = append(ids, q.params["sequence_id"])
					}
				}
				if fmt.Sprint(ids) != "[7 8 9]" {
					t.Errorf("sequences %v, want 7 8 9", ids)
				}
			})
		}
	}
}
