package executor

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestGraphRules: `needs`, `when`, `on_fail`, `while`, one row each: stage outcomes in running
// order, and the run's exit code. What is skipped by `when` changes no exit code, and what `while`
// ends fails nothing.
func TestGraphRules(t *testing.T) {
	t.Parallel()
	const bad, good = `assert: [latency.p50 < 1ns, errors.count == 0]`, `assert: [errors.count == 0]`
	for _, c := range []struct{ name, stages, want string }{
		{"all well", `[{id: a, GOOD}, {id: b, GOOD}]`, "a done b done exit 0"},
		{"the one before failed", `[{id: a, BAD}, {id: b, GOOD}]`, "a done b skipped exit 1"},
		{
			"a skipped one counts as failed", `[{id: a, BAD}, {id: b, GOOD}, {id: c, GOOD}]`,
			"a done b skipped c skipped exit 1",
		},
		{"failure may be tolerated", `[{id: a, BAD, on_fail: continue}, {id: b, GOOD}]`, "a done b done exit 1"},
		{
			"a tolerated failure is one for who waits for it",
			`[{id: a, BAD, on_fail: continue}, {id: b, GOOD}, {id: c, GOOD, needs: [a], when: failure}]`,
			"a done b done c done exit 1",
		},
		{"run on failure", `[{id: a, BAD}, {id: b, GOOD, when: failure}]`, "a done b done exit 1"},
		{"no failure to run on", `[{id: a, GOOD}, {id: b, GOOD, when: failure}]`, "a done b skipped exit 0"},
		{"always", `[{id: a, BAD}, {id: b, GOOD, when: always}]`, "a done b done exit 1"},
		{
			"never is as if absent", `[{id: a, GOOD}, {id: x, BAD, when: never}, {id: b, GOOD}]`,
			"a done b done exit 0",
		},
		{"needs beat the list", `[{id: a, GOOD, needs: [b]}, {id: b, GOOD, needs: []}]`, "b done a done exit 0"},
		{
			"inconclusive does not block",
			`[{id: a, load: {concurrency: 1}, for: 3 requests, assert: [latency.p99 < 10s]}, {id: b, GOOD}]`,
			"a done b done exit 3",
		},
		{
			"while ends the ladder, and fails nothing",
			`[{id: a, model: slow, load: {concurrency: {levels: {from: 1, to: 4, while: in_flight.max < 2}}}, ` +
				`for: 20 requests}, {id: b, GOOD}]`,
			"a[concurrency=1] done a[concurrency=2] done b done exit 0",
		},
		{
			"an open ladder",
			`[{id: a, model: slow, load: {concurrency: {levels: {from: 1, factor: 2, while: in_flight.max < 2}}}, ` +
				`for: 20 requests}]`,
			"a[concurrency=1] done a[concurrency=2] done exit 0",
		},
		{
			"a ladder none of whose levels holds blocks nothing, and proves nothing",
			`[{id: a, load: {concurrency: {levels: {from: 1, to: 4, while: latency.p50 < 1ns}}}, for: 20 ` +
				`requests}, {id: b, GOOD}]`,
			"a[concurrency=1] done b done exit 3",
		},
		{
			"one that waits for the skipped one did not run, though nothing failed",
			`[{id: a, GOOD}, {id: b, GOOD, when: failure}, {id: c, GOOD}]`, "a done b skipped c skipped exit 3",
		},
		{
			"levels all run, whatever fails",
			`[{id: a, load: {concurrency: [1, 2]}, for: 20 requests, assert: [latency.p50 < 1ns]}]`,
			"a[concurrency=1] done a[concurrency=2] done exit 1",
		},
		{"always, after a success too", `[{id: a, GOOD}, {id: b, GOOD, when: always}]`, "a done b done exit 0"},
		{
			"a skipped one is a failure to run on", `[{id: a, BAD}, {id: b, GOOD}, {id: c, GOOD, when: failure}]`,
			"a done b skipped c done exit 1",
		},
		{
			"unstable does not block",
			`[{id: a, load: {concurrency: 1}, until: {stable: {window: 5 requests, within: 0.0001%, max_windows: ` +
				`3, metrics: [latency.p95]}}}, {id: b, GOOD}]`,
			"a unstable b done exit 3",
		},
		{
			"a failed set-up blocks", `[{id: a, GOOD, before: [{call: "POST /nowhere"}]}, {id: b, GOOD}]`,
			"a failed b skipped exit 4",
		},
		{
			"a division by nothing is inconclusive, and does not block",
			`[{id: a, GOODAND "latency.p50 < latency.p50 / errors.ratio"]}, {id: b, GOOD}]`, "a done b done exit 3",
		},
		{"points all run, whatever fails", `[{id: a, matrix: {x: [1, 2]}, BAD}]`, "a[x=1] done a[x=2] done exit 1"},
		{"repeats all run, whatever fails", `[{id: a, repeat: 3, BAD}]`, "a done, 3 times exit 1"},
	} {
		s := serve(t, builtin.Config{})
		text := strings.NewReplacer(
			"BAD", "load: {concurrency: 1}, for: 20 requests, "+bad, "GOODAND",
			"load: {concurrency: 1}, for: 20 requests, assert: [errors.count == 0,", "GOOD",
			"load: {concurrency: 1}, for: 20 requests, "+good,
		).Replace(c.stages)
		r := play(t, "version: 1\ntarget: {backend: kserve, url: URL, model: simple}\nstages: "+text+"\n",
			s.HTTPURL(), Env{})
		var got []string
		for _, n := range r.Nodes {
			outcome := string(n.Outcome)
			if len(n.Repeats) > 0 {
				outcome += fmt.Sprintf(", %d times", len(n.Repeats))
			}
			got = append(got, n.ID, outcome)
		}
		got = append(got, fmt.Sprintf("exit %d", r.ExitCode))
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestStable: a steady server becomes stable in the least number of windows; one that never agrees
// is reported unstable.
func TestStable(t *testing.T) {
	t.Parallel()
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
	n = node(t, r, "never")
	if n.Outcome != result.Unstable || len(n.Windows) != 4 {
		t.Errorf("%s after %d windows", n.Outcome, len(n.Windows))
	}
	said := regexp.MustCompile(`no agreement within 0.0001 % after 4 windows: latency.mean varied by ` +
		`[0-9.]+ % \([0-9.]+ ms to [0-9.]+ ms\); the last 3 are reported`)
	for _, text := range []string{n.Reason, n.Assertions[0].Reason} {
		if !said.MatchString(text) || strings.Count(text, "stable") > 1 {
			t.Errorf("%q does not say what varied, and by how much", text)
		}
	}
	if r.ExitCode != 3 {
		t.Errorf("exit code %d: an unstable node proves nothing", r.ExitCode)
	}
}

// TestSecrets: a secret reaches the wire and nothing else.
func TestSecrets(t *testing.T) {
	t.Parallel()
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
	p, diags := program.Compile(plan, all.Kinds())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	r, _ := Run(context.Background(), p, Env{})
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
	t.Parallel()
	s := serve(t, builtin.Config{})
	p := compile(t, `
version: 1
target: {backend: triton, url: URL, model: simple}
stages:
  - {id: s, load: {concurrency: 1}, batch: 99, for: 5 requests}
  - {id: t, load: {concurrency: 1}, shapes: {INPUT7: [1]}, for: 5 requests}
  - {id: u, load: {concurrency: {levels: {from: 1, while: latency.mean < 5s}}}, for: 5 requests}
`, s.HTTPURL())
	r, diags := Run(context.Background(), p, Env{})
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
	if got := skipped(r); !slices.Equal(got, []string{"s", "t", "u[concurrency=1]"}) {
		t.Errorf("skipped: %q", got)
	}
}

// skipped are the nodes of a result, which must all be skipped, with a reason.
func skipped(r *result.Result) (ids []string) {
	for _, n := range r.Nodes {
		if ids = append(ids, n.ID); n.Outcome != result.SkippedNode && n.Outcome != result.Failed ||
			n.Reason == "" {
			ids = append(ids, string(n.Outcome))
		}
	}
	return ids
}

// TestLadderThatNeverBegan: of levels without an end those that were never reached are not in the
// result; all of a ladder with an end are.
func TestLadderThatNeverBegan(t *testing.T) {
	t.Parallel()
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 50ms, connect_timeout: 50ms}
stages:
  - {id: s, load: {concurrency: {levels: {from: 1, while: latency.mean < 5s}}}, for: 5 requests, on_fail: continue}
  - {id: t, load: {rate: [1/s, 2/s]}, for: 5 requests}
`, "http://127.0.0.1:1", Env{})
	if got := skipped(r); r.ExitCode != 4 ||
		!slices.Equal(got, []string{"s[concurrency=1]", "t[rate=1/s]", "t[rate=2/s]"}) {
		t.Errorf("exit %d, %q", r.ExitCode, got)
	}
	for _, n := range r.Nodes {
		if len(n.Validity.Findings) > 0 {
			t.Errorf("%s: %v", n.ID, n.Validity.Findings)
		}
	}
}

// TestProbe: ready means one real request answered: the server sees it before the first stage, and
// `ready: 0s` sends none.
func TestProbe(t *testing.T) {
	t.Parallel()
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
target: {backend: kserve, url: URL, model: simple, ready: 1s}
stages: [{id: a, load: {concurrency: 1}, for: 3 requests}]
`, url, Env{})
		if n := node(t, r, "a"); r.ExitCode != 4 || n.Outcome != result.Failed ||
			!strings.Contains(n.Reason, "no request was answered within 1s") {
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
	t.Parallel()
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
	if b := node(t, r, "b"); r.ExitCode != 6 || b.Outcome != result.Failed ||
		!strings.Contains(b.Reason, "planted") {
		t.Errorf("exit %d, %s: %s", r.ExitCode, b.Outcome, b.Reason)
	}
	if a := node(t, r, "a"); a.Outcome != result.Done || count(a, "requests.count") != 3 {
		t.Errorf("%s, %d requests", a.Outcome, count(a, "requests.count"))
	}
}

// TestUnfinished: requests that were due and have no outcome are slower than all others. Leaving
// them out would make a server that cannot keep up look fast, which is coordinated omission by the
// drain.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - id: s
    load: {rate: 100/s, max_in_flight: 1}
    for: 1s
    drain: 0s
    assert: [latency.p50 < 10s, latency.p1 < 10s, incomplete.count >= 40]
`, s.HTTPURL(), Env{})
	n := node(t, r, "s")
	if n.Outcome == result.Invalid { // the machine was busy: all is inconclusive, rightly
		return
	}
	verdicts := []result.Verdict{n.Assertions[0].Verdict, n.Assertions[1].Verdict, n.Assertions[2].Verdict}
	if !slices.Equal(verdicts, []result.Verdict{result.Inconclusive, result.Pass, result.Pass}) ||
		!strings.Contains(n.Assertions[0].Reason, "have no outcome") {
		t.Errorf("%v: %s", verdicts, n.Assertions[0].Reason)
	}
	if sent, lost := count(n, "requests.count"), count(n, "incomplete.count"); sent+lost < 100 {
		t.Errorf("sent %d, without outcome %d, of 100", sent, lost)
	}
}

// TestLongReplyIsAnAnswer: a request that is still being answered when the patience with the target
// is over shows that it is there.
func TestLongReplyIsAnAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for url, keys := range map[string]string{s.GRPCURL(): "", s.HTTPURL(): "endpoint: generate, "} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			r := play(t, `
version: 1
target: {backend: triton, url: URL, model: tokens_decoupled, `+keys+`streaming: true, ready: 300ms}
data: {generate: {text_input: a b, max_tokens: 150, stream: true}}
stages: [{id: a, load: {concurrency: 1}, for: 1 request}]
`, url, Env{})
			if n := node(t, r, "a"); n.Outcome != result.Done && n.Outcome != result.Invalid {
				t.Errorf("%s: %s", n.Outcome, n.Reason)
			}
		})
	}
}
