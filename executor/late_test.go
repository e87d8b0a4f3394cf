package executor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// lateBy returns a client that sends every request so late.
func lateBy(d time.Duration) Env {
	return Env{Delay: func(uint64) {
		for end := time.Now().Add(d); time.Now().Before(end); { // more exact than a sleep
		}
	}}
}

// TestLateClient judges the numbers of a client that sends every request 5 ms late by their intervals:
// of a server of 20 ms it measures a median of 25 ms, and on time it would have been between 5 and
// 30.5 ms. What holds for all of these is decided.
func TestLateClient(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - id: s
    load: {rate: 20/s}
    for: 3s
    assert:
      - latency.p50 < 3ms
      - latency.p50 < 22ms
      - latency.p50 < 28ms
      - latency.p50 < 500ms
`, s.HTTPURL(), lateBy(5*time.Millisecond))
	n := node(t, r, "s")
	m := n.Metrics[metric.Latency]
	if m.Low == nil || m.High == nil {
		t.Fatal("latency has no bounds")
	}
	median := func(m *result.Metric) float64 {
		v, _ := m.Stat(metric.Stat{Kind: metric.Percentile, P: 50})
		return v
	}
	// Of a delay of 5 ms; a busy machine adds to it, and to what is measured.
	low, measured, high := median(m.Low), median(m), median(m.High)
	if measured < 0.024 || low > measured-4*0.0049 || high < 1.02*measured+0.0049 {
		t.Errorf("a median of %v s, at least %v, at most %v", measured, low, high)
	}
	// On a quiet machine fail, inconclusive, inconclusive, pass: the median is from 5 to 30.5 ms.
	code := 5
	for i, limit := range []float64{0.003, 0.022, 0.028, 0.5} {
		want, cause := result.Inconclusive, result.CauseClient
		switch {
		case low >= limit:
			want, cause, code = result.Fail, "", 1
		case high < limit:
			want, cause = result.Pass, ""
		}
		if a := n.Assertions[i]; a.Verdict != want || a.Cause != cause {
			t.Errorf("%s: %s, cause %q: %s; want %s", a.That, a.Verdict, a.Cause, a.Reason, want)
		}
	}
	if f := n.Finding(result.ClientLate); f == nil || f.Severity != result.Bounding || !n.Validity.OK {
		t.Errorf("valid %v, finding %+v", n.Validity.OK, f)
	}
	if r.ExitCode != code {
		t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
	}
}

// TestLateClientLeavesOpen: a run whose only open assertion is open for the client exits with 5.
func TestLateClientLeavesOpen(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}})
	for limit, code := range map[string]int{"22ms": 5, "500ms": 0} {
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: simple}
stages: [{id: s, load: {rate: 20/s}, for: 1s, assert: [latency.p50 < %s]}]
`, limit), s.HTTPURL(), lateBy(5*time.Millisecond))
		if r.ExitCode != code {
			t.Errorf("%s: exit %d: %s", limit, r.ExitCode, r.Reason)
		}
	}
}

