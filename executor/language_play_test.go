package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestNames: what a plan and its stages are called stands in the result, the stage's labels over
// the plan's.
func TestNames(t *testing.T) {
	t.Parallel()
	w := watch(t, fourInts)
	r := play(t, `
version: 1
name: the-plan
description: For whom it is.
labels: {team: vision, kind: plan}
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, description: What it shows., labels: {kind: stage}, load: {concurrency: 1}, for: 3 requests}]
`, w.URL, Env{})
	n := node(t, r, "s")
	want := []any{
		"the-plan", "For whom it is.",
		map[string]string{"team": "vision", "kind": "plan"},
		"What it shows.",
		map[string]string{"team": "vision", "kind": "stage"},
	}
	if diff := cmp.Diff(want,
		[]any{r.Plan.Name, r.Plan.Description, r.Plan.Labels, n.Description, n.Labels}); diff != "" {
		t.Error(diff)
	}
}

// TestSeed: the same seed gives the same bytes in the same order and the same schedule over two
// runs and both loops; another seed gives others.
func TestSeed(t *testing.T) {
	t.Parallel()
	send := func(seed int, load string) (data string, hash string) {
		w := watch(t, fourInts)
		r := play(t, fmt.Sprintf(`
version: 1
seed: %d
data: {generate: random, count: 7, order: shuffle}
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: %s, for: 20 requests}]
`, seed, load), w.URL, Env{})
		byID := map[string]string{}
		var ids []string
		for _, q := range w.all() {
			ids = append(ids, string(q.data))
			byID[q.model] += string(q.data)
		}
		if strings.Contains(load, "rate") {
			slices.Sort(ids) // connections may overtake each other
		}
		return strings.Join(ids, ""), node(t, r, "s").Load.ScheduleHash
	}
	for _, load := range []string{"{concurrency: 1}", "{rate: 500/s, arrivals: poisson}"} {
		a, aHash := send(1, load)
		b, bHash := send(1, load)
		c, cHash := send(2, load)
		if a != b || aHash != bHash {
			t.Errorf("%s: one seed, two runs: the bytes are the same: %v, schedules %s %s", load, a == b, aHash, bHash)
		}
		if a == c || aHash == cHash && aHash != "" {
			t.Errorf("%s: another seed: the bytes are the same: %v, schedules %s %s", load, a == c, aHash, cHash)
		}
	}
}

// TestTimeouts: a request that takes too long, a server that shakes no hand, one that is never ready.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "grpc"} {
		w := watch(t, func(w *witness) { w.dim, w.hold = 4, make(chan struct{}) })
		began := time.Now()
		n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s, timeout: 400ms}
stages: [{id: s, load: {concurrency: 1}, for: 3 requests}]
`, w.url(transport), Env{}), "s")
		if took := time.Since(began); len(n.Errors) != 1 || n.Errors[0].Class != "timeout" ||
			n.Errors[0].Count != 3 || took > 15*time.Second {
			t.Errorf("%s: timeout: %+v after %v", transport, n.Errors, took)
		}
	}
	deaf := listen(t)
	for keys, want := range map[string]string{
		"url: URL, ready: 0s, connect_timeout: 80ms": "timeout", "url: URL, ready: 200ms": "not ready within 200ms",
		"url: URL, ready: 0s, timeout: 100ms": "",
	} {
		for _, scheme := range []string{"https", "grpcs", "http"} {
			if scheme == "http" && strings.Contains(keys, "connect_timeout") {
				continue // it is connected at once; what is missing comes later
			}
			if scheme == "grpcs" && !strings.Contains(keys, "connect_timeout: 80ms") {
				continue
			}
			began := time.Now()
			r := play(t, "version: 1\ntarget: {backend: kserve, model: m, "+keys+"}\nstages: [{id: s, load: "+
				"{concurrency: 1}, for: 3 requests}]\n",
				scheme+"://"+deaf, Env{})
			n := node(t, r, "s")
			if n.Outcome != result.Failed || !strings.Contains(n.Reason, want) && want != "timeout" ||
				r.ExitCode != 4 {
				t.Errorf("%s %s: %s %s, exit %d", scheme, keys, n.Outcome, n.Reason, r.ExitCode)
			}
			if took := time.Since(began); took > 4500*time.Millisecond {
				t.Errorf("%s %s: that took %v", scheme, keys, took)
			}
		}
	}
	for ready, want := range map[string]bool{"0s": false, "5s": true} {
		w := watch(t, fourInts)
		play(t,
			"version: 1\ntarget: {backend: kserve, model: m, url: URL, ready: "+ready+"}\nstages: [{id: s, load: "+
				"{concurrency: 1}, for: 3 requests}]\n",
			w.URL, Env{})
		if asked := w.paths["/v2/health/ready"] > 0; asked != want {
			t.Errorf("ready: %s: the server was asked: %v", ready, asked)
		}
	}
}

// TestConnections: per_slot, per_request and a number, by the connections that the server sees.
func TestConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		transport, connections, load string
		atLeast, atMost              int
	}{
		{"http", "per_slot", "{concurrency: 4}", 4, 4},
		{"grpc", "per_slot", "{concurrency: 4}", 4, 4},
		{"http", "per_request", "{concurrency: 2}", 400, 400},
		{"grpc", "per_request", "{concurrency: 2}", 400, 400},
		{"http", "3", "{rate: 1000/s, max_in_flight: 20}", 1, 3},
		{"http", "2", "{concurrency: 2}", 2, 2},
		{"grpc", "2", "{concurrency: 6}", 2, 2},
		{"grpc", "3", "{rate: 1000/s, max_in_flight: 20}", 1, 3},
	} {
		w := watch(t, func(w *witness) { w.dim, w.takes = 4, time.Millisecond })
		n := node(t, play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s, connections: %s}
stages: [{id: s, load: %s, for: 400 requests}]
`, c.connections, c.load), w.url(c.transport), Env{}), "s")
		peers := map[string]bool{}
		for _, r := range w.all() {
			peers[r.peer] = true
		}
		if got := count(n, "requests.count"); got != 400 || len(peers) < c.atLeast || len(peers) > c.atMost {
			t.Errorf("%s connections %s %s: %d connections carried %d requests",
				c.transport, c.connections, c.load, len(peers), got)
		}
	}
}

