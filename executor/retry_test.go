package executor

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// firstTrials returns a hook for Env by which a sample of the first n trials of each node is lost.
func firstTrials(n int) func(trial int) int64 {
	return func(trial int) int64 {
		if trial < n {
			return 1
		}
		return 0
	}
}

// attemptsOf describes the attempts at a node: "repeat outcome" each, with a ! for the one that counts.
func attemptsOf(n *result.Node) string {
	var all []string
	for _, a := range n.Attempts {
		text := string('0'+rune(a.Repeat)) + " " + string(a.Outcome)
		if a.Used {
			text += "!"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

const loneStage = `
version: 1
seed: 3
target: {backend: kserve, url: URL, model: simple}
stages: [{id: s, load: {concurrency: 1}, for: 20 requests, assert: [requests.count == 20, errors.count == 0]}]
`

// TestRetryInvalid: a trial that this client made invalid is played again, and the last attempt counts.
func TestRetryInvalid(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name          string
		retries, lost int
		code          int
		attempts      string
	}{
		{"no retries", 0, 1, 5, ""},
		{"valid at once", 2, 0, 0, ""},
		{"valid at the second", 2, 1, 0, "0 invalid, 0 done!"},
		{"never", 2, 9, 5, "0 invalid, 0 invalid, 0 invalid!"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{})
			var again []string
			r := play(t, loneStage, s.HTTPURL(), Env{
				RetryInvalid: row.retries, lost: firstTrials(row.lost), Events: func(e Event) {
					if e.Text != "" && e.Node != "" {
						again = append(again, e.Text)
					}
				},
			})
			n := r.Nodes[0]
			if got := attemptsOf(n); r.ExitCode != row.code || got != row.attempts {
				t.Errorf("exit %d, attempts %q; %s", r.ExitCode, got, r.Reason)
			}
			if n.Probes != 1 || count(n, "requests.count") != 20 {
				t.Errorf("%d probes, %v requests", n.Probes, count(n, "requests.count"))
			}
			if got := len(arrivals(t, s)); got != 1+20*max(1, len(n.Attempts)) {
				t.Errorf("the server saw %d requests", got)
			}
			if f := n.Finding(result.MeasuredAgain); (f != nil) != (len(n.Attempts) > 0) ||
				f != nil && !strings.Contains(f.Text, "attempt 1: 1 of 20 requests left no sample") {
				t.Errorf("finding %+v", f)
			}
			if len(again) != max(0, len(n.Attempts)-1) {
				t.Errorf("said: %q", again)
			}
		})
	}
}

// TestRetryInvalidRepeats: of several repeats those are played again that were invalid.
func TestRetryInvalidRepeats(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, strings.Replace(loneStage, "for: 20 requests, assert: [requests.count == 20",
		"for: 20 requests, repeat: 2, assert: [requests.count == 40", 1), s.HTTPURL(),
		Env{RetryInvalid: 3, lost: func(trial int) int64 { return int64(trial % 2) }})
	if got := attemptsOf(r.Nodes[0]); got != "1 invalid, 1 done!" || len(r.Nodes[0].Repeats) != 2 {
		t.Errorf("exit %d, attempts %q, %s", r.ExitCode, got, r.Reason)
	}
}

// TestRetryInvalidGroup: a group is played again as a whole.
func TestRetryInvalidGroup(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - parallel:
      - {id: a, load: {concurrency: 1}, for: 20 requests}
      - {id: b, load: {concurrency: 1}, until: others}
  - {id: c, load: {concurrency: 1}, for: 20 requests}
`, s.HTTPURL(), Env{RetryInvalid: 1, lost: firstTrials(1)})
	for _, id := range []string{"a", "b", "c"} {
		n := node(t, r, id)
		if got := attemptsOf(n); got != "0 invalid, 0 done!" || n.Probes != map[bool]int{true: 1}[id == "a"] {
			t.Errorf("%s: attempts %q, %d probes: %s", id, got, n.Probes, n.Reason)
		}
	}
	if len(r.Nodes) != 3 || r.ExitCode != 0 {
		t.Errorf("exit %d, %d nodes: %s", r.ExitCode, len(r.Nodes), r.Reason)
	}
}

// TestRetryInvalidSearch: the trial of a search is measured up to three times in any case, and more often
// if the user wants it.
func TestRetryInvalidSearch(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: s, load: {concurrency: {search: {from: 1, to: 2, confirm: 1, while: latency.p50 < 10s}}}, for: 20 requests}
`, s.HTTPURL(), Env{RetryInvalid: 4, lost: firstTrials(4)})
	if n := r.Nodes[0]; len(n.Trials) < 5 || n.Trials[3].Outcome != result.Invalid ||
		n.Trials[4].Outcome != result.Done || n.Attempts != nil || r.ExitCode != 0 {
		t.Errorf("exit %d, %d trials: %s", r.ExitCode, len(n.Trials), r.Reason)
	}
}