// TestLateSearch: a `while` that a late client leaves open is taken for neither true nor false. A search and
// a ladder try three times, then end, and both say that the client was the limit.
func TestLateSearch(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}})
	for what, load := range map[string]string{
		"search": "{search: {from: 20/s, to: 30/s, precision: 10/s, confirm: 1, while: latency.p50 < 22ms}}",
		"levels": "{levels: {from: 20/s, to: 30/s, step: 10/s, while: latency.p50 < 22ms}}",
	} {
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: simple}
stages: [{id: s, load: {rate: %s}, for: 500ms}]
`, load), s.HTTPURL(), lateBy(5*time.Millisecond))
		n := r.Nodes[0]
		if n.Outcome != result.Invalid || n.Finding(result.WhileOpen) == nil || r.ExitCode != 5 ||
			len(r.Nodes) != 1 {
			t.Errorf("%s: exit %d: %s; %d nodes, %s: %+v", what, r.ExitCode, r.Reason, len(r.Nodes),
				n.Outcome, n.Validity.Findings)
		}
		if tries := len(n.Trials) + len(n.Attempts); tries != 3 {
			t.Errorf("%s: %d tries", what, tries)
		}
	}
}

// TestLateWaits: in a closed loop too the numbers of requests with due times of their own are intervals if this
// client sends late, its rates among them, and metrics without bounds say nothing.
func TestLateWaits(t *testing.T) {
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 10e-3}})
	for _, row := range []struct {
		load string
		rate float64 // on time
	}{
		{"load: {rate: 10/s, of: users}\n    sequences: {live: 3}", 30},
		{"load: {concurrency: 3, think: 20ms}", 99},
	} {
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - id: s
    `+row.load+`
    for: 1s
    assert: [latency.p50 < 12ms, latency.std < 1us, send_time.p50 < 1s, send_delay.client.p50 > 4ms]
`, s.HTTPURL(), lateBy(5*time.Millisecond))
		n := node(t, r, "s")
		m, f := n.Metrics[metric.Latency], n.Finding(result.ClientLate)
		if m.Low == nil || m.High == nil || f == nil {
			t.Fatalf("%s: bounds %v and %v, finding %+v", row.load, m.Low, m.High, f)
		}
		if !n.Validity.OK || n.Assertions[3].Verdict != result.Pass ||
			!strings.Contains(n.Validity.Summary, "late by itself") {
			t.Errorf("%s: valid %v: %s", row.load, n.Validity.OK, n.Validity.Summary)
		}
		for _, a := range n.Assertions[:3] {
			if a.Verdict != result.Inconclusive || a.Cause != result.CauseClient {
				t.Errorf("%s: %s is %s, cause %q: %s", row.load, a.That, a.Verdict, a.Cause, a.Reason)
			}
		}
		rate := n.Metrics["requests.rate"]
		if low, high := *rate.Low.Value, *rate.High.Value; low > row.rate || high < row.rate*0.9 { // 83 without bounds
			t.Errorf("%s: %v to %v/s, on time %v", row.load, low, high, row.rate)
		}
	}
}

// TestEndIsNotLate: the reply to the END of a sequence that cannot go on takes longer than the think time. The next
// request is then sent when it has come, which is no delay of this client.
func TestEndIsNotLate(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}, Errors: 0.3})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc}
stages:
  - {id: s, load: {concurrency: 2, think: 2ms}, sequences: {length: 5}, for: 1s, assert: [errors.ratio < 100%]}
`, s.HTTPURL(), Env{})
	own := node(t, r, "s").Metrics[metric.SendDelayClient]
	if p90, ok := own.Stat(metric.Stat{Kind: metric.Percentile, P: 90}); !ok || p90 > 0.012 {
		t.Errorf("p90 of the own send delay is %v s", p90)
	}
}

// TestLateLevelAgain: a client that is late only at first leaves a level's `while` open once; measured again
// the level holds, and the levels after it run.
func TestLateLevelAgain(t *testing.T) {
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}})
	var sent atomic.Int64
	late := lateBy(50 * time.Millisecond).Delay
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: s, load: {rate: {levels: {from: 10/s, to: 20/s, step: 10/s, while: latency.p50 < 60ms}}}, for: 500ms}
`, s.HTTPURL(), Env{Delay: func(id uint64) {
		if sent.Add(1) <= 5 { // the first try
			late(id)
		}
	}})
	if len(r.Nodes) != 2 || r.ExitCode != 0 {
		t.Fatalf("exit %d: %s; %d nodes", r.ExitCode, r.Reason, len(r.Nodes))
	}
	n := r.Nodes[0]
	if len(n.Attempts) < 2 || n.Attempts[0].Used || !n.Attempts[len(n.Attempts)-1].Used ||
		n.Finding(result.WhileOpen) != nil || n.Finding(result.MeasuredAgain) == nil {
		t.Errorf("attempts %+v, findings %+v", n.Attempts, n.Validity.Findings)
	}
}

