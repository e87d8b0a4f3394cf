package executor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

const twoPoints = `
version: 1
seed: 4
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: ab, matrix: {batch: [1, 2]}, batch: '${matrix.batch}', repeat: 4, load: {rate: 500/s, arrivals: poisson}, for: 20 requests, goodput: {latency: 10s}}
`

// TestRepeat: repeats go over the points, every second in reverse. A point has one result: its
// numbers are those of all repeats, which differ in their draws and are listed.
func TestRepeat(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	var order []string
	r := play(t, twoPoints, s.HTTPURL(), Env{Events: func(e Event) {
		if e.Phase == PhaseOpen && e.Node != "" {
			order = append(order, strings.TrimSuffix(strings.TrimPrefix(e.Node, "ab[batch="), "]"))
		}
	}})
	if got := strings.Join(order, " "); got != "1 2 2 1 1 2 2 1" {
		t.Errorf("repeats: %s", got)
	}
	if len(r.Nodes) != 2 {
		t.Fatalf("%d nodes", len(r.Nodes))
	}
	for _, n := range r.Nodes {
		if len(n.Repeats) != 4 || count(n, "requests.count") != 80 ||
			n.Outcome != result.Done && n.Outcome != result.Invalid {
			t.Errorf("%s: %d repeats, %d requests, %s", n.ID, len(n.Repeats), count(n, "requests.count"), n.Outcome)
		}
		sum := 0.0
		var lengths []string
		for i, repeat := range n.Repeats {
			sum += repeat.Duration
			lengths = append(lengths, fmt.Sprint(repeat.Duration))
			if repeat.Repeat != i {
				t.Errorf("repeat %d is called %d", i, repeat.Repeat)
			}
		}
		slices.Sort(lengths)
		if sum != n.Duration || len(slices.Compact(lengths)) != 4 {
			t.Errorf("%s: %v s of %v in repeats of %v", n.ID, n.Duration, sum, lengths)
		}
		if n.Metrics["goodput.ratio"] == nil || len(n.Assertions) != 1 {
			t.Errorf("%s: %v", n.ID, n.Assertions)
		}
	}
	if got := len(arrivals(t, s)); got != 161 {
		t.Errorf("the server saw %d requests, want 160 and one before", got)
	}
}

// TestRepeatInterrupted: what some repeats gave is shown as far as it goes, and proves nothing.
func TestRepeatInterrupted(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	interrupt := make(chan int, 1)
	began := 0
	r := play(t, twoPoints, s.HTTPURL(), Env{Interrupt: interrupt, Events: func(e Event) {
		if e.Phase == PhaseOpen && e.Node != "" {
			if began++; began == 3 {
				interrupt <- 2
			}
		}
	}})
	if r.ExitCode != 130 || r.State != result.StatePartial || len(r.Nodes) != 2 {
		t.Fatalf("exit %d, %d nodes", r.ExitCode, len(r.Nodes))
	}
	for _, n := range r.Nodes {
		if n.Outcome != result.InterruptedNode || len(n.Repeats) == 0 ||
			n.Assertions[0].Verdict != result.Inconclusive {
			t.Errorf("%s: %s %q, %d repeats, %s", n.ID, n.Outcome, n.Reason, len(n.Repeats), n.Assertions[0].Verdict)
		}
	}
}
