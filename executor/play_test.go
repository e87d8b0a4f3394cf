package executor

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// file writes a file for a plan to read.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoads: each load sends as many requests as it says, over as long as it says, and counts those
// of its holds.
func TestLoads(t *testing.T) {
	t.Parallel()
	gaps := file(t, "gaps.txt", strings.Repeat("5000\n", 40))
	times := file(t, "times.csv", "timestamp\n0\n50\n60\n200\n400\n")
	for _, c := range []struct {
		name, stage   string
		sent, counted int
		length        float64 // s; 0: whatever
	}{
		{
			"a ramp of rates",
			"load: {rate: {ramp: [{to: 100/s, over: 400ms, hold: 300ms}, {to: 200/s, hold: 200ms, name: top}]}}",
			20 + 30 + 40, 70, 0.9,
		},
		{"a ramp that is held", "load: {rate: {ramp: [{to: 100/s, over: 200ms}]}}, for: 500ms", 10 + 30, 30, 0.5},
		{"a ramp that is cut", "load: {rate: {ramp: [{to: 100/s, hold: 10s}]}}, for: 300ms", 30, 30, 0.3},
		{
			"a ramp after a warm-up", "warmup: 10 requests, load: {rate: {ramp: [{to: 100/s, hold: 300ms}]}}", 40, 30,
			0.3,
		},
		{"gaps of a file", "load: {intervals: {file: " + gaps + ", unit: us, at_end: stop}}", 40, 40, 0},
		{
			"gaps that start at once", "load: {intervals: {file: " + gaps + ", unit: us, first: zero, at_end: stop}}",
			41, 41, 0,
		},
		{"gaps again and again", "load: {intervals: {file: " + gaps + ", unit: us}}, for: 60 requests", 60, 60, 0},
		{"times of a file", "load: {schedule: {file: " + times + ", unit: ms, speed: 2}}", 5, 5, 0},
		{
			"times of a file from a time to another",
			"load: {schedule: {file: " + times + ", unit: ms, from: 40ms, to: 300ms}}", 3, 3, 0,
		},
		{
			"as many as without chance",
			"load: {rate: 200/s, arrivals: {cv: 2, exact: true}}, warmup: 200ms, for: 300ms", 40 + 60, 60, 0.3,
		},
		{"a rate for so many", "load: {rate: 200/s, arrivals: {cv: 0.5}}, for: 33 requests", 33, 33, 0},
		{"passes over 16 rows", "load: {concurrency: 3}, for: 3 passes", 48, 48, 0},
		{"passes of batches", "load: {concurrency: 3}, batch: 8, warmup: 1 pass, for: 3 passes", 2 + 6, 6, 0},
		{"warm-up that runs on", "load: {rate: 200/s}, warmup: 100ms, for: 200ms", 20 + 40, 40, 0.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, builtin.Config{})
			r := play(t,
				"version: 1\ntarget: {backend: kserve, url: URL, model: simple, ready: 0s}\nstages:\n  - {id: s, "+c.stage+"}\n",
				s.HTTPURL(), Env{})
			n := node(t, r, "s")
			if n.Outcome != result.Done && n.Outcome != result.Invalid {
				t.Fatalf("%s: %s", n.Outcome, n.Reason)
			}
			if sent, counted := len(arrivals(t, s)), int(count(n, "requests.count")); sent != c.sent ||
				counted != c.counted {
				t.Errorf("the server saw %d, want %d; %d are counted, want %d", sent, c.sent, counted, c.counted)
			}
			if n.Load.Kind == "intervals" && n.Load.Value != 200 {
				t.Errorf("gaps of 5 ms are %v/s", n.Load.Value)
			}
			if c.length > 0 && math.Abs(n.Duration-c.length) > 1e-9 {
				t.Errorf("hold lasted %v s, want %v", n.Duration, c.length)
			}
		})
	}
}