// TestLateAbort: an assertion with `abort` ends a run only if it is false whatever the client's delay.
func TestLateAbort(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 0.5}, Instances: 64})
	for limit, ends := range map[string]bool{"28ms": true, "502ms": false} {
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: simple}
stages: [{id: s, load: {rate: 20/s}, for: 4s, assert: [{that: latency.p50 < %s, abort: true}]}]
`, limit), s.HTTPURL(), lateBy(5*time.Millisecond))
		if n := node(t, r, "s"); (n.Aborted != nil) != ends {
			t.Errorf("%s: aborted %+v, exit %d: %s", limit, n.Aborted, r.ExitCode, r.Reason)
		}
	}
}

// TestLateCompared: `confidence`, windows and repeats against a baseline are judged by the same bounds.
func TestLateCompared(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - id: s
    load: {rate: 25/s}
    for: 3s
    assert:
      - {that: latency.p50 < 22ms, confidence: 95%, every: 1s}
      - {that: latency.p50 < 5s, confidence: 95%, every: 1s}
      - {that: latency.p50 < 22ms, every: 1s}
      - {that: latency.p50 < 5s, every: 1s}
`, s.HTTPURL(), lateBy(5*time.Millisecond))
	for i, a := range node(t, r, "s").Assertions[:4] {
		open := i%2 == 0
		if (a.Verdict == result.Inconclusive) != open || (a.Verdict == result.Pass) == open ||
			(a.Cause == result.CauseClient) != open {
			t.Errorf("%s, confidence %v, every %v: %s, cause %q: %s", a.That, a.Confidence, a.Every,
				a.Verdict, a.Cause, a.Reason)
		}
	}
}

// TestLateAgainstBaseline: where repeats decide, a difference is proven only outside of what either client's
// delay leaves open. A median of 20 ms, measured as 25 ms by a late client, is between 5 and 30.5 ms; it is
// compared with one on time, and one on time with it.
func TestLateAgainstBaseline(t *testing.T) {
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}})
	late := lateBy(5 * time.Millisecond)
	run := func(top, assert string, e Env) *result.Result {
		return play(t, "version: 1\n"+top+`
target: {backend: kserve, url: URL, model: simple}
stages: [{id: s, load: {rate: 20/s}, for: 300ms, repeat: 6, assert: [`+assert+`]}]
`, s.HTTPURL(), e)
	}
	// 0.2, 22 and 800 ms of a baseline on time; a busy machine, which delays both, widens the bounds
	limits := []string{"0.01", "1.1", "40"}
	want := []result.Verdict{result.Fail, result.Inconclusive, result.Pass}
	for _, row := range []struct {
		name      string
		base, now Env
	}{{"a late client", Env{}, late}, {"a late baseline", late, Env{}}} {
		t.Run(row.name, func(t *testing.T) {
			base := run("", "latency.p50 < 5s", row.base)
			file := filepath.Join(t.TempDir(), "base.json")
			var b bytes.Buffer
			if err := result.Write(&b, base); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			var assert []string
			for _, x := range limits {
				that := "latency.p50 <= " + x + " * baseline.latency.p50"
				assert = append(assert, "{that: "+that+", confidence: 95%}")
			}
			r := run("baseline: "+file, strings.Join(assert, ", "), row.now)
			for i, a := range node(t, r, "s").Assertions[:len(limits)] {
				// a busy machine has bounds of its own
				byClient := a.Cause == result.CauseClient || a.Cause == result.CauseBounds
				if a.Verdict != want[i] || byClient != (want[i] == result.Inconclusive) {
					t.Errorf("%s: %s, cause %q: %s", a.That, a.Verdict, a.Cause, a.Reason)
				}
			}
		})
	}
}
