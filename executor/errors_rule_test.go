package executor

import (
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestErrorsThatNothingAllows: a budget for some errors is none for the others.
func TestErrorsThatNothingAllows(t *testing.T) {
	for _, c := range []struct {
		config       builtin.Config
		keys, reason string
		exit         int
	}{
		{
			builtin.Config{Errors: 1},
			"assert: [errors.mismatch.count == 0]",
			"errors.count is 40, the limit is 0 = errors.mismatch.count", 1,
		},
		{
			builtin.Config{Errors: 1},
			"assert: [errors.status.ratio <= 100%]",
			"no request of s succeeded: failures: 40 status", 3,
		},
		{builtin.Config{Errors: 0.5, Seed: 3}, "assert: [errors.status.ratio <= 100%]", "2 assertions passed", 0},
		{
			builtin.Config{Errors: 0.5, Seed: 3},
			"mix: {a: {}, b: {batch: 2}}, assert: ['mix(\"a\").errors.ratio <= 100%']", `= mix("a").errors.count`, 1,
		},
		{
			builtin.Config{},
			"mix: {a: {}, b: {batch: 2}}, assert: ['mix(\"a\").errors.ratio <= 100%']",
			"2 assertions passed", 0,
		},
	} {
		s := serve(t, c.config)
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages: [{id: s, load: {concurrency: 1}, for: 40 requests, `+c.keys+`}]
`, s.HTTPURL(), Env{})
		if r.ExitCode != c.exit || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: exit %d: %s", c.keys, r.ExitCode, r.Reason)
		}
		if c.exit == 1 &&
			(!strings.Contains(r.Reason, "failures: ") || !strings.Contains(r.Reason,
				"how many other errors are allowed")) {
			t.Errorf("%s: the reason does not say what failed and what to do: %s", c.keys, r.Reason)
		}
	}
}

// TestAdviceOnErrors: where the errors rule fails it says what to do about the failures that there
// are most of; a budget is the advice only where few requests failed.
func TestAdviceOnErrors(t *testing.T) {
	p := compile(t,
		"version: 1\ntarget: {backend: kserve, url: URL, model: m, timeout: 5ms}\nstages: [{id: s, load: "+
			"{concurrency: 1}, for: 100 requests}]\n",
		"http://localhost:1")
	out := func(class string, failed float64) *result.Node {
		ratio := failed / 100
		return &result.Node{
			Metrics: map[string]*result.Metric{metric.ErrorsRatio: {Unit: "ratio", Value: &ratio}},
			Errors:  []result.ErrorClass{{Class: class, Count: int64(failed)}, {Class: "other", Count: 1}},
		}
	}
	for _, class := range metric.ErrorClasses() {
		few, many := whatToDo(p.Nodes[0], out(class, 4)), whatToDo(p.Nodes[0], out(class, 93))
		if !strings.Contains(few, "write a budget") || many == few {
			t.Errorf("%s: few %q, many %q", class, few, many)
		}
	}
	for class, want := range map[string]string{
		"timeout": "`timeout` of target main, 5ms", "dial": "`url`", "status": "what the server says",
		"mismatch": "`expect`",
	} {
		if got := whatToDo(p.Nodes[0], out(class, 93)); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
	s := serve(t, builtin.Config{Stall: &builtin.Stall{For: time.Minute}})
	r := play(t,
		"version: 1\ntarget: {backend: kserve, url: URL, model: simple, ready: 0s, timeout: 20ms}\nstages: "+
			"[{id: s, load: {concurrency: 1}, for: 5 requests}]\n",
		s.HTTPURL(), Env{})
	if r.ExitCode != 1 || !strings.Contains(r.Reason, "are allowed: look at `timeout` of target main, 20ms") {
		t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
	}
}
