package executor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestConfidence: with it bounds decide, and what has none is open; until they are narrow, or max_duration
// is near, hold goes on. What bounds decide is in package trial, where time is virtual: on a busy machine
// requests depend on each other.
func TestConfidence(t *testing.T) {
	t.Parallel()
	w := watch(t, fourInts)
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages:
  - id: s
    load: {rate: 100/s}
    until: {precise: {latency.p50: 50%}, confidence: 90%}
    max_duration: 2s
    assert: [{that: latency.max < 1h, confidence: 95%}, errors.count == 0]
`, w.URL, Env{})
	n := node(t, r, "s")
	if a := n.Assertions[0]; a.Verdict != result.Inconclusive || r.ExitCode != 3 ||
		!strings.Contains(a.Reason, "latency.max has no confidence bounds") {
		t.Errorf("%s, exit %d: %s", a.Verdict, r.ExitCode, a.Reason)
	}
	precise, not := n.Finding(result.IsPrecise), n.Finding(result.NotPrecise)
	if n.Outcome != result.Done || n.Duration < 1 || n.Look == nil || *n.Look != (result.Look{Number: 1, Of: 1}) ||
		(precise == nil) == (not == nil) {
		t.Errorf("%s %s after %v s, look %+v, %+v", n.Outcome, n.Reason, n.Duration, n.Look, n.Validity.Findings)
	}
	if m := n.Metrics[metric.Latency]; m.Parts == nil || m.Parts.Values.Parts() < 30 {
		t.Errorf("parts of latency: %+v", m.Parts)
	}
}

// TestWindows: the first three requests fail. As a whole they are few; the window that they are in
// is false.
func TestWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ that, span, verdict, reason string }{
		{"{that: errors.ratio < 50%}", "2s", "pass", "the limit is 50 %"},
		{
			"{that: errors.count == 0, every: 400ms}", "2s", "fail",
			"; the first that is false, 0 s to 400 ms: errors.count is ",
		},
		{
			"{that: errors.count == 0, every: 400ms, allow: 90%}", "2s", "pass",
			"90 % of them may be false; the first that is false, 0 s to 400 ms",
		},
		{
			"{that: errors.count == 0, every: 400ms, within: 1500ms}", "2s", "pass",
			"it must be from 1.5 s on; before, 0 s to 400 ms: errors.count is ",
		},
		{
			"{that: errors.count == 0, every: 400ms, within: 1ms}", "2s", "fail",
			"it must be from 1 ms on; before, 0 s to 400 ms: errors.count is ",
		},
		{
			"{that: errors.count == 0, within: 1s}", "9 requests", "inconclusive",
			"no data: its scope has no whole window of 1 s",
		},
	} {
		t.Run(c.that, func(t *testing.T) {
			t.Parallel()
			w := watch(t, func(w *witness) { w.dim, w.status, w.fails, w.takes = 4, 500, 3, 5*time.Millisecond })
			r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: {concurrency: 1}, for: `+c.span+`, assert: [`+c.that+`]}]
`, w.URL, Env{})
			a := node(t, r, "s").Assertions[0]
			if string(a.Verdict) != c.verdict || !strings.Contains(a.Reason, c.reason) {
				t.Errorf("%s (%s), want %s (%s)", a.Verdict, a.Reason, c.verdict, c.reason)
			}
		})
	}
}

