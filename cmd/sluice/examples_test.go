package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
)

// TestExamplesRun plays the examples of the plan language that need neither a feature of Triton nor
// a language model. A plan that extends each puts the embedded server in the place of its target,
// makes extents short and limits wide. The expected outcomes are in testdata/outline.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	const (
		server = `{url: "builtin://grpc", model: slow, builtin: {service_time: 2ms, instances: 4}}`
		target = "target: " + server + "\n"
	)
	type played struct {
		over string
		args []string
	}
	examples := map[string]played{
		"canary": {over: `
targets: {stable: ` + server + `, canary: ` + server + `}
stages: [{id: ab, for: 400ms}]
assert:
  - {that: 'stage("ab[side=canary]").latency.p50 <= 100 * stage("ab[side=stable]").latency.p50', confidence: 95%}
`},
		"capacity-then-hold": {over: target + `
stages:
  - {id: find, load: {rate: {search: {to: 40/s, while: [latency.p50 < 1s, errors.ratio < 0.1%]}}}, for: 500ms}
  - {id: hold, for: 1s, assert: [latency.p50 < 1s]}
`},
		"diagnostics": {over: target + `
stages: [{id: gate, for: 500ms, assert: [latency.p50 < 1ms]}, {id: sweep, for: 200ms}]
`},
		// No model of the embedded server has these inputs: the generators stay, under the names of
		// one that it has.
		"generators": {over: `
target: {url: "builtin://grpc", model: simple}
profiles:
  here:
    data: {generate: {input_ids: null, attention_mask: null, request_output_len: null, text: null, INPUT0: {min: 0, max: 30521}, INPUT1: 1}}
    stages: {s: {shapes: {input_ids: null, attention_mask: null, INPUT0: [16], INPUT1: [16]}, for: 40 requests}}
`, args: []string{"--profile", "here"}},
		"models-in-parallel": {over: `
targets: {a: ` + server + `, b: ` + server + `}
stages:
  - {id: a, until: {stable: {window: 300ms, within: 300%}}}
  - {id: b, until: {stable: {window: 300ms, within: 300%}}}
`},
		"pa-binary-search": {over: target + `
stages: [{id: find, load: {rate: {search: {to: 200/s, while: latency.mean < 1s}}}, for: 500ms, assert: [capacity >= 100/s]}]
`},
		"pa-concurrency-range": {over: target + `
stages: [{id: sweep, until: {stable: {window: 60 requests, within: 300%}}}]
`},
		"quick-start": {over: `
stages: [{id: s, for: 100 requests, assert: [errors.ratio < 20%]}]
`},
		"ramp-then-hold": {over: target + `
stages: [{id: s, load: {concurrency: {ramp: [{to: 64, over: 500ms}]}}, for: 1s}]
`},
		"regression-gate": {over: target + `
stages: [{id: steady, repeat: 2, for: 400ms}]
`},
		"smoke": {over: target},
		"spike": {over: target + `
stages:
  - id: spike
    load:
      rate:
        ramp:
          - {to: 50/s, over: 300ms, hold: 500ms, name: base}
          - {to: 200/s, hold: 300ms, name: spike}
          - {to: 50/s, hold: 2s, name: recover}
    assert:
      - phase("base").latency.p50 < 500ms
      - phase("spike").errors.ratio < 5%
      - {that: 'phase("recover").latency.p50 < 500ms', within: 1s}
`},
		"three-environments": {over: `
target: {model: slow}
stages: [{id: steady, load: {rate: 400/s}, for: 320 requests}]
`, args: []string{"--profile", "dev", "--var", "url=builtin://grpc", "--var", "limit=5s"}},
	}
	for _, name := range cases.Some(slices.Sorted(maps.Keys(examples)), 3) {
		c := examples[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			from := filepath.Join("..", "..", "testdata", "plans", "valid")
			for _, file := range []string{"example-" + name + ".yaml", "ca.pem"} {
				data, err := os.ReadFile(filepath.Join(from, file))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			plan := filepath.Join(dir, "plan.yaml")
			if err := os.WriteFile(plan, []byte("version: 1\nextends: example-"+name+".yaml\n"+c.over),
				0o600); err != nil {
				t.Fatal(err)
			}
			comesTo(t, "example-"+name, plan, c.args...)
		})
	}
}
