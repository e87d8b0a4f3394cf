package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// over plays a plan over both protocols, with URL in it, and GONE for the codes of a model that is
// not there, and checks each result.
func over(t *testing.T, plan string, check func(t *testing.T, s *builtin.Server, r *result.Result)) {
	t.Helper()
	for _, protocol := range []string{"http", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			s := serve(t, builtin.Config{})
			url, gone := s.HTTPURL(), "[400, 404]"
			if protocol == "grpc" {
				url, gone = s.GRPCURL(), "[5, 14]"
			}
			check(t, s, play(t, strings.ReplaceAll(plan, "GONE", gone), url, Env{}))
		})
	}
}

// TestComposing: the models of an ensemble are found by themselves, those that the plan names are
// read too; what they counted stands in the result and answers expressions.
func TestComposing(t *testing.T) {
	over(t, `
version: 1
target: {backend: triton, url: URL, model: ensemble, composing_models: [simple, "slow:1"], ready: 0s}
stages:
  - id: s
    load: {concurrency: 2}
    for: 40 requests
    assert:
      - errors.count == 0
      - model("simple").server.requests.count == 2 * server.requests.count
      - model("simple").server.request.mean <= server.request.mean
      - model("slow").server.requests.count == 0
`, func(t *testing.T, _ *builtin.Server, r *result.Result) {
		if r.ExitCode != 0 {
			t.Fatalf("exit %d: %s", r.ExitCode, r.Reason)
		}
		n := node(t, r, "s")
		if len(n.Models) != 2 {
			t.Fatalf("%d models", len(n.Models))
		}
		simple, slow := n.Models[0], n.Models[1]
		if simple.Name != "simple" || simple.Version != "1" || simple.CalledBy != "ensemble" ||
			simple.Calls == nil || *simple.Calls != 2 {
			t.Errorf("called model: %+v", simple)
		}
		if slow.Name != "slow" || slow.Version != "1" || *slow.Calls != 0 {
			t.Errorf("named model: %+v", slow)
		}
		if got := value(t, n, "server.requests.count"); got != 40 {
			t.Errorf("the server counted %v requests of the ensemble", got)
		}
	})
}

// TestComposingUnknown: a model that the plan names must be there.
func TestComposingUnknown(t *testing.T) {
	over(t, `
version: 1
target: {backend: triton, url: URL, model: simple, composing_models: [nosuch], ready: 0s}
stages: [{id: s, load: {concurrency: 1}, for: 4 requests}]
`, func(t *testing.T, s *builtin.Server, r *result.Result) {
		if r.ExitCode != 4 || !strings.Contains(r.Reason, "composing model nosuch") {
			t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
		}
	})
}

// TestServerSlices: what the server did stands in the slices, and adds up to what it did in all.
func TestServerSlices(t *testing.T) {
	t.Parallel()
	over(t, `
version: 1
target: {backend: triton, url: URL, model: slow4, ready: 0s}
stages: [{id: s, load: {concurrency: 4}, for: 3s}]
`, func(t *testing.T, _ *builtin.Server, r *result.Result) {
		n := node(t, r, "s")
		known, sum := 0, 0.0
		for _, s := range n.Slices {
			if s.Server != nil {
				known++
				sum += s.Server["server.requests.count"]
			}
		}
		all := value(t, n, "server.requests.count")
		if known == 0 || sum <= 0 || sum > all*1.2 {
			t.Errorf("%d of %d slices know what the server did: %v of %v requests", known, len(n.Slices), sum, all)
		}
	})
}

// setting is a setting of the embedded server as it is now.
func setting(t *testing.T, s *builtin.Server, path, name string) any {
	t.Helper()
	resp, err := http.Get(s.HTTPURL() + path) //nolint:noctx // a test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	return all[name]
}