// TestMaxMessage: a request beyond the limit is a mistake of the plan over gRPC.
func TestMaxMessage(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for limit, want := range map[string]string{"2KiB": "over max_message, 2048", "1MiB": ""} {
		r, diags := Run(context.Background(), compile(t, `
version: 1
target: {backend: kserve, url: URL, model: identity, ready: 0s, max_message: `+limit+`}
stages: [{id: s, load: {concurrency: 1}, shapes: {INPUT0: [1024]}, for: 5 requests}]
`, s.GRPCURL()), Env{})
		if (want != "") != diags.HasErrors() ||
			want != "" && (!strings.Contains(diags[0].Summary, want) || r.ExitCode != 2) {
			t.Errorf("max_message %s: exit %d, %v", limit, r.ExitCode, diags)
		}
	}
}

// TestStatistics: auto notes what is missing, require fails, none does not ask; what is counted is
// the stage's model.
func TestStatistics(t *testing.T) {
	t.Parallel()
	const plan = `
version: 1
target: {backend: triton, url: URL, model: m, ready: 0s, statistics: WORD}
stages: [{id: s, load: {concurrency: 1}, for: 3 requests}]
`
	for word, want := range map[string]string{
		"auto": "done no-statistics", "require": "failed", "none": "done",
	} {
		w := watch(t, fourInts)
		n := node(t, play(t, strings.ReplaceAll(plan, "WORD", word), w.URL, Env{}), "s")
		got := string(n.Outcome)
		for _, f := range n.Validity.Findings {
			if f.Code == "no-statistics" {
				got = string(n.Outcome) + " " + f.Code
			}
		}
		if got != want {
			t.Errorf("statistics: %s: %s (%s)", word, got, n.Reason)
		}
	}
	for _, own := range []string{"model: simple, ", ""} { // also a target without a model of its own
		s := serve(t, builtin.Config{})
		r := play(t, `
version: 1
target: {backend: triton, url: URL, `+own+`ready: 0s, statistics: require}
stages:
  - {id: a, model: identity_int32, shapes: {INPUT0: [4]}, load: {concurrency: 1}, for: 7 requests, assert: [server.executions.count >= 7, errors.count == 0]}
  - {id: b, model: simple, load: {concurrency: 1}, for: 9 requests, assert: [server.executions.count >= 9, errors.count == 0]}
`, s.HTTPURL(), Env{})
		for id, want := range map[string]float64{"a": 7, "b": 9} {
			if got := value(t, node(t, r, id), "server.executions.count"); got != want || r.ExitCode != 0 {
				t.Errorf("target {%s}: stage %s: the server executed %v, want %v; %s", own, id, got, want, r.Reason)
			}
		}
	}
}

