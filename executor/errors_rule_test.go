package executor

import (
	"strings"
	"testing"
)

// TestErrorsRule: the built-in rule stands beside whatever says nothing about the node's own errors.
func TestErrorsRule(t *testing.T) {
	for assert, built := range map[string]bool{
		"":                              true,
		"latency.p50 < 1s":              true,
		"errors.count == 0":             false,
		"errors.timeout.ratio < 1%":     false,
		`stage("s").errors.ratio < 1%`:  false,
		`phase("up").errors.ratio < 1%`: false,
		`mix("a").errors.ratio < 1%`:    false,
		`stage("before").errors.count == 0 and latency.p50 < 1s`: true,
	} {
		if assert != "" {
			assert = "    assert: ['" + assert + "']\n"
		}
		p := compile(t, `
version: 1
target: {backend: kserve, url: URL, model: m}
stages:
  - {id: before, load: {concurrency: 1}, for: 1s}
  - id: s
    load: {rate: {ramp: [{to: 10/s, hold: 1s, name: up}]}}
    mix: {a: {}, b: {batch: 2}}
`+assert, "http://localhost:1")
		n := p.Nodes[len(p.Nodes)-1]
		last := n.Checks[len(n.Checks)-1].Assertion
		if got := last.ID == DefaultErrors; got != built {
			t.Errorf("%q: the built-in rule is there: %v", assert, got)
		}
		if built && !strings.Contains(last.Description, "write one") {
			t.Errorf("%q: %s", assert, last.Description)
		}
	}
}
