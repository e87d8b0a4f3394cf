package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestOnly: the named stages are left with those whose results they use, and nothing else.
func TestOnly(t *testing.T) {
	const text = `version: 1
target: {backend: kserve, url: "builtin://http", model: simple}
stages:
  - {id: first, load: {concurrency: 1}, for: 10 requests}
  - {id: sweep, load: {concurrency: [1, 2]}, for: 10 requests}
  - id: find
    load: {rate: {search: {from: 10/s, to: 200/s, while: latency.p99 < 1s}}}
    for: 1s
  - {id: hold, load: {rate: '${0.8 * stage("find").capacity}'}, for: 1s, assert: ['latency.p50 < 2 * stage("sweep[concurrency=2]").latency.p50', errors.count == 0]}
  - {id: why, needs: [hold], when: failure, load: {concurrency: 1}, for: 10 requests}
  - {id: soak, needs: [], when: never, load: {concurrency: 1}, for: 10 requests}
assert:
  - stage("first").latency.p50 < 1s
  - stage("find").requests.count > 0 and stage("first").latency.p50 < 1s
`
	for _, row := range []struct{ only, want, assert, err string }{
		{"first", "first", "plan/1", ""},
		{"find", "find", "", ""},
		{"find first", "first find", "plan/1 plan/2", ""},
		{"sweep", "sweep", "", ""},
		{"hold", "sweep find hold", "", ""},
		{"hold why", "sweep find hold why", "", ""},
		{"why", "why", "", ""},
		{"soak", "soak", "", ""},
		{"firts", "", "", `there is no stage "firts"; did you mean "first"?`},
		{"zzzzzzz", "", "", `there is no stage "zzzzzzz", only first, sweep, find, hold, why, soak`},
	} {
		plan, diags := scenario.Parse("p", []byte(text), scenario.Overrides{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		err := Only(plan, all.Kinds(), strings.Fields(row.only))
		if row.err != "" {
			if err == nil || err.Error() != row.err {
				t.Errorf("%s: %v", row.only, err)
			}
			continue
		}
		var stages, assert []string
		for _, s := range plan.Stages {
			stages = append(stages, s.ID)
		}
		for _, a := range plan.Assert {
			assert = append(assert, a.ID)
		}
		if got := strings.Join(stages, " "); err != nil || got != row.want ||
			strings.Join(assert, " ") != row.assert {
			t.Errorf("--only %s: %s, assertions %v, %v", row.only, got, assert, err)
		}
		program, diags := Compile(plan, all.Kinds())
		if diags.HasErrors() || len(program.Nodes) == 0 {
			t.Errorf("--only %s: %v", row.only, diags)
		}
		if last := plan.Overlays[len(plan.Overlays)-1]; last != "--only "+strings.ReplaceAll(row.only, " ", ", ") {
			t.Errorf("--only %s: the result would say %s", row.only, last)
		}
	}
}

// TestOnlyMissing: a target whose backend this build lacks does not keep stages from running that have others.
func TestOnlyMissing(t *testing.T) {
	const text = `version: 1
targets:
  a: {backend: kserve, url: "builtin://http", model: simple}
  b: {backend: openai, url: "http://h:1", model: m}
datasets:
  rows: {generate: random}
  texts: {prompts: {count: 3}}
stages:
  - {id: points, target: a, data: rows, matrix: {n: [1, 2]}, batch: "${matrix.n}", load: {concurrency: 1}, for: 10 requests}
  - {id: shared, target: a, data: rows, load: {concurrency: 1}, for: 10 requests}
  - {id: chat, target: b, data: texts, load: {concurrency: 1}, for: 10 requests}
  - parallel:
      - {id: left, target: a, data: rows, load: {concurrency: 1}, for: 10 requests}
      - {id: right, target: a, data: rows, load: {concurrency: 1}, for: 10 requests}
`
	kinds := all.Kinds()
	for i := range kinds {
		if kinds[i].Name == "openai" {
			kinds[i].Open = nil
		}
	}
	for only, want := range map[string]string{
		"points": "", "left": "", "points left": "", "shared": "", "right": "", "chat": "4:7", "shared chat": "4:7",
	} {
		plan, diags := scenario.Parse("p", []byte(text), scenario.Overrides{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if err := Only(plan, kinds, strings.Fields(only)); err != nil {
			t.Fatal(err)
		}
		program, _ := Compile(plan, kinds)
		var got []string
		for _, d := range program.Missing {
			got = append(got, fmt.Sprintf("%d:%d", d.Pos.Line, d.Pos.Column))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("--only %s: cannot run %v, want %s", only, program.Missing, want)
		}
	}
}