// TestMismatchSaysWhere: of a reply that differs the row is named as it is in its file, over both
// protocols.
func TestMismatchSaysWhere(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	good, bad := filepath.Join(t.TempDir(), "good.json"), filepath.Join(t.TempDir(), "bad.json")
	for name, want := range map[string]string{good: "7", bad: "8"} {
		text := `{"data": [{"INPUT0": {"content": [7], "shape": [1]}}], "validation_data": [{"OUTPUT0": ` +
			`{"content": [` + want + `], "shape": [1]}}]}`
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, url := range []string{s.HTTPURL(), s.GRPCURL()} {
		n := node(t, play(t, `
version: 1
data: {file: [`+good+`, `+bad+`]}
target: {backend: kserve, url: URL, model: identity, ready: 0s}
stages: [{id: s, load: {concurrency: 1}, for: 2 requests}]
`, url, Env{}), "s")
		want := []result.ErrorClass{{
			Class: "mismatch", Count: 1,
			Example: "row 1: output OUTPUT0 [0] is 7, want 8, expected by bad.json, row 0",
		}}
		if diff := cmp.Diff(want, n.Errors); diff != "" {
			t.Errorf("%s (-want +got):\n%s", url, diff)
		}
	}
}

// TestExpect: outputs are compared within the tolerances, or not at all; statuses of the plan's
// choice are answers.
func TestExpect(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	data := filepath.Join(t.TempDir(), "rows.json")
	text := `{"data": [{"INPUT0": [100, 200]}], "validation_data": [{"OUTPUT0": [100.5, 200]}]}`
	if err := os.WriteFile(data, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for expect, failed := range map[string]int64{
		"": 4, "expect: {outputs: true}, ": 4, "expect: {outputs: false}, ": 0, "expect: {absolute: 0.6}, ": 0,
		"expect: {absolute: 0.4}, ":  4,
		"expect: {relative: 0.01}, ": 0, "expect: {relative: 0.001}, ": 4, "expect: {sample: 50%}, ": 2,
		"expect: {sample: 0.001%}, ": 1,
		"expect: {outputs: false, fields: {model_name: identity, outputs.0.name: OUTPUT0, outputs.0.shape.0: " +
			"1, outputs.0.shape.1: 2}}, ": 0,
		"expect: {outputs: false, fields: {outputs.0.datatype: INT64}}, ":  4,
		"expect: {outputs: false, fields: {outputs.1.name: OUTPUT0}}, ":    4,
		"expect: {outputs: false, fields: {model_name: 1}}, ":              4,
		"expect: {outputs: false, sample: 50%, fields: {model_name: x}}, ": 2,
	} {
		for _, url := range []string{s.HTTPURL(), s.GRPCURL()} {
			n := node(t, play(t, `
version: 1
data: {file: `+data+`}
target: {backend: kserve, url: URL, model: identity, ready: 0s}
stages: [{id: s, `+expect+`load: {concurrency: 1}, for: 4 requests}]
`, url, Env{}), "s")
			if expect == "" {
				want := result.ErrorClass{
					Class: "mismatch", Count: 4, Example: "row 0: output OUTPUT0 [0] is 100, want 100.5",
				}
				if diff := cmp.Diff([]result.ErrorClass{want}, n.Errors); diff != "" {
					t.Errorf("%s (-want +got):\n%s", url, diff)
				}
			}
			if got := count(n, "errors.mismatch.count"); got != failed {
				t.Errorf("%s{%s}: %d mismatches, want %d: %+v", url, expect, got, failed, n.Errors)
			}
		}
	}
	for _, c := range []struct {
		transport, expect string
		status            int
		failed            int64
	}{
		{"http", "", 404, 4},
		{"http", "expect: {status: [200, 404]}, ", 404, 0},
		{"http", "expect: {status: [404]}, ", 0, 4},
		{"grpc", "", 5, 4},
		{"grpc", "expect: {status: [0, 5]}, ", 5, 0},
		{"grpc", "expect: {status: [5]}, ", 0, 4},
	} {
		w := watch(t, func(w *witness) { w.dim, w.status = 4, c.status })
		n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, `+c.expect+`load: {concurrency: 1}, for: 4 requests}]
`, w.url(c.transport), Env{}), "s")
		if got := count(n, "errors.status.count"); got != c.failed {
			t.Errorf("%s status %d {%s}: %d failed: %+v", c.transport, c.status, c.expect, got, n.Errors)
		}
	}
}

// TestLevels: every form of a quantity, by the nodes that ran.
func TestLevels(t *testing.T) {
	t.Parallel()
	for load, want := range map[string]string{
		"{concurrency: 2}":      "s",
		"{concurrency: [3, 1]}": "s[concurrency=3] s[concurrency=1]",
		"{concurrency: {levels: {from: 1, to: 3}}}": "s[concurrency=1] s[concurrency=2] " +
			"s[concurrency=3]",
		"{concurrency: {levels: {from: 1, to: 5, step: 2}}}": "s[concurrency=1] s[concurrency=3] " +
			"s[concurrency=5]",
		"{concurrency: {levels: {from: 1, to: 4, factor: 2}}}": "s[concurrency=1] s[concurrency=2] " +
			"s[concurrency=4]",
		"{concurrency: {levels: {from: 1, while: in_flight.max < 3}}}": "s[concurrency=1] s[concurrency=2] " +
			"s[concurrency=3]",
		"{concurrency: {levels: {from: 1, to: 9, while: [{slo: few}]}}}": "s[concurrency=1] s[concurrency=2]",
		"{rate: 900/s}":                                                           "s",
		"{rate: [800/s, 900/s]}":                                                  "s[rate=800/s] s[rate=900/s]",
		"{rate: {levels: {from: 500/s, to: 1000/s}}}":                             "s[rate=500/s] s[rate=1000/s]",
		"{rate: {levels: {from: 500/s, to: 900/s, step: 200/s}}}":                 "s[rate=500/s] s[rate=700/s] s[rate=900/s]",
		"{rate: {levels: {from: 500/s, to: 2000/s, factor: 2}}}":                  "s[rate=500/s] s[rate=1000/s] s[rate=2000/s]",
		"{rate: {levels: {from: 500/s, factor: 2, while: offered.rate < 600/s}}}": "s[rate=500/s] s[rate=1000/s]",
	} {
		w := watch(t, func(w *witness) { w.dim, w.takes = 4, 2*time.Millisecond })
		r := play(t, `
version: 1
slos: {few: [in_flight.max < 2]}
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: `+load+`, for: 60 requests}, {id: z, when: never, load: {concurrency: 1}, for: 1s, assert: [{slo: few}]}]
`, w.URL, Env{})
		var got []string
		for _, n := range r.Nodes {
			got = append(got, n.ID)
			if c := count(n, "requests.count"); c != 60 {
				t.Errorf("%s: %s sent %d", load, n.ID, c)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", load, strings.Join(got, " "), want)
		}
	}
}

// TestInFlight: the server never sees more than max_in_flight, and sees so many when it does not answer.
func TestInFlight(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "grpc"} {
		w := watch(t, func(w *witness) { w.dim, w.hold = 4, make(chan struct{}) })
		go func() {
			until(func() bool { return len(w.all()) >= 5 })
			close(w.hold)
		}()
		play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: {rate: 500/s, max_in_flight: 5}, for: 200 requests}]
`, w.url(transport), Env{})
		if w.peak != 5 || len(w.all()) != 200 {
			t.Errorf("%s: %d in flight at the most, %d requests", transport, w.peak, len(w.all()))
		}
	}
}