// whole compiles a plan and runs all of it, also what is only played by tests so far.
func whole(t *testing.T, text, url string) *result.Result {
	t.Helper()
	p := compile(t, text, url)
	r, diags := Run(context.Background(), p, Env{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	checkResult(t, r)
	return r
}

// TestBaseline: a run is compared with the stored result of one before; what that cannot say is no
// evidence.
func TestBaseline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan := func(top, that string) string {
		return "version: 1\n" + top + `
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: {concurrency: 2}, for: 100 requests, assert: [` + that + `, errors.ratio <= 100%]}]
`
	}
	store := func(name string, change func(*witness), edit func(*result.Result)) string {
		r := play(t, plan("", "latency.p50 < 1h"), watch(t, change).URL, Env{})
		edit(r)
		var b bytes.Buffer
		if err := result.Write(&b, r); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	asIs := func(*result.Result) {}
	good := store("good.json", fourInts, asIs)
	failed := store("failed.json", func(w *witness) { w.dim, w.status = 4, 500 }, asIs)
	partial := store("partial.json", fourInts, func(r *result.Result) {
		r.State, r.Reason = result.StatePartial, "interrupted by SIGINT: the result is partial"
	})
	other := store("other.json",
		fourInts, func(r *result.Result) { r.Nodes[0].ID, r.Nodes[0].Stage = "old", "old" })
	gone := filepath.Join(dir, "gone.json")
	const that = "latency.p50 <= 1000 * baseline.latency.p50"
	for _, c := range []struct {
		top, that, verdict string
		exit               int
		reason             string
	}{
		{
			"baseline: " + good, that, "pass", 0,
			"= 1000 * baseline.latency.p50 (n = 100); the baseline " + good + " was measured with another plan",
		},
		{
			"baseline: " + good, "latency.p50 < 0.0001 * baseline.latency.p50", "fail", 1,
			"= 0.0001 * baseline.latency.p50",
		},
		{
			"baseline: {file: " + good + "}", `latency.p50 <= 1000 * baseline.stage("s").latency.p50`, "pass", 0,
			`baseline.stage("s").latency.p50`,
		},
		{
			"baseline: " + failed, "errors.ratio <= baseline.errors.ratio", "inconclusive", 3,
			`in the baseline, no request of stage "s" was answered well`,
		},
		{"baseline: " + partial, that, "inconclusive", 3, "is not a whole run: interrupted by SIGINT"},
		{"baseline: " + other, that, "inconclusive", 3, `has no stage "s"`},
		{
			"baseline: {file: " + other + ", if_missing: skip}", that, "skipped", 0,
			`has no stage "s", and if_missing is skip`,
		},
		// Of no stage here
		{
			"baseline: " + other, `latency.p50 <= 1000 * baseline.stage("old").latency.p50`, "pass", 0,
			`= 1000 * baseline.stage("old").latency.p50 (n = 100)`,
		},
		{
			"baseline: " + gone, `latency.p50 <= baseline.stage("old").latency.p50`, "inconclusive", 3,
			"there is no baseline " + gone,
		},
		{
			"baseline: {file: " + gone + ", if_missing: skip}", `latency.p50 <= baseline.stage("old").latency.p50`,
			"skipped", 0, "if_missing is skip",
		},
		{"baseline: " + gone, that, "inconclusive", 3, "there is no baseline " + gone},
		{
			"baseline: {file: " + gone + ", if_missing: inconclusive}", that, "inconclusive", 3,
			"there is no such file",
		},
		{
			"baseline: {file: " + gone + ", if_missing: skip}", that, "skipped", 0,
			"there is no such file, and if_missing is skip",
		},
		// It is not missing
		{"baseline: {file: " + partial + ", if_missing: skip}", that, "inconclusive", 3, "is not a whole run"},
		{
			"baseline: " + good, "{that: " + that + ", confidence: 95%}", "inconclusive", 3,
			`stage "s" ran once: ` + "`repeat: 6`",
		},
	} {
		r := whole(t, plan(c.top, c.that), watch(t, fourInts).URL)
		a := node(t, r, "s").Assertions[0]
		if string(a.Verdict) != c.verdict || r.ExitCode != c.exit || !strings.Contains(a.Reason, c.reason) {
			t.Errorf("%s with %s: %s, exit %d (%s), want %s, %d (%s)",
				c.that, c.top, a.Verdict, r.ExitCode, a.Reason, c.verdict, c.exit, c.reason)
		}
	}
	for that, want := range map[string]string{
		`latency.p50 <= baseline.stage("odl").latency.p50`: `4:100 error unknown-metric neither ` +
			`the plan nor the baseline has a stage "odl" old`,
		`latency.p50 <= baseline.stage("old").phase("x").latency.p50`: `4:113 error unknown-metric stage ` +
			`"old" has no phase named "x" `,
		`latency.p50 <= baseline.stage("old").mix("x").latency.p50`: `4:111 error unknown-metric stage ` +
			`"old" has no mix `,
		`latency.p50 <= baseline.stage("old").server.queue.mean`: `4:85 error unknown-metric there is no ` +
			`metric server.queue.mean `,
		`requests.count <= baseline.stage("old").capacity`: `4:88 error unknown-metric there is no ` +
			`metric capacity `,
		`errors.count <= baseline.stage("old").late.count`: `4:86 error unknown-metric the ` +
			`baseline did not measure late.count on stage "old" `,
		`latency.p50 <= baseline.stage("old").latency.p50 # ` +
			"gone": `4:85 warning unknown-name the plan has no stage "old" `,
	} {
		file := other
		if text, missing := strings.CutSuffix(that, " # gone"); missing {
			that, file = text, gone
		}
		d := checked(t, strings.ReplaceAll(plan("baseline: "+file, that), "URL", "http://localhost:1"))
		if i := slices.IndexFunc(d, func(d source.Diagnostic) bool { return d.Code != "file-missing" }); i < 0 ||
			fmt.Sprintf("%d:%d %s %s %s %s",
				d[i].Pos.Line, d[i].Pos.Column, d[i].Severity, d[i].Code, d[i].Summary, d[i].Nearest) != want {
			t.Errorf("%s: %v, want %s", that, d, want)
		}
	}
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte(`{"schema": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	diags := checked(t, strings.ReplaceAll(plan("baseline: "+broken, that), "URL", "http://localhost:1"))
	if d := diags[0]; !diags.HasErrors() || d.Code != "bad-baseline" || d.Pos.Line != 2 || d.Pos.Column != 11 ||
		!strings.Contains(d.Summary, "is not a result that can be read") {
		t.Errorf("a broken baseline: %+v", diags)
	}
}

// checked is what compiling a plan says.
func checked(t *testing.T, plan string) source.Diagnostics {
	t.Helper()
	p, diags := scenario.Parse("plan.yaml", []byte(plan), scenario.Overrides{})
	if p == nil {
		t.Fatal(diags)
	}
	_, diags = program.Compile(p, all.Kinds())
	return diags
}

// TestRepeats: points of a matrix are compared by their repeats, and a run with one before by those
// of both.
func TestRepeats(t *testing.T) {
	t.Parallel()
	const plan = `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages:
  - {id: ab, matrix: {side: [a, b]}, repeat: 4, load: {concurrency: 2}, for: 60 requests}
assert:
  - {that: 'stage("ab[side=b]").latency.p50 <= stage("ab[side=a]").latency.p50 + 1h', confidence: 95%}
  - {that: 'stage("ab[side=b]").latency.p50 > stage("ab[side=a]").latency.p50 + 1h', confidence: 95%, severity: warn}
`
	r := whole(t, plan, watch(t, fourInts).URL)
	for i, want := range []result.Verdict{result.Pass, result.Fail} {
		if a := r.Assertions[i]; a.Verdict != want ||
			!strings.Contains(a.Reason, "over 4 repeats their difference is -") {
			t.Errorf("%s: %s (%s)", a.That, a.Verdict, a.Reason)
		}
	}
}

// keeps reports whether an assertion passed, or would have on a machine that has the time to send
// on time.
func keeps(a result.Assertion) bool {
	if a.Verdict != result.Inconclusive || !strings.HasPrefix(a.Reason, "the measurement is invalid") {
		return a.Verdict == result.Pass
	}
	if a.Observed == nil || a.Limit == nil { // of another node, which is not to be trusted
		return true
	}
	point := func(v float64) expression.Quantity { return expression.Quantity{Known: true, V: v, Lo: v, Hi: v} }
	return expression.Decide(a.Op, point(*a.Observed), point(*a.Limit)) > 0
}

// TestPlaces: phases of a ramp and entries of a mix have numbers of their own.
func TestPlaces(t *testing.T) {
	t.Parallel()
	w := watch(t, fourInts)
	r := whole(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages:
  - id: spike
    load: {rate: {ramp: [{to: 100/s, hold: 400ms, name: base}, {to: 300/s, hold: 300ms, name: peak}, {to: 100/s, hold: 200ms}]}}
    assert:
      - phase("base").requests.count == 40
      - phase("peak").requests.count == 90
      - requests.count == 150
      - {that: phase("peak").errors.count == 0, every: 100ms}
      - phase("peak").requests.count > 2 * phase("base").requests.count
  - id: mixed
    load: {concurrency: 2}
    mix: {one: {weight: 1}, two: {weight: 1, batch: 2}}
    for: 100 requests
    assert:
      - mix("one").requests.count > 20 and mix("two").requests.count > 20
      - mix("one").requests.count + mix("two").requests.count == requests.count
      - mix("two").errors.count == 0
  - {id: items, load: {concurrency: 1}, batch: 4, for: 20 requests, assert: [requests.count == 20, abs(throughput - 4 * requests.rate) < 0.001/s]}
  - {id: paced, load: {rate: 100/s}, batch: 4, for: 200ms, assert: [requests.count == 20]}
assert:
  - stage("spike").phase("peak").requests.count == 90
  - stage("mixed").mix("two").latency.p50 < 1h
`, w.URL)
	for _, n := range append(r.Nodes, &result.Node{ID: "plan", Assertions: r.Assertions}) {
		for _, a := range n.Assertions {
			if !keeps(a) {
				t.Errorf("%s: %s: %s (%s)", n.ID, a.That, a.Verdict, a.Reason)
			}
		}
	}
}
