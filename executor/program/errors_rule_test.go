package program

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestErrorsRule: what is allowed to fail is said, or fails the run: whatever the plan says of a
// part of the errors leaves the rest under the built-in rule.
func TestErrorsRule(t *testing.T) {
	const none = "" // the rule asks nothing more
	for assert, rule := range map[string]string{
		"":                             "errors.count == 0",
		"latency.p50 < 1s":             "errors.count == 0",
		"errors.count == 0":            none,
		"errors.ratio <= 100%":         none,
		`stage("s").errors.ratio < 1%`: none,
		"errors.timeout.ratio < 1%":    "errors.count <= errors.timeout.count",
		"errors.timeout.ratio < 1% and errors.timeout.count < 5": "errors.count <= errors.timeout.count",
		// if all requests fail with one class, it is true
		"errors.timeout.ratio < 1% or errors.mismatch.count == 0": "errors.count == 0",
		`phase("up").errors.ratio < 1%`:                           `errors.count <= phase("up").errors.count`,
		`phase("up").mix("b").errors.reset.ratio < 1%`:            `errors.count <= phase("up").mix("b").errors.reset.count`,
		`mix("a").errors.ratio < 1% and mix("b").errors.ratio < 1%`: `errors.count <= mix("a").errors.count + ` +
			`mix("b").errors.count`,
		`mix("a").errors.ratio < 1% and errors.ratio < 1%`:       none,
		`stage("before").errors.count == 0 and latency.p50 < 1s`: "errors.count == 0",
		// which is not there, and so it is skipped
		"errors.count <= baseline.errors.count":                              "errors.count == 0",
		"errors.count <= baseline.errors.count and errors.timeout.count < 5": "errors.count == 0",
	} {
		text := assert
		if text != "" {
			text = "    assert: ['" + assert + "']\n"
		}
		p := compile(t, `
version: 1
target: {backend: kserve, url: "http://localhost:1", model: m}
baseline: {file: missing.json, if_missing: skip}
stages:
  - {id: before, load: {concurrency: 1}, for: 1s}
  - id: s
    load: {rate: {ramp: [{to: 10/s, hold: 1s, name: up}]}}
    mix: {a: {}, b: {batch: 2}}
`+text)
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

// TestLimitsOnErrors: a condition limits errors if it is false when every request fails. One that
// is not is no mention of them: the rule stays, and a warning stands at the condition.
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
		{
			"errors.timeout.count == 0 and errors.dial.count < 3",
			"errors.count <= errors.timeout.count + errors.dial.count", false,
		},
		{"errors.count == errors.timeout.count", "errors.count <= errors.dial.count + errors.tls.count + " +
			"errors.write.count + errors.reset.count + " +
			"errors.status.count + errors.protocol.count + errors.decode.count + errors.mismatch.count + " +
			"errors.cancelled.count + errors.server.count + errors.client.count", false},
	} {
		for _, severity := range []string{"gate", "warn"} {
			rule, warned := c.rule, c.warned
			if severity == "warn" {
				rule, warned = full, false
			}
			p, warnings := compileWarned(t, `
version: 1
target: {backend: kserve, url: "http://localhost:1", model: m}
vars: {any: 100%}
stages:
  - {id: before, load: {concurrency: 1}, for: 1s}
  - id: s
    load: {rate: 10/s}
    for: 1s
    goodput: {latency: 1s}
    mix: {a: {}, b: {batch: 2}}
    assert: [{that: '`+c.that+`', severity: `+severity+`}, "late.ratio <= ${any}"]
`)
			got := none
			if last := p.Nodes[1].Checks[len(p.Nodes[1].Checks)-1].Assertion; last.ID == DefaultErrors {
				got = last.That.Text
			}
			if got != rule {
				t.Errorf("%s (%s): the built-in rule is %q, want %q", c.that, severity, got, rule)
			}
			at := slices.IndexFunc(warnings, func(d source.Diagnostic) bool { return d.Code == "no-error-limit" })
			if warned != (at >= 0) {
				t.Errorf("%s (%s): warnings %v", c.that, severity, warnings)
			}
			if at >= 0 &&
				(warnings[at].Pos.Line != 12 || !strings.Contains(warnings[at].Detail, "errors.ratio < 1%")) {
				t.Errorf("%s: %+v", c.that, warnings[at])
			}
		}
	}
}
