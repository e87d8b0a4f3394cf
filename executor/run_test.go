package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts the embedded server for one test.
func serve(t *testing.T, c builtin.Config) *builtin.Server {
	t.Helper()
	s, err := builtin.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// compile makes a program of a plan's text, which must have no mistake. "URL" in it is replaced.
func compile(t *testing.T, text, url string) *Program {
	t.Helper()
	plan, diags := scenario.Parse("plan.yaml", []byte(strings.ReplaceAll(text, "URL", url)), scenario.Overrides{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := Compile(plan, all.Kinds())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

// play runs a plan and checks what must hold for every result.
func play(t *testing.T, text, url string, env Env) *result.Result {
	t.Helper()
	r, diags := compile(t, text, url).Run(context.Background(), env)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	checkResult(t, r)
	return r
}

// checkResult holds the stored form to its schema and every node's books to each other.
func checkResult(t *testing.T, r *result.Result) {
	t.Helper()
	var b bytes.Buffer
	if err := result.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := schema.ValidateResult(b.Bytes()); err != nil {
		t.Errorf("%v\n%s", err, b.Bytes())
	}
	for _, n := range r.Nodes {
		if n.Outcome == result.SkippedNode || n.Outcome == result.Failed {
			continue
		}
		sent, failed, ok := count(n, "requests.count"), count(n, "errors.count"), int64(0)
		if d := n.Metrics["latency"]; d != nil && d.Count != nil {
			ok = *d.Count
		}
		var classes int64
		for _, e := range n.Errors {
			classes += e.Count
		}
		stopped := sent - failed - ok
		if failed != classes || stopped < 0 {
			t.Errorf("%s: sent %d, ok %d, failed %d, classes %d", n.ID, sent, ok, failed, classes)
		}
	}
}

func count(n *result.Node, name string) int64 {
	v, _ := n.Metrics[name].Stat(metric.Stat{})
	return int64(v)
}

func value(t *testing.T, n *result.Node, name string) float64 {
	t.Helper()
	leaf, ok := mustCatalogue(t).Leaf(name)
	if !ok {
		t.Fatalf("no metric %s", name)
	}
	v, ok := n.Metrics[leaf.Row.Name].Stat(leaf.Stat)
	if !ok {
		t.Errorf("%s: no data for %s", n.ID, name)
	}
	return v
}

func mustCatalogue(t *testing.T) *metric.Catalogue {
	t.Helper()
	c, err := Catalogue(all.Kinds()[1])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func node(t *testing.T, r *result.Result, id string) *result.Node {
	t.Helper()
	for _, n := range r.Nodes {
		if n.ID == id {
			return n
		}
	}
	t.Fatalf("no node %q", id)
	return nil
}

// arrivals are the true arrival times that the server saw, ns since its first.
func arrivals(t *testing.T, s *builtin.Server) []int64 {
	t.Helper()
	reply, err := http.Get(s.URLs().Control + "/sim/arrivals")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	var page struct{ Arrivals []int64 }
	if err := json.Unmarshal(data, &page); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return page.Arrivals
}

// TestCounts: spans in requests send exactly so many, whatever the slots, over both protocols and both loops.
func TestCounts(t *testing.T) {
	for _, load := range []string{"{concurrency: 1}", "{concurrency: 7}", "{rate: 2000/s}", "{rate: 2000/s, arrivals: poisson}"} {
		for _, transport := range []string{"http", "grpc"} {
			s := serve(t, builtin.Config{})
			url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[transport]
			r := play(t, fmt.Sprintf(`
version: 1
target: {backend: triton, url: URL, model: simple, ready: 0s}
stages:
  - {id: s, load: %s, warmup: 20 requests, for: 111 requests}
`, load), url, Env{})
			n := node(t, r, "s")
			if got := count(n, "requests.count"); got != 111 {
				t.Errorf("%s %s: %d requests, want 111", load, transport, got)
			}
			if got := len(arrivals(t, s)); got != 131 {
				t.Errorf("%s %s: the server saw %d requests, want 131", load, transport, got)
			}
			if n.Outcome != result.Done && n.Outcome != result.Invalid {
				t.Errorf("%s %s: outcome %s: %s", load, transport, n.Outcome, n.Reason)
			}
			if _, ok := n.Metrics["server.compute_infer.mean"].Stat(metric.Stat{}); !ok {
				t.Errorf("%s %s: no server statistics", load, transport)
			}
		}
	}
}

// TestSchedule: the same seed gives the same schedule, another seed another; what was sent is the schedule's own count.
func TestSchedule(t *testing.T) {
	plan := `
version: 1
seed: SEED
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - {id: s, load: {rate: 500/s, arrivals: poisson}, for: 1s}
`
	hashes := make(map[string]string)
	for _, seed := range []string{"1", "2"} {
		for range 2 {
			s := serve(t, builtin.Config{})
			text := strings.ReplaceAll(plan, "SEED", seed)
			p := compile(t, text, s.HTTPURL())
			r, _ := p.Run(context.Background(), Env{})
			n := node(t, r, "s")
			if old := hashes[seed]; old != "" && old != n.Load.ScheduleHash {
				t.Errorf("seed %s: schedules %s and %s", seed, old, n.Load.ScheduleHash)
			}
			hashes[seed] = n.Load.ScheduleHash
			if n.Duration != 1 {
				t.Errorf("seed %s: hold lasted %v s of 1 s", seed, n.Duration)
			}
			planned := int64(value(t, n, "offered.rate")*n.Duration + 0.5)
			if sent := int64(len(arrivals(t, s))); sent != planned || sent != count(n, "requests.count") {
				t.Errorf("seed %s: planned %d, sent %d, counted %d", seed, planned, sent, count(n, "requests.count"))
			}
		}
	}
	if hashes["1"] == hashes["2"] {
		t.Error("two seeds gave one schedule")
	}
}

// quiet plays a plan against fresh servers until the run was valid and nothing else kept the machine busy, at most three
// times: what is measured in seconds cannot be judged on a machine that has no time. The checks of .ci run the same
// experiments alone, where they must hold. False: the machine was never quiet; only what is counted is judged.
func quiet(t *testing.T, text string, c builtin.Config) (*builtin.Server, *result.Node, bool) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		s := serve(t, c)
		n := node(t, play(t, text, s.HTTPURL(), Env{}), "s")
		busy := n.Outcome == result.Invalid || slices.ContainsFunc(n.Validity.Findings, func(f result.Finding) bool { return f.Code == "busy_machine" })
		if !busy || attempt == 3 {
			if busy {
				t.Logf("the machine is too busy to judge times: %v", n.Validity.Findings)
			}
			return s, n, !busy
		}
	}
}

// TestPoisson: the arrivals that the server saw have exponential gaps (Kolmogorov–Smirnov at 1 %).
func TestPoisson(t *testing.T) {
	s, n, judge := quiet(t, `
version: 1
seed: 5
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - {id: s, load: {rate: 100/s, arrivals: poisson}, for: 5s}
`, builtin.Config{})
	times := arrivals(t, s)
	if planned := int(value(t, n, "offered.rate")*n.Duration + 0.5); len(times) != planned {
		t.Errorf("the server saw %d arrivals of %d planned", len(times), planned)
	}
	if !judge {
		return
	}
	var gaps []float64
	for i := 1; i < len(times); i++ {
		gaps = append(gaps, float64(times[i]-times[i-1])/1e9)
	}
	slices.Sort(gaps)
	d, limit := stats.KS(gaps, func(x float64) float64 { return -math.Expm1(-100 * x) }), stats.KSCritical(len(gaps), 0.01)
	if d > limit {
		t.Errorf("KS distance %.4f of %d gaps, the critical value is %.4f", d, len(gaps), limit)
	}
	if rate, offered := value(t, n, "requests.rate"), value(t, n, "offered.rate"); rate < 0.99*offered || rate > 1.01*offered {
		t.Errorf("achieved %v of %v", rate, offered)
	}
}

// TestStall is the coordinated omission experiment: 100/s against a server that stands still for 2 s. The truth is
// p95 1.5 s and p99 1.9 s with enough slots; with 4 slots the backlog drains at 4 for each service time.
func TestStall(t *testing.T) {
	for _, c := range []struct {
		slots    int
		p95, tol float64
	}{{400, 1.5, 0.03}, {4, 1.57, 0.05}} {
		t.Run(strconv.Itoa(c.slots), func(t *testing.T) {
			t.Parallel()
			_, n, judge := quiet(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - {id: s, load: {rate: 100/s, max_in_flight: %d}, for: 10s}
`, c.slots), builtin.Config{
				ServiceTime: &builtin.Dist{Mean: 5e-3}, Instances: 400, Stall: &builtin.Stall{At: 3e9, For: 2e9},
			})
			if got := count(n, "requests.count"); got != 1000 {
				t.Errorf("%d requests, want 1000", got)
			}
			full := slices.ContainsFunc(n.Validity.Findings, func(f result.Finding) bool { return f.Code == "pool_full" })
			if full != (c.slots == 4) {
				t.Errorf("pool_full is %v with %d slots: %v", full, c.slots, n.Validity.Findings)
			}
			// However busy the machine is: a stall of 2 s is seen by a fifth of the requests, not by as many as there are slots.
			if p90 := value(t, n, "latency.p90"); p90 < 0.9 {
				t.Errorf("latency.p90 is %v", p90)
			}
			if !judge {
				return
			}
			near(t, "latency.p95", value(t, n, "latency.p95"), c.p95, c.tol)
			near(t, "latency.p99", value(t, n, "latency.p99"), 1.9, 0.05)
			// A closed loop in disguise reports the service time, 6 ms, as its latency.
			if p95 := value(t, n, "service_time.p95"); c.slots == 4 && p95 > 0.02 {
				t.Errorf("service_time.p95 is %v", p95)
			}
		})
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if got < want*(1-tol) || got > want*(1+tol) {
		t.Errorf("%s is %.4f, want %.4f ± %.0f %%", what, got, want, 100*tol)
	}
}

// TestDropped: with overflow drop, planned = sent + dropped, and drops are a note, not an error.
func TestDropped(t *testing.T) {
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 50e-3}, Instances: 1})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - {id: s, load: {rate: 100/s, max_in_flight: 2, overflow: drop}, for: 1s, assert: [dropped.count > 0, errors.count == 0]}
`, s.HTTPURL(), Env{})
	n := node(t, r, "s")
	if sent, dropped := count(n, "requests.count"), count(n, "dropped.count"); sent+dropped != 100 || sent < 10 {
		t.Errorf("sent %d + dropped %d, want 100", sent, dropped)
	}
}

// TestInterrupt: the first signal ends the node in order; what follows is skipped; nothing is lost.
func TestInterrupt(t *testing.T) {
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
	if r.ExitCode != 130 || !r.Partial || r.Verdict != result.Interrupted {
		t.Errorf("exit %d, partial %v, verdict %s", r.ExitCode, r.Partial, r.Verdict)
	}
	if a, b := node(t, r, "a"), node(t, r, "b"); a.Outcome != result.InterruptedNode || b.Outcome != result.SkippedNode || count(a, "requests.count") == 0 {
		t.Errorf("outcomes %s, %s, %d requests", a.Outcome, b.Outcome, count(a, "requests.count"))
	}
}

// TestGraphRules: `needs`, `when`, `on_fail`, `while`, one row each: stage outcomes in running order.
func TestGraphRules(t *testing.T) {
	const bad, good = `assert: [latency.p50 < 1ns, errors.count == 0]`, `assert: [errors.count == 0]`
	for _, c := range []struct{ name, stages, want string }{
		{"all well", `[{id: a, GOOD}, {id: b, GOOD}]`, "a done b done"},
		{"the one before failed", `[{id: a, BAD}, {id: b, GOOD}]`, "a done b skipped"},
		{"a skipped one counts as failed", `[{id: a, BAD}, {id: b, GOOD}, {id: c, GOOD}]`, "a done b skipped c skipped"},
		{"failure may be tolerated", `[{id: a, BAD, on_fail: continue}, {id: b, GOOD}]`, "a done b done"},
		{"a tolerated failure is one for who waits for it", `[{id: a, BAD, on_fail: continue}, {id: b, GOOD}, {id: c, GOOD, needs: [a], when: failure}]`, "a done b done c done"},
		{"run on failure", `[{id: a, BAD}, {id: b, GOOD, when: failure}]`, "a done b done"},
		{"no failure to run on", `[{id: a, GOOD}, {id: b, GOOD, when: failure}]`, "a done b skipped"},
		{"always", `[{id: a, BAD}, {id: b, GOOD, when: always}]`, "a done b done"},
		{"never is as if absent", `[{id: a, GOOD}, {id: x, BAD, when: never}, {id: b, GOOD}]`, "a done b done"},
		{"needs beat the list", `[{id: a, GOOD, needs: [b]}, {id: b, GOOD, needs: []}]`, "b done a done"},
		{"inconclusive does not block", `[{id: a, load: {concurrency: 1}, for: 3 requests, assert: [latency.p99 < 10s]}, {id: b, GOOD}]`, "a done b done"},
		{
			"while ends the ladder, and fails nothing",
			`[{id: a, load: {concurrency: {levels: {from: 1, to: 4, while: latency.p50 < 1ns}}}, for: 20 requests}, {id: b, GOOD}]`,
			"a[concurrency=1] done b done",
		},
		{
			"an open ladder", `[{id: a, load: {concurrency: {levels: {from: 1, factor: 2, while: throughput < 1/s}}}, for: 20 requests}]`,
			"a[concurrency=1] done",
		},
		{
			"levels all run, whatever fails", `[{id: a, load: {concurrency: [1, 2]}, for: 20 requests, assert: [latency.p50 < 1ns]}]`,
			"a[concurrency=1] done a[concurrency=2] done",
		},
	} {
		s := serve(t, builtin.Config{})
		text := strings.NewReplacer(
			"BAD", "load: {concurrency: 1}, for: 20 requests, "+bad, "GOOD", "load: {concurrency: 1}, for: 20 requests, "+good,
		).Replace(c.stages)
		r := play(t, "version: 1\ntarget: {backend: kserve, url: URL, model: simple}\nstages: "+text+"\n", s.HTTPURL(), Env{})
		var got []string
		for _, n := range r.Nodes {
			got = append(got, n.ID, string(n.Outcome))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestStable: a steady server becomes stable in the least number of windows; one that never agrees is reported unstable.
func TestStable(t *testing.T) {
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 5e-3}})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - id: steady
    load: {concurrency: 1}
    until: {stable: {window: 300ms, within: 80%, max_windows: 20, metrics: [throughput]}}
  - id: never
    load: {concurrency: 1}
    until: {stable: {window: 20 requests, windows: 3, within: 0.0001%, max_windows: 4, metrics: [latency.mean]}}
`, s.HTTPURL(), Env{})
	n := node(t, r, "steady")
	if n.Outcome != result.Done || len(n.Windows) < 3 {
		t.Errorf("%s (%s) after %d windows", n.Outcome, n.Reason, len(n.Windows))
	}
	used := 0
	for _, w := range n.Windows {
		if w.Used {
			used++
		}
	}
	if used != 3 || n.Duration < 0.89 || n.Duration > 0.91 {
		t.Errorf("%d windows used, %v s", used, n.Duration)
	}
	if n := node(t, r, "never"); n.Outcome != result.Unstable || len(n.Windows) != 4 {
		t.Errorf("%s after %d windows", n.Outcome, len(n.Windows))
	}
	if r.ExitCode != 3 {
		t.Errorf("exit code %d: an unstable node proves nothing", r.ExitCode)
	}
}

// TestSecrets: a secret reaches the wire and nothing else.
func TestSecrets(t *testing.T) {
	s := serve(t, builtin.Config{})
	plan, diags := scenario.Parse("plan.yaml", []byte(`
version: 1
vars: {token: {env: TOKEN, secret: true}}
target: {backend: kserve, url: "`+s.HTTPURL()+`", model: simple, headers: {Authorization: "Bearer ${token}"}}
stages: [{id: s, load: {concurrency: 1}, for: 5 requests}]
`), scenario.Overrides{Env: func(string) (string, bool) { return "hunter2-secret", true }})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := Compile(plan, all.Kinds())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	r, _ := p.Run(context.Background(), Env{})
	var b bytes.Buffer
	if err := result.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hunter2") {
		t.Error("the secret stands in the result")
	}
	if got := plan.Targets[0].Headers[0].Value; !strings.Contains(got, "hunter2-secret") {
		t.Errorf("the header is %q", got)
	}
}

// TestRefusals: what only the server can reveal is a mistake of the plan, and nothing is sent.
func TestRefusals(t *testing.T) {
	s := serve(t, builtin.Config{})
	p := compile(t, `
version: 1
target: {backend: triton, url: URL, model: simple}
stages:
  - {id: s, load: {concurrency: 1}, batch: 99, for: 5 requests}
  - {id: t, load: {concurrency: 1}, shapes: {INPUT7: [1]}, for: 5 requests}
`, s.HTTPURL())
	r, diags := p.Run(context.Background(), Env{})
	if len(diags) != 2 || r.ExitCode != 2 {
		t.Errorf("exit %d, %v", r.ExitCode, diags)
	}
	for _, d := range diags {
		if d.Pos == (source.Pos{}) {
			t.Errorf("%s stands nowhere", d)
		}
	}
	if n := len(arrivals(t, s)); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestProbe: ready means one real request answered: the server sees it before the first stage, and `ready: 0s` sends none.
func TestProbe(t *testing.T) {
	for ready, want := range map[string]int{"10s": 6, "0s": 5} {
		s := serve(t, builtin.Config{})
		play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: simple, ready: %s}
stages:
  - {id: a, load: {concurrency: 1}, for: 3 requests}
  - {id: b, load: {concurrency: 1}, for: 2 requests}
`, ready), s.HTTPURL(), Env{})
		if got := len(arrivals(t, s)); got != want {
			t.Errorf("ready %s: the server saw %d requests, want %d", ready, got, want)
		}
	}
	// A server that never answers is a target that cannot be used: exit 4, nothing measured.
	for _, transport := range []string{"http", "grpc"} {
		s := serve(t, builtin.Config{Stall: &builtin.Stall{At: 0, For: 60e9}})
		url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[transport]
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 300ms}
stages: [{id: a, load: {concurrency: 1}, for: 3 requests}]
`, url, Env{})
		if n := node(t, r, "a"); r.ExitCode != 4 || n.Outcome != result.Failed || !strings.Contains(n.Reason, "no request was answered within 300ms") {
			t.Errorf("%s: exit %d, %s: %s", transport, r.ExitCode, n.Outcome, n.Reason)
		}
	}
	// A model that fails has been asked; what is allowed is the plan's to say.
	s := serve(t, builtin.Config{Errors: 1})
	if r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages: [{id: a, load: {concurrency: 1}, for: 3 requests, assert: [errors.ratio <= 100%]}]
`, s.HTTPURL(), Env{}); r.Nodes[0].Outcome != result.Done {
		t.Errorf("%s: %s", r.Nodes[0].Outcome, r.Nodes[0].Reason)
	}
}

// TestCrash: a mistake of this program costs its node and gives exit 6; what was measured before stays.
func TestCrash(t *testing.T) {
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: a, load: {concurrency: 1}, for: 3 requests}
  - {id: b, load: {concurrency: 1}, for: 3 requests}
`, s.HTTPURL(), Env{Events: func(e Event) {
		if e.Node == "b" && e.Phase == PhaseOpen {
			panic("a planted mistake")
		}
	}})
	if b := node(t, r, "b"); r.ExitCode != 6 || b.Outcome != result.Failed || !strings.Contains(b.Reason, "planted") {
		t.Errorf("exit %d, %s: %s", r.ExitCode, b.Outcome, b.Reason)
	}
	if a := node(t, r, "a"); a.Outcome != result.Done || count(a, "requests.count") != 3 {
		t.Errorf("%s, %d requests", a.Outcome, count(a, "requests.count"))
	}
}

// TestUnfinished: requests that were due and have no outcome are slower than all others. Leaving them out would make a
// server that cannot keep up look fast, which is coordinated omission by the drain.
func TestUnfinished(t *testing.T) {
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - id: s
    load: {rate: 100/s, max_in_flight: 1}
    for: 1s
    drain: 0s
    assert: [latency.p50 < 10s, latency.p10 < 10s, incomplete.count >= 40]
`, s.HTTPURL(), Env{})
	n := node(t, r, "s")
	if n.Outcome == result.Invalid { // the machine was busy: all is inconclusive, rightly
		return
	}
	verdicts := []result.Verdict{n.Assertions[0].Verdict, n.Assertions[1].Verdict, n.Assertions[2].Verdict}
	if !slices.Equal(verdicts, []result.Verdict{result.Inconclusive, result.Pass, result.Pass}) || !strings.Contains(n.Assertions[0].Reason, "have no outcome") {
		t.Errorf("%v: %s", verdicts, n.Assertions[0].Reason)
	}
	if sent, lost := count(n, "requests.count"), count(n, "incomplete.count"); sent+lost < 100 {
		t.Errorf("sent %d, without outcome %d, of 100", sent, lost)
	}
}
