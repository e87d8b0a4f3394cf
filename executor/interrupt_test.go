package executor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestInterruptPhases: a signal in any phase ends the run soon, in order, with a whole result that
// says so.
func TestInterruptPhases(t *testing.T) {
	t.Parallel()
	deaf := listen(t)
	for _, transport := range []string{"http", "grpc"} {
		for _, c := range []struct {
			name, target, load, stage string
			at                        Phase
			held                      bool // the server answers nothing
		}{
			{"waiting for ready", "ready: 60s", "concurrency: 2", "for: 60s", PhaseOpen, false},
			{"describing", "ready: 0s, timeout: 60s", "concurrency: 2", "for: 60s", "", false},
			{"probing", "ready: 60s", "concurrency: 2", "for: 60s", "trial", true},
			{"warm-up", "ready: 0s", "concurrency: 2", "warmup: 60s, for: 60s", PhaseWarmup, false},
			{
				"warm-up of requests", "ready: 0s", "concurrency: 2", "warmup: 10 requests, for: 60s, drain: 0s",
				PhaseWarmup, true,
			},
			{"hold", "ready: 0s", "rate: 100/s", "for: 60s", PhaseHold, false},
			{"hold until stable", "ready: 0s", "rate: 100/s", "until: {stable: {window: 20s}}", PhaseHold, false},
			{"hold of requests", "ready: 0s", "concurrency: 2", "for: 1000000 requests, drain: 0s", PhaseHold, true},
			{"drain", "ready: 0s, timeout: 60s", "concurrency: 2", "for: 300ms, drain: 60s", PhaseDrain, true},
		} {
			t.Run(transport+" "+c.name, func(t *testing.T) {
				t.Parallel()
				w := watch(t, func(w *witness) {
					if w.dim = 4; c.held {
						w.hold = make(chan struct{})
					}
				})
				url := w.url(transport)
				if c.at == PhaseOpen || c.at == "" {
					url = transport + "://" + deaf
				}
				interrupt, ctx := make(chan int, 1), context.Background()
				ctx, cut := context.WithCancel(ctx)
				defer cut()
				var asked bool
				ask := func() {
					if !asked {
						asked = true
						interrupt <- 2
						if c.at == PhaseDrain { // an orderly end waits for the drain; a second signal does not
							cut()
						}
					}
				}
				switch c.at {
				case "", PhaseOpen:
					time.AfterFunc(100*time.Millisecond, func() { interrupt <- 2 })
				case "trial":
					go func() {
						until(func() bool { return len(w.all()) > 0 })
						interrupt <- 2
					}()
				default: // from an event
				}
				began := time.Now()
				p := compile(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: m, %s}
stages: [{id: s, load: {%s}, %s}, {id: t, load: {concurrency: 1}, for: 60s}]
`, c.target, c.load, c.stage), url)
				r, diags := Run(ctx, p, Env{Interrupt: interrupt, Events: func(e Event) {
					if e.Phase == c.at && e.Node == "s" && e.Live != nil {
						ask()
					}
				}})
				if len(diags) > 0 {
					t.Error(diags)
				}
				checkResult(t, r)
				if r.ExitCode != 130 || r.State != result.StatePartial || len(r.Nodes) != 2 ||
					node(t, r, "t").Outcome != result.SkippedNode {
					t.Errorf("exit %d, state %s, %d nodes: %s", r.ExitCode, r.State, len(r.Nodes), r.Reason)
				}
				if c.at == PhaseDrain &&
					!strings.Contains(findingsOf(node(t, r, "s")),
						"requests were still open when the run was cut off and cancelled") {
					t.Errorf("found: %s", findingsOf(node(t, r, "s")))
				}
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		}
	}
}

// TestInterrupt: the first signal ends the node in order; what follows is skipped; nothing is lost.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	interrupt := make(chan int, 1)
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: a, load: {concurrency: 2}, for: 60s}
  - {id: b, load: {concurrency: 2}, for: 60s}
assert: [stage("b").latency.p50 < 1s]
`, s.HTTPURL(), Env{Interrupt: interrupt, Events: func(e Event) {
		if e.Phase == PhaseHold && len(interrupt) == 0 {
			select {
			case interrupt <- 2:
			default:
			}
		}
	}})
	if r.ExitCode != 130 || r.State != result.StatePartial || r.Verdict != result.Interrupted {
		t.Errorf("exit %d, state %s, verdict %s", r.ExitCode, r.State, r.Verdict)
	}
	if a, b := node(t, r, "a"), node(t, r, "b"); a.Outcome != result.InterruptedNode ||
		b.Outcome != result.SkippedNode || count(a, "requests.count") == 0 {
		t.Errorf("outcomes %s, %s, %d requests", a.Outcome, b.Outcome, count(a, "requests.count"))
	}
}

// TestCutOffAtOnce: two signals between two looks of who steers are an interruption like any other.
func TestCutOffAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for _, load := range []string{
		"concurrency: 2}, for: 60s", "rate: 100/s}, for: 60s", "concurrency: 2}, for: 100000000 requests",
		"rate: 100/s}, until: {stable: {window: 20s}}",
	} {
		interrupt := make(chan int, 1)
		ctx, cut := context.WithCancel(t.Context())
		p := compile(t,
			"version: 1\ntarget: {backend: kserve, url: URL, model: simple}\nstages: [{id: s, load: {"+load+", assert: [requests.rate > 1000000/s]}]\n",
			s.HTTPURL())
		r, diags := Run(ctx, p, Env{Interrupt: interrupt, Events: func(e Event) {
			if e.Phase == PhaseHold && ctx.Err() == nil {
				interrupt <- 2
				cut()
			}
		}})
		if len(diags) > 0 {
			t.Error(diags)
		}
		checkResult(t, r)
		n := node(t, r, "s")
		if n.Outcome != result.InterruptedNode || !strings.Contains(n.Reason, "interrupted after") ||
			n.Assertions[0].Verdict != result.Inconclusive {
			t.Errorf("%s: %s, %q, %s", load, n.Outcome, n.Reason, n.Assertions[0].Verdict)
		}
		if r.ExitCode != 130 || r.State != result.StatePartial || n.Duration > 10 {
			t.Errorf("%s: exit %d, state %s, %v s", load, r.ExitCode, r.State, n.Duration)
		}
	}
}

// findingsOf are the texts of all of a node's.
func findingsOf(n *result.Node) string {
	var all []string
	for _, f := range n.Validity.Findings {
		all = append(all, f.Text)
	}
	return strings.Join(all, "\n")
}
