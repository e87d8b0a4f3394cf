package executor

import (
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestGoodput: a request is good when it keeps every bound; failed ones never are, and they are in
// the denominator.
func TestGoodput(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{Errors: 0.25, Seed: 3})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
validity: {send_delay: 1s, pause: 1s} # a busy machine is on time
stages:
  - id: easy
    load: {concurrency: 2}
    for: 400 requests
    goodput: {latency: 10s, first_response: 10s}
    assert: [goodput.ratio > 50%, goodput > 0/s, errors.ratio < 50%]
  - id: hard
    load: {rate: 200/s}
    for: 1s
    goodput: {latency: 1us}
    assert: [{that: goodput.ratio > 50%, id: hard}, errors.ratio < 50%]
  - {id: none, load: {concurrency: 1}, for: 5 requests, assert: [errors.ratio < 100%]}
`, s.HTTPURL(), Env{})
	n := node(t, r, "easy")
	ok, all := float64(*n.Metrics["latency"].Count), value(t, n, "requests.count")
	if v, _ := n.Metrics["goodput.ratio"].Stat(metric.Stat{}); v != ok/all || ok == all {
		t.Errorf("goodput.ratio is %v, %v of %v were answered well", v, ok, all)
	}
	if good, _ := n.Metrics["goodput"].Stat(metric.Stat{}); good != value(t, n, "requests.rate") {
		t.Errorf("goodput is %v, requests.rate %v", good, value(t, n, "requests.rate"))
	}
	if v, has := node(t, r, "hard").Metrics["goodput.ratio"].Stat(metric.Stat{}); v != 0 || !has {
		t.Errorf("hard: goodput.ratio is %v, %v", v, has)
	}
	if a := assertionOf(t, r, "hard"); node(t, r, "hard").Validity.OK &&
		(a.Verdict != result.Fail || r.ExitCode != 1) {
		t.Errorf("hard: %s %s, exit %d", a.Verdict, a.Reason, r.ExitCode)
	}
	if m := node(t, r, "none").Metrics["goodput"]; m != nil {
		t.Errorf("a stage that says nothing of goodput has one: %+v", m)
	}
}
