package executor

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
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
		"errors.timeout.ratio < 1% or errors.mismatch.count == 0":            "errors.count <= errors.timeout.count + errors.mismatch.count",
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

// TestErrorsThatNothingAllows: a budget for some errors is none for the others.
func TestErrorsThatNothingAllows(t *testing.T) {
	for _, c := range []struct {
		config       builtin.Config
		keys, reason string
		exit         int
	}{
		{builtin.Config{Errors: 1}, "assert: [errors.mismatch.count == 0]", "errors.count is 40, the limit is 0 = errors.mismatch.count", 1},
		{builtin.Config{Errors: 1}, "assert: [errors.status.ratio <= 100%]", "2 assertions passed", 0},
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