// TestSlotsRamp: a closed loop follows its ramp, from the end of the warm-up.
func TestSlotsRamp(t *testing.T) {
	t.Parallel()
	const hold = 600_000_000
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}, Instances: 8})
	var kept sent
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - {id: s, warmup: 5 requests, load: {concurrency: {ramp: [{to: 1, hold: 600ms, name: one}, {to: 4, hold: 600ms, name: four}]}}}
`, s.HTTPURL(), Env{Record: keep(&kept)})
	n := node(t, r, "s")
	one, four := n.Scope("one", ""), n.Scope("four", "")
	if one == nil || four == nil {
		t.Fatalf("no phases: %+v", n.Scopes)
	}
	a, _ := one.Metrics["requests.count"].Stat(metric.Stat{})
	b, _ := four.Metrics["requests.count"].Stat(metric.Stat{})
	var first, then []backends.Sample
	kept.dues() // sorts
	for _, q := range kept.all {
		if q.Due < kept.all[0].Due+hold {
			first = append(first, q)
		} else {
			then = append(then, q)
		}
	}
	if len(first) == 0 || int(a) != len(first) || int(b) != len(then) || together(first) != 1 ||
		together(then) != 4 || count(n, "in_flight.max") != 4 {
		t.Errorf("%v requests with one slot, want %d, %v with four, want %d; %d and %d at a time; %d in flight "+
			"at most",
			a, len(first), b, len(then), together(first), together(then), count(n, "in_flight.max"))
	}
}

// together is how many requests were open at one time.
func together(list []backends.Sample) (most int) {
	for _, q := range list {
		n := 0
		for _, other := range list {
			if other.Due <= q.Due && q.Due < other.LastByte {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// TestMixTargets: the kinds of request of one stage go to servers of their own, in turn or as
// weights say, and are told apart.
func TestMixTargets(t *testing.T) {
	t.Parallel()
	for _, load := range []string{"{concurrency: 4}", "{rate: 400/s}"} {
		for _, transport := range []string{"http", "grpc"} {
			a, b := serve(t, builtin.Config{}), serve(t, builtin.Config{})
			urls := []string{a.HTTPURL(), b.HTTPURL()}
			if transport == "grpc" {
				urls = []string{a.GRPCURL(), b.GRPCURL()}
			}
			r := play(t, fmt.Sprintf(`
version: 1
targets:
  one: {backend: triton, url: %q, model: simple, ready: 0s}
  two: {backend: triton, url: %q, model: simple, ready: 0s}
stages:
  - {id: turns, load: %[3]s, mix: {x: {target: one}, y: {target: two, batch: 2}}, for: 100 requests}
  - {id: drawn, load: %[3]s, mix: {x: {target: one, weight: 9}, y: {target: two, weight: 1}}, for: 100 requests}
`, urls[0], urls[1], load), "", Env{})
			turns, drawn := node(t, r, "turns"), node(t, r, "drawn")
			of := func(n *result.Node, mix string) int {
				s := n.Scope("", mix)
				if s == nil {
					t.Fatalf("%s has no numbers of %s", n.ID, mix)
				}
				v, _ := s.Metrics["requests.count"].Stat(metric.Stat{})
				return int(v)
			}
			if x, y := of(turns, "x"), of(turns, "y"); x != 50 || y != 50 {
				t.Errorf("%s %s: in turn %d and %d", load, transport, x, y)
			}
			if x, y := of(drawn, "x"), of(drawn, "y"); x+y != 100 || x < 75 || y == 0 {
				t.Errorf("%s %s: drawn %d and %d", load, transport, x, y)
			}
			if got, want := len(arrivals(t, a)), of(turns, "x")+of(drawn, "x"); got != want {
				t.Errorf("%s %s: the first server saw %d of %d", load, transport, got, want)
			}
			if got, want := len(arrivals(t, b)), of(turns, "y")+of(drawn, "y"); got != want {
				t.Errorf("%s %s: the second server saw %d of %d", load, transport, got, want)
			}
			for _, n := range r.Nodes {
				if n.Outcome != result.Done && n.Outcome != result.Invalid || count(n, "errors.count") != 0 {
					t.Errorf("%s: %s %s, %v", n.ID, n.Outcome, n.Reason, n.Errors)
				}
			}
		}
	}
}

// TestThink: a closed loop pauses after each reply.
func TestThink(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - {id: s, load: {concurrency: 1, think: 50ms}, for: 10 requests}
`, s.HTTPURL(), Env{})
	seen := arrivals(t, s)
	if n := node(t, r, "s"); len(seen) != 10 || seen[9]-seen[0] < 9*50e6 || value(t, n, "latency.min") > 0.05 {
		t.Errorf("%d requests in %d ns, latency %v", len(seen), seen[len(seen)-1], value(t, n, "latency.min"))
	}
}

