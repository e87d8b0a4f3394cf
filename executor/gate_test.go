package executor

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestGate breaks each way of measuring in each way that it can break, under every kind of gate. None of it may end as a
// pass: what was not measured, or not for long enough, or not by a client that was on time, is not proven.
func TestGate(t *testing.T) {
	gates := map[string]string{
		"latency":     "latency.p50 < 10s",
		"errors":      "errors.count == 0",
		"budget":      "{that: errors.ratio < 50%, confidence: 95%}",
		"rate":        "requests.rate > 0.01 * offered.rate",
		"windows":     "{that: latency.p50 < 10s, every: 100ms}",
		"from then":   "{that: latency.p50 < 10s, within: 200ms, every: 100ms}",
		"no data is":  "{that: latency.p50 < 10s, on_no_data: inconclusive}",
		"the default": "",
	}
	for what, c := range map[string]struct {
		config builtin.Config
		stage  string // besides id, load, assert
		env    func(s *builtin.Server) Env
		most   map[string]bool // gates that are true all the same, and may be
	}{
		"nothing is answered": {config: builtin.Config{Stall: &builtin.Stall{At: 0, For: 60e9}}, stage: "for: 300ms, drain: 0s"},
		"the server is gone": {stage: "for: 600ms, drain: 100ms", env: func(s *builtin.Server) Env {
			return Env{Events: once(func() { _ = s.Close() })}
		}, most: map[string]bool{"latency": true, "no data is": true, "rate": true, "budget": true}},
		"the client is late": {stage: "for: 400ms", env: func(*builtin.Server) Env {
			return Env{Delay: func(uint64) {
				for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
				}
			}}
		}},
		"it was cut short": {stage: "for: 60s, max_duration: 300ms"},
		"it was interrupted": {stage: "for: 60s", env: func(*builtin.Server) Env {
			interrupt := make(chan int, 1)
			return Env{Interrupt: interrupt, Events: once(func() { interrupt <- 2 })}
		}},
		"it is never stable": {stage: "until: {stable: {window: 60ms, windows: 3, within: 0.000001%, max_windows: 3, metrics: [latency.mean]}}"},
		"nothing is due":     {stage: "for: 400ms"},
	} {
		for gate, that := range gates {
			t.Run(what+", "+gate, func(t *testing.T) {
				t.Parallel()
				s, err := builtin.Start(t.Context(), c.config)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				assert := ""
				if that != "" {
					assert = ", assert: [" + that + "]"
				}
				var e Env
				if c.env != nil {
					e = c.env(s)
				}
				load := "{rate: 100/s}"
				if what == "nothing is due" {
					load = "{rate: 0.001/s, arrivals: poisson}"
				}
				r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s, connect_timeout: 100ms}
stages:
  - {id: s, load: %s, %s%s}
`, load, c.stage, assert), s.HTTPURL(), e)
				if r.ExitCode == 0 || r.Verdict == result.Pass {
					if n := r.Nodes[0]; !c.most[gate] || n.Assertions[0].Reason == "" {
						t.Errorf("%s passes: %s, %s %q, %+v", gate, r.Reason, n.Outcome, n.Reason, n.Assertions)
					}
				}
			})
		}
	}
}

// once calls f with the first event of the hold phase.
func once(f func()) func(Event) {
	done := false
	return func(e Event) {
		if e.Phase == PhaseHold && !done {
			done = true
			f()
		}
	}
}

// TestLostSamples: a request that was sent and left no sample makes the measurement invalid.
func TestLostSamples(t *testing.T) {
	for lost, valid := range map[int64]bool{0: true, 1: false, -1: false} {
		tr := &trial{out: &result.Node{Validity: result.Validity{OK: true}}, folded: 20 - lost}
		tr.control.Sent.Store(20)
		if tr.complete(); tr.out.Validity.OK != valid {
			t.Errorf("%d lost: valid is %v", lost, tr.out.Validity.OK)
		}
	}
}