// TestSettings: trace and log settings are those of the plan while it runs, and what they were
// before on every way out.
func TestSettings(t *testing.T) {
	const plan = `
version: 1
target:
  backend: triton
  url: URL
  model: MODEL
  ready: 0s
  trace: {level: [TIMESTAMPS, TENSORS], rate: 7, count: 100, log_frequency: 3}
  log: {verbose: 2, info: false, warning: false, error: false, format: ISO8601}
stages: [{id: s, load: {concurrency: 1}, for: 20s, assert: [{that: errors.count == 0, abort: true}]}]
`
	for _, protocol := range []string{"http", "grpc"} {
		s := serve(t, builtin.Config{})
		url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[protocol]
		before := fmt.Sprint(setting(t, s, "/v2/trace/setting", "trace_level"),
			setting(t, s, "/v2/logging", "log_info"))
		seen, stop := "", make(chan int, 1)
		r := play(t, strings.ReplaceAll(plan, "MODEL", "simple"), url, Env{Interrupt: stop, Events: func(e Event) {
			if e.Phase == PhaseHold && seen == "" {
				var list []string
				for path, names := range map[string]string{
					"/v2/trace/setting": "trace_level trace_rate trace_count log_frequency",
					"/v2/logging":       "log_verbose_level log_info log_format log_error",
				} {
					for _, name := range strings.Fields(names) {
						list = append(list, fmt.Sprint(name, "=", setting(t, s, path, name), " "))
					}
				}
				seen = strings.Join(list, "")
				stop <- 2
			}
		}})
		if r.ExitCode != 130 {
			t.Errorf("%s: exit %d: %s", protocol, r.ExitCode, r.Reason)
		}
		for _, want := range []string{
			"trace_level=[TIMESTAMPS TENSORS] ", "trace_rate=7 ", "trace_count=100 ", "log_frequency=3 ",
			"log_verbose_level=2 ",
			"log_info=false ", "log_error=false ", "log_format=ISO8601 ",
		} {
			if !strings.Contains(seen, want) {
				t.Errorf("%s: while it ran the settings were %s; want %s", protocol, seen, want)
			}
		}
		if after := fmt.Sprint(setting(t, s, "/v2/trace/setting", "trace_level"),
			setting(t, s, "/v2/logging", "log_info")); after != before {
			t.Errorf("%s: before %s, after an interrupt %s", protocol, before, after)
		}
		r = play(t, strings.ReplaceAll(plan, "MODEL", "nosuch"), url, Env{})
		if after := fmt.Sprint(setting(t, s, "/v2/trace/setting", "trace_level"),
			setting(t, s, "/v2/logging", "log_info")); r.ExitCode != 4 || after != before {
			t.Errorf("%s: before %s, after a failed set-up (exit %d) %s", protocol, before, r.ExitCode, after)
		}
	}
}

// TestModelControl: a stage may load the model that it sends to, and unload it afterwards; what the
// server cannot load fails the stage before anything is sent.
func TestModelControl(t *testing.T) {
	over(t, `
version: 1
target: {backend: triton, url: URL, model: slow4}
stages:
  - {id: off, model: simple, load: {concurrency: 1}, for: 3 requests, after: [{unload_model: slow4}]}
  - {id: on, load: {concurrency: 1}, for: 3 requests, before: [{load_model: slow4}], after: [{unload_model: slow4}]}
  - {id: gone, load: {concurrency: 1}, for: 3 requests, expect: {status: GONE}}
  - {id: not, when: always, load: {concurrency: 1}, for: 3 requests, before: [{load_model: idenity}]}
`, func(t *testing.T, s *builtin.Server, r *result.Result) {
		for id, want := range map[string]result.Outcome{
			"off": result.Done, "on": result.Done, "gone": result.Failed, "not": result.Failed,
		} {
			if n := node(t, r, id); n.Outcome != want && (id != "gone" || n.Outcome != result.SkippedNode) {
				t.Errorf("%s: %s: %s", id, n.Outcome, n.Reason)
			}
		}
		if n := node(t, r, "not"); n.Outcome == result.Failed &&
			(!strings.Contains(n.Reason, `load model idenity: the server does not know model "idenity"`) ||
				!strings.Contains(n.Reason, `; did you mean "identity"? It has `)) {
			t.Errorf("reason %q", n.Reason)
		}
		if err := answers(t.Context(), s, "slow4"); err == nil {
			t.Error("the model is still loaded")
		}
	})
}

// answers reports whether a model of the embedded server is ready.
func answers(ctx context.Context, s *builtin.Server, model string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.HTTPURL()+"/v2/models/"+model+"/ready",
		http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}