// books counts samples by class as they come from the wire.
type books struct {
	class [len(backends.ClassNames)]int64
}

// Write implements measure.Sink.
func (b *books) Write(s *backends.Sample) error {
	if s.Flags&backends.Warmup == 0 {
		b.class[s.Class]++
	}
	return nil
}

// TestDrain: what is open when hold ends is waited for, or cancelled when the drain is over; then
// it is in no error count and no latency. sent = ok + failed + stopped, counted apart from the
// result.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		transport, load, drain string
		free                   bool // the server answers at last
		stopped                int64
	}{
		{"http", "{concurrency: 3}", "0s", false, 3},
		{"grpc", "{concurrency: 3}", "0s", false, 3},
		{"http", "{rate: 100/s, max_in_flight: 4}", "0s", false, 4},
		{"grpc", "{rate: 100/s, max_in_flight: 4}", "0s", false, 4},
		{"http", "{concurrency: 3}", "50ms", false, 3},
		{"http", "{concurrency: 3}", "20s", true, 0},
		{"grpc", "{rate: 20/s}", "20s", true, 0},
	} {
		w := watch(t, func(w *witness) { w.dim, w.hold = 4, make(chan struct{}) })
		sink := &books{}
		began := time.Now()
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: %s, for: 600ms, drain: %s}]
`, c.load, c.drain), w.url(c.transport), Env{Record: keep(sink), Events: func(e Event) {
			if c.free && e.Phase == PhaseDrain {
				select {
				case <-w.hold:
				default:
					close(w.hold)
				}
			}
		}})
		n := node(t, r, "s")
		ok, stopped := sink.class[backends.OK], sink.class[backends.Stopped]
		var failed int64
		for class, k := range sink.class {
			if backends.ErrorClass(class).Failed() {
				failed += k
			}
		}
		if stopped != c.stopped || failed != 0 || count(n, "errors.count") != 0 ||
			count(n, "requests.count") != ok+failed+stopped || *n.Metrics["latency"].Count != ok {
			t.Errorf("%+v: %d ok, %d failed, %d stopped; the result says %d sent, %d failed, %d in latency",
				c, ok, failed, stopped, count(n, "requests.count"), count(n, "errors.count"), *n.Metrics["latency"].Count)
		}
		if c.free != (ok > 0) {
			t.Errorf("%+v: %d ok", c, ok)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("%+v took %v", c, took)
		}
	}
}