// TestRetryOpenPlan: a gate of the plan that a late client leaves open is reason to play the last of its stages
// again, alone or with its group.
func TestRetryOpenPlan(t *testing.T) {
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}})
	late := lateBy(50 * time.Millisecond).Delay
	for name, stages := range map[string]string{
		"a stage": "{id: b, load: {rate: 10/s}, for: 500ms}",
		"a group": "{parallel: [{id: b, load: {rate: 10/s}, for: 500ms}]}",
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages: [{id: a, load: {concurrency: 1}, for: 5 requests}, `+stages+`]
assert: [stage("b").latency.p50 < 60ms, stage("a").latency.p50 < 60ms]
`, s.HTTPURL(), Env{RetryInvalid: 3, Delay: func(id uint64) {
				if sent.Add(1) <= 5 { // the first attempt
					late(id)
				}
			}})
			n := node(t, r, "b")
			if r.ExitCode != 0 || len(node(t, r, "a").Attempts) > 0 || len(n.Attempts) < 2 ||
				!strings.HasPrefix(n.Attempts[0].Reason, "plan/1: ") {
				t.Errorf("exit %d: %s; attempts %+v", r.ExitCode, r.Reason, n.Attempts)
			}
		})
	}
}

// TestRetryInvalidInTime: no attempt begins that would not end within max_duration, of stage or run.
func TestRetryInvalidInTime(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][2]string{
		"of the stage": {"", ", max_duration: 1500ms"},
		"of the run":   {"max_duration: 1500ms\n", ""},
		"of a group":   {"", ", max_duration: 1500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := "{id: s, load: {concurrency: 1}, for: 800ms" + keys[1] + "}"
			if name == "of a group" {
				stage = "{parallel: [" + stage + "]}"
			}
			s := serve(t, builtin.Config{})
			r := play(t, "version: 1\n"+keys[0]+"target: {backend: kserve, url: URL, model: simple}\nstages: ["+
				stage+"]\n", s.HTTPURL(), Env{RetryInvalid: 5, lost: firstTrials(9)})
			if r.ExitCode != 5 || r.State != result.StateDone || r.Nodes[0].Attempts != nil {
				t.Errorf("exit %d, %s, attempts %q", r.ExitCode, r.Reason, attemptsOf(r.Nodes[0]))
			}
		})
	}
}

// TestOpenByClient: what is played again, and never what failed for sure.
func TestOpenByClient(t *testing.T) {
	is := func(v result.Verdict, c result.Cause) result.Assertion {
		return result.Assertion{ID: "s/1", Severity: result.Gate, Verdict: v, Cause: c}
	}
	open, fail := is(result.Inconclusive, result.CauseClient), is(result.Fail, "")
	warning := open
	warning.Severity = result.Warn
	for name, row := range map[string]struct {
		outcome result.Outcome
		gates   []result.Assertion
		want    bool
	}{
		"valid": {result.Done, []result.Assertion{is(result.Pass, "")}, false},
		"invalid": {
			result.Invalid, []result.Assertion{is(result.Inconclusive, result.CauseInvalid)}, true,
		},
		"open by the client":           {result.Done, []result.Assertion{is(result.Pass, ""), open}, true},
		"open by the client, one fail": {result.Done, []result.Assertion{fail, open}, false},
		"a warning is open":            {result.Done, []result.Assertion{warning}, false},
		"too few samples": {
			result.Done, []result.Assertion{is(result.Inconclusive, result.CauseSamples)}, false,
		},
		"not set up": {result.Failed, nil, false},
	} {
		n := &result.Node{Outcome: row.outcome, Reason: "because", Assertions: row.gates}
		if got := clientCause(n) != "" && !fails(n); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAllowInconclusive: an inconclusive run ends with 0 where the user allows it, and keeps its verdict; one
// without data keeps its code too.
func TestAllowInconclusive(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		lost    int
		assert  string
		code    int
		allowed bool
	}{
		"invalid":     {1, "latency.p50 < 10s", 0, true},
		"few samples": {0, "latency.p99 < 10s", 0, true},
		"passes":      {0, "latency.p50 < 10s", 0, false},
		"fails":       {0, "latency.p50 < 1ns", 1, false},
		"few and no data": {
			0, "latency.p99 < 10s, errors.timeout.count < baseline.errors.timeout.count", 3, false,
		},
		"invalid, and without its baseline": {
			1, "latency.p50 < baseline.latency.p50", 5, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{})
			r := play(t, "version: 1\ntarget: {backend: kserve, url: URL, model: simple}\nbaseline: none.json\n"+
				"stages: [{id: s, load: {concurrency: 1}, for: 20 requests, assert: ["+row.assert+"]}]\n",
				s.HTTPURL(), Env{AllowInconclusive: true, lost: firstTrials(row.lost)})
			inconclusive := row.allowed || row.code == 3 || row.code == 5
			if r.ExitCode != row.code || r.Allowed != row.allowed ||
				(r.Verdict == result.Inconclusive) != inconclusive {
				t.Errorf("exit %d, %s, allowed %v: %s", r.ExitCode, r.Verdict, r.Allowed, r.Reason)
			}
			if why := r.WhyNotComparable(); (why == "") != (r.Verdict == result.Pass) {
				t.Errorf("as a baseline: %q", why)
			}
		})
	}
}
