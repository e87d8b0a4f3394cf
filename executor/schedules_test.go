package executor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats/statstest"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestCounts: spans in requests send exactly so many, whatever the slots, over both protocols and
// both loops.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, load := range []string{
		"{concurrency: 1}", "{concurrency: 7}", "{rate: 2000/s}", "{rate: 2000/s, arrivals: poisson}",
	} {
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

// TestOneRequest: a span of one request sends one, at any rate and with any number of slots.
func TestOneRequest(t *testing.T) {
	t.Parallel()
	for _, load := range []string{
		"{concurrency: 1}", "{concurrency: 4}", "{rate: 1/s}", "{rate: 1/s, max_in_flight: 4}",
		"{rate: 1000/s, arrivals: poisson}",
	} {
		s := serve(t, builtin.Config{})
		n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages: [{id: s, load: `+load+`, for: 1 request}]
`, s.HTTPURL(), Env{}), "s")
		if got := len(arrivals(t, s)); got != 1 || count(n, "requests.count") != 1 {
			t.Errorf("%s: the server saw %d, %d are counted", load, got, count(n, "requests.count"))
		}
	}
}

// TestSchedule: the same seed gives the same schedule, another seed another; what was sent is the
// schedule's own count.
func TestSchedule(t *testing.T) {
	t.Parallel()
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
			r, _ := Run(context.Background(), p, Env{})
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

// quiet plays a plan against fresh servers until the run was valid and nothing else kept the machine
// busy, three times at most with all cases, else once: what is measured in seconds cannot be judged on
// a machine that has no time. The checks of .ci run the same experiments alone, where they must hold.
// False: the machine was never quiet; only what is counted is judged.
func quiet(t *testing.T, text string, c builtin.Config) (*builtin.Server, *result.Node, bool) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		s := serve(t, c)
		n := node(t, play(t, text, s.HTTPURL(), Env{}), "s")
		busy := n.Outcome == result.Invalid ||
			slices.ContainsFunc(n.Validity.Findings, func(f result.Finding) bool { return f.Code == "busy-machine" })
		if !busy || attempt == cases.Count(1, 3) {
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
  - {id: s, load: {rate: 250/s, arrivals: poisson}, for: 2s}
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
	d, limit := statstest.KS(gaps,
		func(x float64) float64 { return -math.Expm1(-250 * x) }), statstest.KSCritical(len(gaps), 0.01)
	if d > limit {
		t.Errorf("KS distance %.4f of %d gaps, the critical value is %.4f", d, len(gaps), limit)
	}
	if rate, offered := value(t, n, "requests.rate"), value(t, n, "offered.rate"); rate < 0.99*offered ||
		rate > 1.01*offered {
		t.Errorf("achieved %v of %v", rate, offered)
	}
}

// TestStall is the coordinated omission experiment: 200/s against a server that stands still for 1
// s. The truth is p95 0.75 s and p99 0.95 s with enough slots; with 4 slots the backlog drains at 4
// for each service time, some 3.5 ms. The bounds are wide, for a client that shares its machine:
// plans/stall.yaml is the same on its own, with narrow ones. In part, all takes half the time.
func TestStall(t *testing.T) {
	second := time.Second / time.Duration(cases.Count(2, 1))
	for _, c := range []struct {
		slots int
		p95   float64
	}{{400, 0.75}, {4, 0.79}} {
		t.Run(strconv.Itoa(c.slots), func(t *testing.T) { // one after the other: the truth is this machine's time
			_, n, judge := quiet(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - {id: s, load: {rate: 200/s, max_in_flight: %d}, for: %v}
`, c.slots, 5*second), builtin.Config{
				ServiceTime: &builtin.Dist{Mean: 2.5e-3}, Instances: 400,
				Stall: &builtin.Stall{At: second * 3 / 2, For: second},
			})
			if got := count(n, "requests.count"); got != int64(1000*second/time.Second) {
				t.Errorf("%d requests in %v", got, 5*second)
			}
			full := slices.ContainsFunc(n.Validity.Findings,
				func(f result.Finding) bool { return f.Code == "pool-full" })
			if full != (c.slots == 4) {
				t.Errorf("pool-full is %v with %d slots: %v", full, c.slots, n.Validity.Findings)
			}
			// However busy the machine is: a stall of 1 s is seen by a fifth of the requests, not by as many
			// as there are slots.
			if p90 := value(t, n, "latency.p90"); p90 < 0.45*second.Seconds() {
				t.Errorf("latency.p90 is %v", p90)
			}
			if !judge {
				return
			}
			near(t, "latency.p95", value(t, n, "latency.p95"), c.p95*second.Seconds(), 0.1)
			near(t, "latency.p99", value(t, n, "latency.p99"), 0.95*second.Seconds(), 0.1)
			// A closed loop in disguise reports the service time, 3.5 ms, as its latency.
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
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 50e-3}, Instances: 1})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - {id: s, load: {rate: 100/s, max_in_flight: 2, overflow: drop}, for: 1s, assert: [dropped.count > 0, errors.count == 0]}
`, s.HTTPURL(), Env{})
	n := node(t, r, "s")
	if sent, dropped := count(n, "requests.count"), count(n, "dropped.count"); sent+dropped != 100 || sent < 2 {
		t.Errorf("sent %d + dropped %d, want 100", sent, dropped)
	}
}
