package executor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestErrorsRule: what is allowed to fail is said, or fails the run: whatever the plan says of a part of the errors leaves
// the rest under the built-in rule.
func TestErrorsRule(t *testing.T) {
	const none = "" // the rule asks nothing more
	for assert, rule := range map[string]string{
		"":                             "errors.count == 0",
		"latency.p50 < 1s":             "errors.count == 0",
		"errors.count == 0":            none,
		"errors.ratio <= 100%":         none,
		`stage("s").errors.ratio < 1%`: none,
		"errors.timeout.ratio < 1%":    "errors.count <= errors.timeout.count",
		"errors.timeout.ratio < 1% and errors.timeout.count < 5":             "errors.count <= errors.timeout.count",
		"errors.timeout.ratio < 1% or errors.mismatch.count == 0":            "errors.count == 0", // if all requests fail with one class, it is true
		`phase("up").errors.ratio < 1%`:                                      `errors.count <= phase("up").errors.count`,
		`phase("up").mix("b").errors.reset.ratio < 1%`:                       `errors.count <= phase("up").mix("b").errors.reset.count`,
		`mix("a").errors.ratio < 1% and mix("b").errors.ratio < 1%`:          `errors.count <= mix("a").errors.count + mix("b").errors.count`,
		`mix("a").errors.ratio < 1% and errors.ratio < 1%`:                   none,
		`stage("before").errors.count == 0 and latency.p50 < 1s`:             "errors.count == 0",
		"errors.count <= baseline.errors.count":                              "errors.count == 0", // which is not there, and so it is skipped
		"errors.count <= baseline.errors.count and errors.timeout.count < 5": "errors.count == 0",
	} {
		text := assert
		if text != "" {
			text = "    assert: ['" + assert + "']\n"
		}
		p := compile(t, `
version: 1
target: {backend: kserve, url: URL, model: m}
baseline: {file: missing.json, if_missing: skip}
stages:
  - {id: before, load: {concurrency: 1}, for: 1s}
  - id: s
    load: {rate: {ramp: [{to: 10/s, hold: 1s, name: up}]}}
    mix: {a: {}, b: {batch: 2}}
`+text, "http://localhost:1")
		n := p.Nodes[len(p.Nodes)-1]
		last, got := n.Checks[len(n.Checks)-1].Assertion, none
		if last.ID == DefaultErrors {
			got = last.That.Text
		}
		if got != rule {
			t.Errorf("%q: the built-in rule is %q, want %q", assert, got, rule)
		}
		if got != none && !strings.Contains(last.Description, "write one") {
			t.Errorf("%q: %s", assert, last.Description)
		}
	}
}

