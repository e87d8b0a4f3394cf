package executor

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// assertionOf is an assertion by id, over all nodes and the plan.
func assertionOf(t *testing.T, r *result.Result, id string) result.Assertion {
	t.Helper()
	for _, n := range r.Nodes {
		for _, a := range n.Assertions {
			if a.ID == id {
				return a
			}
		}
	}
	for _, a := range r.Assertions {
		if a.ID == id {
			return a
		}
	}
	t.Fatalf("there is no assertion %s", id)
	return result.Assertion{}
}

func scopeCount(t *testing.T, n *result.Node, phase, mix, name string) int64 {
	t.Helper()
	s := n.Scope(phase, mix)
	if s == nil {
		t.Fatalf("%s: no scope %q %q in %+v", n.ID, phase, mix, n.Scopes)
	}
	v, _ := s.Metrics[name].Stat(metric.Stat{})
	return int64(v)
}

// TestRampPhases: a spike between two holds. Each hold has numbers of its own, the node's are those
// of all holds, what lies between is the phase ramp, and recovery is judged second by second.
func TestRampPhases(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - id: spike
    load:
      rate:
        ramp:
          - {to: 100/s, over: 400ms, hold: 1s, name: base}
          - {to: 400/s, hold: 500ms, name: spike}
          - {to: 100/s, over: 200ms, hold: 1s, name: recover}
      max_in_flight: 200
    assert:
      - phase("base").requests.count == 100
      - phase("spike").requests.count == 200
      - {that: 'phase("recover").latency.p50 < 1s', every: 200ms, within: 500ms}
      - {that: 'phase("recover").latency.p50 < 1s', every: 200ms}
      - {that: 'phase("recover").latency.p50 < 1ns', every: 200ms, within: 500ms, id: never, severity: warn}
      - {that: 'errors.ratio <= 0%', every: 500ms}
`, s.HTTPURL(), Env{})
	n := r.Nodes[0]
	want := map[string]int64{"base": 100, "spike": 200, "recover": 100}
	for phase, sent := range want {
		if got := scopeCount(t, n, phase, "", "requests.count"); got != sent {
			t.Errorf("phase %s: %d requests, want %d", phase, got, sent)
		}
	}
	if got := count(n, "requests.count"); got != 400 {
		t.Errorf("all holds: %d requests, want 400", got)
	}
	// Up to 100/s in 0.4 s are 20 requests, from 400/s down to 100/s in 0.2 s are 50.
	if got := scopeCount(t, n, "ramp", "", "requests.count"); got != 70 {
		t.Errorf("between the holds: %d requests, want 70", got)
	}
	for phase, length := range map[string]float64{"ramp": 0.6, "base": 1, "spike": 0.5, "recover": 1} {
		if got := n.Scope(phase, "").Duration; math.Abs(got-length) > 1e-6 {
			t.Errorf("phase %s is %v s, want %v", phase, got, length)
		}
	}
	if n.Scope("base", "").Metrics["latency"].Dist == nil {
		t.Error("a phase has no distribution of its own")
	}
	if n.Validity.OK && r.ExitCode != 0 {
		t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
	}
	if a := assertionOf(t, r, "never"); n.Validity.OK && a.Verdict != result.Fail {
		t.Errorf("never: %s %s", a.Verdict, a.Reason)
	}
	if w := n.FindSeries("recover", "", 0.2); w == nil || len(w.Windows) != 5 || w.Windows[0].From != 2.1 {
		t.Errorf("windows of recover: %+v", w)
	}
}

// TestMixScopes: two kinds of request 3:1, each with its own numbers, rows and assertions; together
// they are the node's.
func TestMixScopes(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, ready: 0s}
stages:
  - id: mixed
    load: {rate: 400/s}
    mix:
      small: {model: simple, weight: 3}
      large: {model: identity_int32, weight: 1, batch: 1, shapes: {INPUT0: [64]}}
    for: 1s
    assert:
      - mix("small").latency.p50 < 1s
      - mix("large").errors.count == 0
      - {that: 'mix("large").latency.p50 < 1s', every: 250ms}
      - requests.count == 400
`, s.HTTPURL(), Env{})
	n := node(t, r, "mixed")
	small, large := scopeCount(t, n, "", "small",
		"requests.count"), scopeCount(t, n, "", "large", "requests.count")
	if small+large != count(n, "requests.count") || small < 280 || small > 320 {
		t.Errorf("small %d + large %d of %d", small, large, count(n, "requests.count"))
	}
	if got := n.Scope("", "large"); got.Model != "identity_int32" || got.Target != "main" || got.Batch != 1 ||
		got.Duration != 1 {
		t.Errorf("large: %+v", got)
	}
	var latencies int64
	for _, name := range []string{"small", "large"} {
		latencies += *n.Scope("", name).Metrics["latency"].Count
	}
	if latencies != *n.Metrics["latency"].Count {
		t.Errorf("latencies of the entries are %d, of the node %d", latencies, *n.Metrics["latency"].Count)
	}
	if n.Validity.OK && r.ExitCode != 0 {
		t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
	}
}

