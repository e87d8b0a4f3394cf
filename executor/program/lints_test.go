package program

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// lintCodes are the warnings about plans that are valid and hardly meant.
var lintCodes = []string{
	"unused-entry", "few-samples", "never-precise", "never-proven", "never-reached-concurrency", "few-requests", "ramp-cut", "no-drain",
	"unseen-rest", "max-in-flight-too-low", "may-be-skipped", "never-runs", "no-effect", "no-error-limit", "no-drop-limit",
}

// TestLints: each warning stands in a plan that is valid, says what to do, and goes away when that
// is done.
func TestLints(t *testing.T) {
	for _, c := range []struct{ name, stages, want string }{
		{"a search that begins below what its condition needs", `
stages:
  - {id: a, load: {rate: {search: {from: 20/s, to: 100/s, while: latency.p95 < 1s}}}, for: 2s}`, `2:66 few-samples a trial at 20/s sends 40 requests, latency.p95 < 1s needs 59`},
		{"a search whose lowest trial has enough only by chance", `
stages:
  - {id: a, load: {rate: {search: {from: 30/s, to: 100/s, while: latency.p95 < 1s}}, arrivals: poisson}, for: 2s}`, `2:66 few-samples a trial at 30/s sends 60 requests ± 15, latency.p95 < 1s needs 59`},
		{"a search that begins high enough", `
stages:
  - {id: a, load: {rate: {search: {from: 30/s, to: 100/s, while: latency.p95 < 1s}}}, for: 2s}`, ""},
		{"a dataset that nobody sends", `
datasets: {main: {generate: random}, spare: {generate: zero}}
stages:
  - {id: a, load: {concurrency: 1}, for: 9s}`, `1:45 unused-entry dataset "spare" is used by no stage`},
		{"a dataset of a mix", `
datasets: {main: {generate: random}, spare: {generate: zero}}
stages:
  - {id: a, load: {concurrency: 1}, for: 9s, mix: {x: {data: main}, y: {data: spare}}}`, ``},
		{"a ramp that is cut", `
stages:
  - {id: a, load: {rate: {ramp: [{to: 5/s, over: 30s, hold: 30s}]}}, for: 40s}`, `2:70 ramp-cut the ramp of stage "a" takes 1m and is cut after 40s`},
		{"windows that leave the end out", `
stages:
  - {id: a, load: {concurrency: 4}, for: 2500ms, assert: [{that: latency.p50 < 1s, every: 1s}]}`, `2:66 unseen-rest the last 500ms are in no window of 1s: nothing here looks at them`},
		{"within leaves the end out", `
stages:
  - {id: a, load: {concurrency: 4}, for: 2500ms, assert: [{that: latency.p50 < 1s, within: 1s}]}`, `2:66 unseen-rest the last 500ms are in no window of 1s: nothing here looks at them`},
		{"windows of a phase that leave its end out", `
stages:
  - {id: a, load: {concurrency: {ramp: [{to: 4, hold: 2500ms, name: up}]}}, for: 3s, assert: [{that: phase("up").latency.p50 < 1s, every: 1s}]}`, `2:102 unseen-rest the last 500ms are in no window of 1s: nothing here looks at them`},
		{"windows that leave nothing out", `
stages:
  - {id: a, load: {concurrency: 4}, for: 2500ms, assert: [{that: latency.p50 < 1s, every: 500ms}]}`, ``},
		{"a ramp that is held", `
stages:
  - {id: a, load: {rate: {ramp: [{to: 5/s, over: 30s, hold: 30s}]}}, for: 61s}`, ``},
		{"fewer requests than slots", `
stages:
  - {id: a, load: {concurrency: 64}, for: 50 requests}`, `2:33 never-reached-concurrency stage "a" sends 50 requests, so 64 are never in flight at once`},
		{"fewer than three for each slot", `
stages:
  - {id: a, load: {concurrency: 64}, for: 191 requests}`, `2:33 few-requests stage "a" sends 191 requests with 64 in flight: start and end are most of what is measured`},
		{"three for each slot", `
stages:
  - {id: a, load: {concurrency: 64}, for: 192 requests}`, ``},
		{"p99 of too few", `
stages:
  - {id: a, load: {rate: 10/s}, for: 29s, assert: [latency.p99 < 1s]}`, `2:52 few-samples stage "a" sends 290 requests that this looks at, it needs 299`},
		{"p99 of enough", `
stages:
  - {id: a, load: {rate: 10/s}, for: 30s, assert: [latency.p99 < 1s]}`, ``},
		{"p99 of a steady span of too few", `
stages:
  - {id: a, load: {rate: 10/s}, for: 29s, assert: [steady.latency.p99 < 1s]}`, `2:52 few-samples stage "a" sends 290 requests that this looks at, it needs 299`},
		{"p99 that chance may make enough", `
stages:
  - {id: a, load: {rate: 10/s, arrivals: poisson}, for: 29s, assert: [latency.p99 < 1s]}`, ``},
		{"a share with confidence of too few", `
stages:
  - {id: a, load: {rate: 10/s}, for: 29s, assert: [{that: errors.ratio < 1%, confidence: 95%}]}`, `2:59 few-samples stage "a" sends 290 requests that this looks at, it needs 299`},
		{"a share with confidence of enough", `
stages:
  - {id: a, load: {rate: 10/s}, for: 30s, assert: [{that: errors.ratio < 1%, confidence: 95%}]}`, ``},
		{"a share that nothing proves", `
stages:
  - {id: a, load: {rate: 10/s}, for: 30s, assert: [{that: errors.ratio <= 0%, confidence: 95%}]}`, `2:59 never-proven no number of requests can prove errors.ratio <= 0% with a confidence`},
		{"p99 of an entry", `
stages:
  - {id: a, load: {rate: 10/s}, for: 30s, mix: {x: {}, y: {}}, assert: ['mix("x").latency.p99 < 1s']}`, `2:74 few-samples stage "a" sends 150 requests that this looks at, it needs 299`},
		{"p99 of a window", `
stages:
  - {id: a, load: {rate: 10/s}, for: 60s, assert: [{that: latency.p99 < 1s, every: 10s}]}`, `2:59 few-samples stage "a" in 10s sends 100 requests that this looks at, it needs 299`},
		{"p99 of a window of within", `
stages:
  - {id: a, load: {rate: 10/s}, for: 60s, assert: [{that: latency.p99 < 1s, within: 10s}]}`, `2:59 few-samples stage "a" in 1s sends 10 requests that this looks at, it needs 299`},
		{"slots that drop", `
stages:
  - {id: a, load: {rate: 1000/s, max_in_flight: 64, overflow: drop}, for: 9s, assert: [latency.p99 < 100ms, dropped.ratio < 1%]}`, `2:20 max-in-flight-too-low at 100ms 1000 requests a second may be 100 in flight, and max_in_flight is 64`},
		{"precise to a share of what may be 0", `
stages:
  - {id: a, load: {rate: 10/s}, until: {precise: {errors.ratio: 5%, latency.p50: 5%}}, max_duration: 60s}`, `2:51 never-precise errors.ratio may be 0, and no bounds are within a share of 0: ` + "`max_duration` alone would end the stage"},
		{"fewer where the plan says so", `
stages:
  - {id: a, load: {rate: 10/s}, for: 29s, assert: [{that: latency.p99 < 1s, min_samples: 100}]}`, ``},
		{"samples of what has none", `
stages:
  - {id: a, load: {rate: {search: {from: 100/s, to: 1000/s, while: latency.p50 < 1s}}}, for: 9s, assert: [{that: capacity > 5/s, min_samples: 100000}, errors.count == 0]}`, `2:114 no-effect "min_samples" has no effect: capacity > 5/s is not made of requests`},
		{"samples of what has some", `
stages:
  - {id: a, load: {rate: 100/s}, for: 9s, assert: [{that: client.cpu < 50% and errors.count == 0, min_samples: 100}]}`, ``},
		{"what is open at the end is cancelled", `
stages:
  - {id: a, load: {concurrency: 4}, for: 9s, drain: 0s}`, `2:53 no-drain stage "a" cancels the requests that are open at its end, up to 4: whether errors.count == 0 holds is then not known`},
		{"what is open at the end of each level is cancelled", `
stages:
  - {id: a, load: {concurrency: [1, 2]}, drain: 0s, until: stable, assert: [errors.timeout.count < 2]}`, `2:49 no-drain stage "a[concurrency=1]" cancels the requests that are open at its end, up to 1: whether errors.count <= errors.timeout.count holds is then not known`},
		{"what may be open is allowed to fail", `
stages:
  - {id: a, load: {concurrency: 4}, for: 9s, drain: 0s, assert: [errors.count <= 4]}`, ``},
		{"a share of errors", `
stages:
  - {id: a, load: {concurrency: 4}, for: 9s, drain: 0s, assert: [errors.ratio < 1%]}`, ``},
		{"nothing is open at the end", `
stages:
  - {id: a, load: {concurrency: 4}, for: 90 requests, drain: 0s}`, ``},
		{"little is open at the end of an open loop", `
stages:
  - {id: a, load: {rate: 10/s}, for: 9s, drain: 0s}`, ``},
		{"too few slots for the latency that is allowed", `
stages:
  - {id: a, load: {rate: 1000/s, max_in_flight: 64}, for: 9s, assert: [latency.p99 < 100ms]}`, `2:20 max-in-flight-too-low at 100ms 1000 requests a second may be 100 in flight, and max_in_flight is 64`},
		{"requests that may be dropped", `
stages:
  - {id: a, load: {rate: 10/s, overflow: drop}, for: 9s, assert: [{that: dropped.ratio < 1%, severity: warn}]}`, `2:20 no-drop-limit no gate of stage "a" limits the requests that it drops`},
		{"a limit for what is dropped", `
stages:
  - {id: a, load: {rate: 10/s, overflow: drop}, for: 9s, assert: [dropped.ratio < 1%]}
  - {id: b, load: {rate: 10/s, overflow: drop}, for: 9s, goodput: {latency: 1s}, assert: [goodput.ratio > 99%]}`, ``},
		{"enough slots for the mean", `
stages:
  - {id: a, load: {rate: 1000/s, max_in_flight: 64}, for: 9s, assert: [latency.mean < 50ms, latency.p99 < 900ms]}`, ``},
		{"a gate that a good run skips", `
stages:
  - {id: a, load: {concurrency: 1}, for: 9s}
  - {id: b, needs: [a], when: failure, load: {concurrency: 1}, for: 9s, assert: [latency.p50 < 1s]}`, `3:82 may-be-skipped stage "b" only runs when something has failed: this never gates a good run`},
		{"a gate of the plan that a good run skips", `
stages:
  - {id: a, load: {concurrency: 1}, for: 9s}
  - {id: b, needs: [a], when: failure, load: {concurrency: 1}, for: 9s}
assert: ['stage("b").latency.p50 < 1s']`, `4:11 may-be-skipped stage "b" only runs when something has failed: this is skipped in a good run`},
		{"a stage that waits for one that a good run skips", `
stages:
  - {id: a, load: {concurrency: 1}, for: 9s}
  - {id: b, when: failure, load: {concurrency: 1}, for: 9s}
  - {id: c, load: {concurrency: 1}, for: 9s}`, `4:10 may-be-skipped stage "c" needs "b", which only runs when something has failed: a good run skips both`},
		{"a stage that names what it waits for", `
stages:
  - {id: a, load: {concurrency: 1}, for: 9s}
  - {id: b, when: failure, load: {concurrency: 1}, for: 9s}
  - {id: c, needs: [a], load: {concurrency: 1}, for: 9s}`, ``},
		{"what never fails", `
stages:
  - {id: a, when: never, load: {concurrency: 1}, for: 9s}
  - {id: b, needs: [a], when: failure, load: {concurrency: 1}, for: 9s}`, `3:10 never-runs stage "b" never runs: it waits for a failure, and nothing that runs is among its ` + "`needs`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diags := compiling(t, c.stages)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			found := lintsOf(diags)
			if got := saidOf(found); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for _, d := range found {
				if d.Detail == "" {
					t.Errorf("%s does not say what to do", d.Summary)
				}
			}
		})
	}
}

func lintsOf(diags source.Diagnostics) source.Diagnostics {
	return slices.DeleteFunc(slices.Clone(diags),
		func(d source.Diagnostic) bool { return !slices.Contains(lintCodes, d.Code) })
}

// TestNoFalseAlarm: none of them warns of an example of the language, nor of the plans that come
// with this program.
func TestNoFalseAlarm(t *testing.T) {
	files, _ := filepath.Glob("../../testdata/plans/valid/example-*.yaml")
	shipped, _ := filepath.Glob("../../plans/*.yaml")
	if len(files) < 23 || len(shipped) < 5 {
		t.Fatal(files, shipped)
	}
	for _, file := range append(files, shipped...) {
		plan, diags := scenario.LoadFile(file,
			scenario.Overrides{Env: func(string) (string, bool) { return "", false }})
		if plan == nil {
			t.Errorf("%s: %v", file, diags)
			continue
		}
		_, more := Compile(plan, all.Kinds())
		if more.HasErrors() {
			t.Errorf("%s: %v", file, more)
		}
		if found := lintsOf(append(diags, more...)); len(found) > 0 {
			t.Errorf("%s: %s", filepath.Base(file), strings.TrimSpace(saidOf(found)))
		}
	}
}