// TestMaxDuration: of a node, it is interrupted, proves nothing, and the run goes on; of the run,
// it is partial and what was not reached is skipped. Neither is a pass.
func TestMaxDuration(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: a, load: {concurrency: 1}, for: 60s, max_duration: 200ms, assert: [latency.p50 < 10s]}
  - {id: b, load: {concurrency: 1}, for: 10 requests}
`, s.HTTPURL(), Env{})
	a, b := node(t, r, "a"), node(t, r, "b")
	if a.Outcome != result.InterruptedNode || !strings.Contains(a.Reason, "max_duration of 200ms") ||
		a.Assertions[0].Verdict != result.Inconclusive {
		t.Errorf("a: %s %q, %s", a.Outcome, a.Reason, a.Assertions[0].Verdict)
	}
	if b.Outcome != result.Done || r.ExitCode != 3 || r.State != result.StateDone {
		t.Errorf("b: %s, exit %d, state %s", b.Outcome, r.ExitCode, r.State)
	}
	r = play(t, `
version: 1
max_duration: 2s
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: a, load: {concurrency: 1}, for: 10 requests}
  - {id: b, load: {concurrency: 1}, for: 60s}
  - {id: c, load: {concurrency: 1}, for: 60s}
`, s.HTTPURL(), Env{})
	a, b = node(t, r, "a"), node(t, r, "b")
	if c := node(t, r, "c"); a.Outcome != result.Done || b.Outcome != result.InterruptedNode ||
		c.Outcome != result.SkippedNode {
		t.Errorf("%s, %s, %s", a.Outcome, b.Outcome, c.Outcome)
	}
	if r.ExitCode != 3 || r.State != result.StatePartial || !strings.Contains(r.Reason, "max_duration of 2s") {
		t.Errorf("exit %d, state %s: %s", r.ExitCode, r.State, r.Reason)
	}
	// Over between two stages, where nothing was interrupted: what was not reached is missed all the same.
	r = play(t, `
version: 1
max_duration: 1500ms
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: a, load: {concurrency: 1}, for: 10 requests}
  - {id: b, delay: 60s, load: {concurrency: 1}, for: 10 requests}
`, s.HTTPURL(), Env{})
	if a, b := node(t, r, "a"), node(t, r, "b"); a.Outcome != result.Done || b.Outcome == result.Done ||
		r.ExitCode != 3 || r.State != result.StatePartial {
		t.Errorf("%s, %s, exit %d", a.Outcome, b.Outcome, r.ExitCode)
	}
}

// TestDelay: a stage starts so much later than the one before ended.
func TestDelay(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: a, load: {concurrency: 1}, for: 10 requests}
  - {id: b, delay: 1s, load: {concurrency: [1, 2]}, for: 10 requests}
`, s.HTTPURL(), Env{})
	a, b, c := r.Nodes[0], r.Nodes[1], r.Nodes[2]
	if gap := b.Started - a.Started - a.Duration; gap < 1 {
		t.Errorf("b came %v s after a", gap)
	}
	if gap := c.Started - b.Started - b.Duration; gap >= 1 {
		t.Errorf("the second level of b came %v s after the first", gap)
	}
}

// TestLateReply: a reply that comes when the next stage already runs belongs to the stage that sent.
func TestLateReply(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 1}, Instances: 8})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow, ready: 0s}
stages:
  - {id: a, load: {rate: 5/s}, for: 600ms, drain: 0s, assert: [errors.count == 0, incomplete.count == 3]}
  - {id: b, load: {rate: 5/s}, for: 600ms}