// TestWindowsJudged: one of three seconds has a pause in it. `every` says so, `allow` forgives it,
// the whole does not see it.
func TestWindowsJudged(t *testing.T) {
	t.Parallel()
	five := &builtin.Dist{Mean: 0.005}
	s := serve(t,
		builtin.Config{
			ServiceTime: five, Instances: 2,
			Stall: &builtin.Stall{At: 1300 * time.Millisecond, For: 900 * time.Millisecond},
		})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - id: s
    load: {concurrency: 2}
    for: 3s
    assert:
      - {id: whole, that: latency.p75 < 300ms}
      - {id: each, that: latency.max < 300ms, every: 1s}
      - {id: most, that: latency.max < 300ms, every: 1s, allow: 67%}
      - {id: settles, that: latency.max < 300ms, every: 500ms, within: 2500ms}
      - {id: late, that: latency.max < 300ms, every: 500ms, within: 1s}
      - errors.count == 0
`, s.HTTPURL(), Env{})
	n, want := node(t, r, "s"), "whole pass, "
	// What a second was like depends on the machine too; what is said of it must be what is stored of it.
	slow := func(every float64) (list []bool) {
		for _, w := range n.FindSeries("", "", every).Windows {
			v, _ := w.Metrics["latency"].Stat(metric.Stat{Kind: metric.Max})
			list = append(list, v >= 0.3)
		}
		return list
	}
	verdict := map[bool]string{true: "pass", false: "fail"}
	seconds, halves := slow(1), slow(0.5)
	most := 0
	for _, is := range seconds {
		if is {
			most++
		}
	}
	settled := 0
	for i, is := range halves {
		if is {
			settled = i + 1
		}
	}
	if most == 0 || settled == 0 {
		t.Errorf("the pause is in no window: %v %v", seconds, halves)
	}
	want += "each " + verdict[most == 0] + ", most " + verdict[most <= 2] +
		", settles " + verdict[settled <= 5] + ", late " + verdict[settled <= 2] + ", "
	var verdicts strings.Builder
	for _, id := range []string{"whole", "each", "most", "settles", "late"} {
		fmt.Fprintf(&verdicts, "%s %s, ", id, assertionOf(t, r, id).Verdict)
	}
	if got := verdicts.String(); got != want && n.Validity.OK {
		t.Errorf("got  %s\nwant %s\n%v %v", got, want, seconds, halves)
	}
	var sent int64
	for _, w := range n.FindSeries("", "", 1).Windows {
		v, _ := w.Metrics["requests.count"].Stat(metric.Stat{})
		sent += int64(v)
	}
	if sent != count(n, "requests.count") || len(n.Series) != 2 || len(n.FindSeries("", "", 0.5).Windows) != 6 {
		t.Errorf("windows have %d of %d requests, %d series", sent, count(n, "requests.count"), len(n.Series))
	}
}

// TestAbortEndsTheRun: a server that becomes slow, one that fails, and one that answers nothing any
// more: the node ends long before its time, the stages after it do not run, artifacts are whole,
// exit 1.
func TestAbortEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config     builtin.Config
		assert     string
		wantReason string
		keys       string // of the stage; "": a constant rate
	}{
		"slow": {
			builtin.Config{ServiceTime: &builtin.Dist{Mean: 1}, Instances: 512},
			"latency.p95 < 20ms",
			"requests so far have latency >= 20 ms", "",
		},
		"fails": {builtin.Config{Errors: 0.5}, "errors.ratio < 1%", "errors.ratio is", ""},
		"hangs": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			"latency.p95 < 100ms",
			"requests so far have latency >= 100 ms", "",
		},
		"hangs in a phase": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			`'phase("top").latency.p95 < 100ms'`, "requests so far have latency >= 100 ms",
			"load: {rate: {ramp: [{to: 100/s, hold: 100ms}, {to: 200/s, hold: 50s, name: top}]}}",
		},
		"hangs in a kind": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			`'mix("a").latency.p95 < 100ms'`, "requests so far have latency >= 100 ms",
			"load: {rate: 200/s}\n    mix: {a: {weight: 3}, b: {weight: 1}}",
		},
		"hangs, goodput": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			"goodput.ratio > 90%", "goodput.ratio is",
			"load: {rate: 200/s}\n    goodput: {latency: 100ms}",
		},
		"hangs in windows": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			"latency.p50 < 100ms, every: 500ms", "in the window from", "",
		},
		"hangs in windows of a phase": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			`'phase("top").latency.p50 < 100ms', every: 500ms`, "in the window from",
			"load: {rate: {ramp: [{to: 100/s, hold: 100ms}, {to: 200/s, hold: 50s, name: top}]}}",
		},
		"hangs in windows of a kind": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			`'mix("a").latency.p50 < 100ms', every: 500ms`, "in the window from",
			"load: {rate: 200/s}\n    mix: {a: {weight: 3}, b: {weight: 1}}",
		},
		"hangs, within": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			"latency.p50 < 100ms, every: 500ms, within: 800ms", "in the window from", "",
		},
		"hangs in a kind whose requests wait for a slot": {
			builtin.Config{Stall: &builtin.Stall{At: 300 * time.Millisecond, For: time.Hour}},
			`'mix("a").latency.p95 < 100ms'`, "requests so far have latency >= 100 ms",
			"load: {rate: 200/s, max_in_flight: 2}\n    mix: {a: {weight: 3}, b: {weight: 1}}",
		},
		"windows": {
			// The server is never idle, so that four times the largest delay of this client is taken off.
			builtin.Config{ServiceTime: &builtin.Dist{Mean: 1}, Instances: 512},
			"latency.p50 < 20ms, every: 200ms",
			"latency.p50", "",
		},
	} {
		if c.keys == "" {
			c.keys = "load: {rate: 200/s}"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.config)
			began := time.Now()
			r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - id: s
    `+c.keys+`
    for: 60s
    drain: 100ms
    assert:
      - {id: limit, that: `+c.assert+`, abort: true}
      - {id: rest, that: throughput > 1/s}
      - errors.ratio <= 100%
  - {id: next, when: always, load: {concurrency: 1}, for: 5 requests}
`, s.HTTPURL(), Env{})
			n := node(t, r, "s")
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("the run took %v", took)
			}
			a := assertionOf(t, r, "limit")
			if a.Verdict != result.Fail || !strings.Contains(a.Reason, "certainly false") ||
				!strings.Contains(a.Reason, c.wantReason) {
				t.Errorf("%s: %s", a.Verdict, a.Reason)
			}
			if n.Outcome != result.InterruptedNode || n.Aborted == nil || n.Aborted.Assertion != "limit" ||
				!strings.Contains(n.Reason, "certainly false") {
				t.Errorf("outcome %s: %s, %+v", n.Outcome, n.Reason, n.Aborted)
			}
			if strings.HasPrefix(name, "hangs") && n.Aborted != nil && n.Aborted.InFlight == 0 {
				t.Error("nothing was in flight for longer than the limit")
			}
			if rest := assertionOf(t, r, "rest"); rest.Verdict != result.Inconclusive {
				t.Errorf("rest: %s %s", rest.Verdict, rest.Reason)
			}
			if next := node(t, r, "next"); next.Outcome != result.SkippedNode ||
				!strings.Contains(next.Reason, "aborted") {
				t.Errorf("next: %s %s", next.Outcome, next.Reason)
			}
			if r.ExitCode != 1 && node(t, r, "s").Validity.OK || r.State != result.StatePartial {
				t.Errorf("exit %d, state %s: %s", r.ExitCode, r.State, r.Reason)
			}
		})
	}
}