// TestLimitsOnErrors: a condition limits errors if it is false when every request fails. One that is not is no mention of
// them: the rule stays, and a warning stands at the condition.
func TestLimitsOnErrors(t *testing.T) {
	const (
		none = ""
		full = "errors.count == 0"
	)
	for _, c := range []struct {
		that, rule string
		warned     bool
	}{
		{"errors.count <= requests.count", full, true},
		{"errors.count >= 0", full, true},
		{"errors.status.count >= 0", full, true},
		{"errors.ratio >= 0%", full, true},
		{"errors.ratio < 101%", full, true},
		{"errors.ratio <= 200%", full, true},
		{"0 * errors.count == 0", full, true},
		{"min(errors.count, 0) == 0", full, true},
		{"errors.count - errors.count == 0", full, true},
		{"errors.count / errors.count < 2", full, true},
		{"errors.count == 0 or errors.count != 0", full, true},
		{"errors.count == 0 or requests.count > 0", full, true},
		{"errors.ratio < 1% or latency.p50 < 1s", full, true},
		{"errors.ratio <= 100% or latency.p50 < 1s", full, true},
		{"errors.ratio <= 100% and latency.p50 < 1s", full, true},
		{"errors.count < 10% * offered.rate * 1s", full, true},
		{"errors.count <= 10", full, true}, // so many are planned
		{"errors.count != 10", full, true},
		{`mix("a").errors.count <= 5`, full, true},
		{`errors.count <= stage("before").requests.count`, full, true},
		{`errors.timeout.count <= stage("before").requests.count`, full, true},
		{"errors.timeout.count == 0 or errors.dial.count == 0", full, true},
		{"requests.count > 0", full, false},
		{"goodput.ratio > 99%", full, false},
		{`stage("before").errors.count == 0`, full, false},

		{"errors.ratio <= 100%", none, false},
		{"100% >= errors.ratio", none, false},
		{"errors.ratio <= ${any}", none, false},
		{"errors.ratio < 100%", none, false},
		{"errors.count < 5", none, false},
		{"errors.count < requests.count", none, false},
		{"errors.count <= 1% * requests.count", none, false},
		{"errors.count / requests.count < 1%", none, false},
		{"100% - errors.ratio >= 99%", none, false},
		{"requests.count - errors.count >= 0.99 * requests.count", none, false},
		{"errors.count <= throughput * 1s", none, false},
		{"errors.ratio < 1% and latency.p50 < 1s", none, false},
		{"not (errors.count > 0 or latency.p50 > 1s)", none, false},
		{`errors.count <= stage("before").errors.count`, none, false},
		{`errors.ratio <= stage("before").errors.ratio + 1%`, none, false},
		{"max(errors.timeout.ratio, errors.ratio) < 1%", none, false},

		{"errors.timeout.ratio <= 100%", "errors.count <= errors.timeout.count", false},
		{`mix("a").errors.ratio <= 100%`, `errors.count <= mix("a").errors.count`, false},
		{`mix("a").errors.count < 5`, `errors.count <= mix("a").errors.count`, false},
		{"errors.timeout.count == 0 and errors.dial.count < 3", "errors.count <= errors.timeout.count + errors.dial.count", false},
		{"errors.count == errors.timeout.count", "errors.count <= errors.dial.count + errors.tls.count + errors.write.count + errors.reset.count + " +
			"errors.status.count + errors.protocol.count + errors.decode.count + errors.mismatch.count + errors.cancelled.count + errors.server.count + errors.client.count", false},
	} {
		for _, severity := range []string{"gate", "warn"} {
			rule, warned := c.rule, c.warned
			if severity == "warn" {
				rule, warned = full, false
			}
			p := compile(t, `
version: 1
target: {backend: kserve, url: URL, model: m}
vars: {any: 100%}
stages:
  - {id: before, load: {concurrency: 1}, for: 1s}
  - id: s
    load: {rate: 10/s}
    for: 1s
    goodput: {latency: 1s}
    mix: {a: {}, b: {batch: 2}}
    assert: [{that: '`+c.that+`', severity: `+severity+`}, "late.ratio <= ${any}"]
`, "http://localhost:1")
			got := none
			if last := p.Nodes[1].Checks[len(p.Nodes[1].Checks)-1].Assertion; last.ID == DefaultErrors {
				got = last.That.Text
			}
			if got != rule {
				t.Errorf("%s (%s): the built-in rule is %q, want %q", c.that, severity, got, rule)
			}
			at := slices.IndexFunc(p.Warnings, func(d source.Diagnostic) bool { return d.Code == codeNoLimit })
			if warned != (at >= 0) {
				t.Errorf("%s (%s): warnings %v", c.that, severity, p.Warnings)
			}
			if at >= 0 && (p.Warnings[at].Pos.Line != 12 || !strings.Contains(p.Warnings[at].Detail, "errors.ratio < 1%")) {
				t.Errorf("%s: %+v", c.that, p.Warnings[at])
			}
		}
	}
}

// TestErrorsThatNothingAllows: a budget for some errors is none for the others.
func TestErrorsThatNothingAllows(t *testing.T) {
	for _, c := range []struct {
		config       builtin.Config
		keys, reason string
		exit         int
	}{
		{builtin.Config{Errors: 1}, "assert: [errors.mismatch.count == 0]", "errors.count is 40, the limit is 0 = errors.mismatch.count", 1},
		{builtin.Config{Errors: 1}, "assert: [errors.status.ratio <= 100%]", "no request of s succeeded: failures: 40 status", 3},
		{builtin.Config{Errors: 0.5, Seed: 3}, "assert: [errors.status.ratio <= 100%]", "2 assertions passed", 0},
		{builtin.Config{Errors: 0.5, Seed: 3}, "mix: {a: {}, b: {batch: 2}}, assert: ['mix(\"a\").errors.ratio <= 100%']", `= mix("a").errors.count`, 1},
		{builtin.Config{}, "mix: {a: {}, b: {batch: 2}}, assert: ['mix(\"a\").errors.ratio <= 100%']", "2 assertions passed", 0},
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
		if c.exit == 1 && (!strings.Contains(r.Reason, "failures: ") || !strings.Contains(r.Reason, "how many other errors are allowed")) {
			t.Errorf("%s: the reason does not say what failed and what to do: %s", c.keys, r.Reason)
		}
	}
}

// TestAdviceOnErrors: where the errors rule fails it says what to do about the failures that there are most of; a budget is
// the advice only where few requests failed.
func TestAdviceOnErrors(t *testing.T) {
	p := compile(t, "version: 1\ntarget: {backend: kserve, url: URL, model: m, timeout: 5ms}\nstages: [{id: s, load: {concurrency: 1}, for: 100 requests}]\n", "http://localhost:1")
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
	for class, want := range map[string]string{"timeout": "`timeout` of target main, 5ms", "dial": "`url`", "status": "what the server says", "mismatch": "`expect`"} {
		if got := whatToDo(p.Nodes[0], out(class, 93)); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
	s := serve(t, builtin.Config{Stall: &builtin.Stall{For: time.Minute}})
	r := play(t, "version: 1\ntarget: {backend: kserve, url: URL, model: simple, ready: 0s, timeout: 20ms}\nstages: [{id: s, load: {concurrency: 1}, for: 5 requests}]\n", s.HTTPURL(), Env{})
	if r.ExitCode != 1 || !strings.Contains(r.Reason, "are allowed: look at `timeout` of target main, 20ms") {
		t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
	}
}