`, s.HTTPURL(), Env{})
	a, b := node(t, r, "a"), node(t, r, "b")
	if count(a, "requests.count") != 3 || *a.Metrics["latency"].Count != 0 || count(b, "requests.count") != 3 ||
		*b.Metrics["latency"].Count != 3 {
		t.Errorf("a sent %d and has %d answers, b sent %d and has %d", count(a, "requests.count"),
			*a.Metrics["latency"].Count, count(b, "requests.count"), *b.Metrics["latency"].Count)
	}
}

// TestStarved: a load that is made of a number that nobody has is not run, and its run proves
// nothing; a stage that another cause skips does not matter.
func TestStarved(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{Errors: 1})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: a, load: {concurrency: 1}, for: 20 requests, assert: [errors.ratio <= 100%]}
  - {id: b, load: {rate: '${0.5 * stage("a").requests.rate}'}, for: 1s}
`, s.HTTPURL(), Env{})
	if got := node(t, r, "b").Load.Formula; got != "" {
		t.Errorf("a formula without a value: %s", got)
	}
	if b := node(t, r, "b"); b.Outcome != result.SkippedNode || r.ExitCode != 3 ||
		!strings.Contains(r.Reason, "want of data") {
		t.Errorf("b %s %q, exit %d: %s", b.Outcome, b.Reason, r.ExitCode, r.Reason)
	}
}

// crashing is a backend whose lanes break at the third reply.
type crashing struct {
	backends.Conn
	backends.Describer
}

func (c crashing) Lanes(
	ctx context.Context, n int, o backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	lanes, limits, err := c.Conn.Lanes(ctx, n, o)
	for i := range lanes {
		lanes[i] = &crashingLane{Lane: lanes[i]}
	}
	return lanes, limits, err
}

type crashingLane struct {
	backends.Lane
	replies int
}

func (l *crashingLane) Recv() (int, bool) {
	slot, done := l.Lane.Recv()
	if l.replies++; l.replies == 3 && done {
		panic("a reply that nobody understands")
	}
	return slot, done
}

// TestLanePanic: a mistake in a lane costs its node, exit 6, and the process lives on with
// everything else.
func TestLanePanic(t *testing.T) {
	t.Parallel()
	for _, load := range []string{"{concurrency: 2}", "{rate: 200/s}"} {
		s := serve(t, builtin.Config{})
		kinds := slices.Clone(all.Kinds())
		for i, k := range kinds {
			if k.Name == "kserve" {
				kinds[i].Name = "brittle"
				kinds[i].Open = func(ctx context.Context, target backends.Target, clock backends.Clock) (backends.Conn, error) {
					conn, err := k.Open(ctx, target, clock)
					return crashing{conn, conn.(backends.Describer)}, err
				}
			}
		}
		plan, diags := scenario.Parse("plan.yaml", []byte(strings.NewReplacer("URL", s.HTTPURL(), "LOAD", load).Replace(`
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
data: {generate: {INPUT0: 1, INPUT1: 1}}
stages:
  - {id: a, load: {concurrency: 1}, for: 2 requests}
  - {id: b, load: LOAD, for: 60s}
  - {id: c, load: {concurrency: 1}, for: 2 requests, when: always}
`)), scenario.Overrides{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		plan.Targets[0].Backend = "brittle"
		p, diags := program.Compile(plan, kinds)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		r, diags := Run(context.Background(), p, Env{})
		if len(diags) > 0 && diags.HasErrors() {
			t.Fatal(diags)
		}
		checkResult(t, r)
		if b := node(t, r, "b"); r.ExitCode != 6 || b.Outcome != result.Failed ||
			!strings.Contains(b.Reason, "nobody understands") {
			t.Errorf("%s: exit %d, %s %q", load, r.ExitCode, b.Outcome, b.Reason)
		}
		if a, c := node(t, r, "a"), node(t, r, "c"); a.Outcome != result.Done || c.Outcome != result.Done {
			t.Errorf("%s: %s, %s", load, a.Outcome, c.Outcome)
		}
	}
}
