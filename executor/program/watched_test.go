package program

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestAbortRefused: what `abort`, `every` and `within` can do nothing with is an error at its
// place, and what they can is none.
func TestAbortRefused(t *testing.T) {
	for _, c := range []struct{ stage, assert, want string }{
		{"", "latency.mean < 5ms", "`abort` cannot watch latency.mean: it can come back until the stage is over"},
		{
			"", "errors.ratio < 5% and throughput > 9/s",
			"`abort` cannot watch throughput: it can come back until the stage is over",
		},
		{
			"", "steady.errors.count == 0",
			"`abort` cannot watch steady.errors.count: which span is the steady one is known when the stage is over",
		},
		{
			"", "steady.latency.p99 < 1s, every: 1s",
			"steady.latency.p99 is not known for a window: the steady span is one",
		},
		{"", "client.cpu < 85%", "`abort` cannot watch client.cpu: it is read when the stage is over"},
		{
			"", "'scrape(\"x\").max < 3'",
			"`abort` cannot watch scrape(\"x\").max: it is read when the stage is over",
		},
		{
			"", "server.failures.count == 0",
			"`abort` cannot watch server.failures.count: it is read when the stage is over",
		},
		{"", "incomplete.count == 0", "`abort` cannot watch incomplete.count: it is known when the stage is over"},
		{
			"", "requests.count > 100",
			"`abort` has no effect: requests.count > 100 is never certainly false before the end",
		},
		{"", "latency.max > 1s", "`abort` has no effect: latency.max > 1s is never certainly false before the end"},
		{
			"", "latency.p99 < 2 * latency.p50",
			"`abort` has no effect: latency.p99 < 2 * latency.p50 is never certainly false before the end",
		},
		{
			"", "errors.count / requests.count < 0.1",
			"`abort` has no effect: errors.count / requests.count < 0.1 is never certainly false before the end",
		},
		{
			"", "errors.ratio >= 0%",
			"`abort` has no effect: errors.ratio >= 0% is never certainly false before the end",
		},
		{
			"", "dropped.count == 0",
			"`abort` cannot watch dropped.count: nothing is dropped before the end where `overflow` is wait",
		},
		{
			"overflow: drop, ", "'phase(\"hold\").dropped.count == 0'",
			"`abort` cannot watch phase(\"hold\").dropped.count: drops are counted for a stage as a whole, not " +
				"for its parts",
		},
		{"overflow: drop, ", "dropped.count == 0", ""},
		{"", "100% - errors.ratio >= 95%", ""},
		{"", "not (latency.p99 >= 50ms) or errors.count == 0", ""},
		{"", "latency.max < 5s", ""},
		{"", "errors.count <= 2 * 10", ""},
		{"", "errors.ratio < 10% or errors.ratio > 90%", ""},
		{"", "latency.mean < 5ms, every: 1s", ""},
		{"", "throughput > 9/s, within: 5s", ""},
		{
			"", "in_flight.max < 3, every: 1s",
			"in_flight.max is not known for a window, only for a stage as a whole",
		},
		{"", "client.cpu < 85%, within: 1s", "client.cpu is not known for a window, only for a stage as a whole"},
		{
			"", "dropped.ratio < 5%, every: 1s",
			"dropped.ratio is not known for a window, only for a stage as a whole",
		},
		{
			"", "'scrape(\"x\").max < 3', every: 1s",
			"scrape(\"x\").max is not known for a window, only for a stage as a whole",
		},
		{
			"", "latency.adjusted.p99 < 1s, every: 1s",
			"latency.adjusted.p99 is not known for a window: drops are counted for a stage as a whole",
		},
		{
			"", "latency.p50 < latency.adjusted.p99, within: 1s",
			"latency.adjusted.p99 is not known for a window: drops are counted for a stage as a whole",
		},
	} {
		load := "{" + c.stage + "rate: 10/s}, for: 10s"
		if strings.Contains(c.assert, "phase") {
			load = "{" + c.stage + "rate: {ramp: [{to: 10/s, over: 1s, hold: 10s, name: hold}]}}"
		}
		text := "version: 1\ntarget: {backend: triton, url: \"http://h:1\", model: m, metrics: {url: " +
			"\"http://h:2/metrics\"}}\nstages:\n  - {id: s, load: " + load + ", assert: [{that: " + c.assert +
			", abort: true}]}"
		plan, diags := scenario.Parse("plan.yaml", []byte(text), scenario.Overrides{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		_, diags = Compile(plan, all.Kinds())
		got := ""
		for _, d := range diags {
			if d.Severity == source.Error {
				got = d.Summary
			}
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.assert, got, c.want)
		}
	}
	// What another stage measured does not change any more.
	_, diags := compiling(t, `stages:
  - {id: a, load: {rate: 10/s}, for: 10s}
  - {id: b, load: {rate: 10/s}, for: 10s, assert: [{that: 'latency.max < 2 * stage("a").latency.mean', abort: true}]}
assert: [{that: 'stage("b").latency.max <= 3 * stage("a").latency.max', abort: true}, {that: 'stage("a").throughput > 1/s', abort: true}]`)
	if i := slices.IndexFunc(diags,
		func(d source.Diagnostic) bool { return d.Severity == source.Error }); len(diags) != 1 ||
		!strings.Contains(diags[i].Summary, `stage("a").throughput`) {
		t.Errorf("%v", diags)
	}
}
