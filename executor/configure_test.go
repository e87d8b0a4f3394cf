package executor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// configPlan loads a model with two configurations.
const configPlan = `
version: 1
` + noLimits + `
target: {backend: triton, url: URL, model: identity_fp32, ready: 0s}
stages:
  - id: c
    matrix: {instances: [2, 3]}
    before: [{load_model: {name: identity_fp32, config: {max_batch_size: 8, instance_group: [{count: "${matrix.instances}"}]}}}]
    shapes: {INPUT0: [4]}
    load: {concurrency: 2}
    for: SPAN
    best: {max: throughput, where: latency.p50 < 10s}
`

// configuration reads the configuration of the model over HTTP.
func configuration(t *testing.T, s *builtin.Server) string {
	t.Helper()
	resp, err := http.Get(s.HTTPURL() + "/v2/models/identity_fp32/config")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if err := resp.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(b.String(), "\r\n\r\n")
	return body
}

// TestModelConfig: a stage loads its model with the configuration of each point, of which the result has the
// text, and the model has its own again afterwards: also after an interrupt, and if it was not loaded.
func TestModelConfig(t *testing.T) {
	for _, protocol := range []string{"http", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{})
			at := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[protocol]
			own := configuration(t, s)
			r := play(t, strings.ReplaceAll(configPlan, "SPAN", "20 requests"), at, Env{})
			if r.ExitCode != 0 || len(r.Best) != 1 || r.Best[0].Node == "" {
				t.Fatalf("exit %d: %s", r.ExitCode, r.Reason)
			}
			for _, count := range []string{"2", "3"} {
				n := node(t, r, "c[instances="+count+"]")
				if len(n.Configurations) != 1 || !strings.Contains(n.Configurations[0].Text, "count: "+count+"\n") ||
					!strings.Contains(n.Configurations[0].Text, "max_batch_size: 8\n") {
					t.Errorf("%s: %+v", n.ID, n.Configurations)
				}
			}
			if now := configuration(t, s); now != own {
				t.Errorf("after the run\n%s\nwant\n%s", now, own)
			}
			stop, during := make(chan int, 1), ""
			r = play(t, strings.ReplaceAll(configPlan, "SPAN", "60s"), at, Env{Interrupt: stop, Events: func(e Event) {
				if e.Phase == PhaseHold && during == "" {
					during = configuration(t, s)
					stop <- 2
				}
			}})
			if b := r.BestOf("c"); b == nil || b.Node != "" || r.Assertions[0].Verdict != result.Inconclusive {
				t.Errorf("the best of an interrupted stage: %+v", b)
			}
			if now := configuration(t, s); r.ExitCode != 130 || now != own || during == own {
				t.Errorf("exit %d, during it\n%s\nafter it\n%s", r.ExitCode, during, now)
			}
			post(t, s.HTTPURL()+"/v2/repository/models/identity_fp32/unload")
			r = play(t, strings.ReplaceAll(configPlan, "SPAN", "20 requests"), at, Env{})
			if err := answers(t.Context(), s, "identity_fp32"); r.ExitCode != 0 || err == nil {
				t.Errorf("exit %d: %s; a model that was not loaded is there afterwards: %v", r.ExitCode, r.Reason, err)
			}
		})
	}
}

func post(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// TestModelConfigStays: a server that does not take a configuration back is exit 4, with both; one that loads
// none by request fails the set-up, and says what it must be started with.
func TestModelConfigStays(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	behind, err := url.Parse(s.HTTPURL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	var loads atomic.Int32
	fixed := false // loads nothing by request
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		load := strings.HasSuffix(r.URL.Path, "/load")
		switch {
		case load && fixed:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":"explicit model load / unload is not allowed if polling is enabled"}`)
		case load && loads.Add(1) > 2: // the third is to restore it
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	r := play(t, strings.ReplaceAll(configPlan, "SPAN", "20 requests"), front.URL, Env{})
	for _, want := range []string{
		"the configuration of model identity_fp32 is not what it was", `instance_group was [{"count":1,`,
		`and is [{"count":3,`, "max_batch_size was 64 and is 8",
	} {
		if r.ExitCode != 4 || !strings.Contains(r.Reason, want) {
			t.Errorf("no %q in exit %d: %s", want, r.ExitCode, r.Reason)
		}
	}
	fixed = true
	r = play(t, strings.ReplaceAll(configPlan, "SPAN", "20 requests"), front.URL, Env{})
	if n := node(t, r, "c[instances=2]"); r.ExitCode != 4 || n.Outcome != result.Failed ||
		!strings.Contains(n.Reason, "the server must run with --model-control-mode=explicit") {
		t.Errorf("exit %d: %s", r.ExitCode, n.Reason)
	}
}

// TestModelConfigWithoutAnswer: a model that was not loaded, and that the server loads too slowly, is not left there.
func TestModelConfigWithoutAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	behind, err := url.Parse(s.HTTPURL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/load") {
			post(t, s.HTTPURL()+r.URL.Path)
			<-r.Context().Done()
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	post(t, s.HTTPURL()+"/v2/repository/models/identity_fp32/unload")
	plan := strings.NewReplacer("SPAN", "20 requests", "ready: 0s", "ready: 0s, timeout: 500ms").Replace(configPlan)
	r := play(t, plan, front.URL, Env{})
	if err := answers(t.Context(), s, "identity_fp32"); r.ExitCode != 4 || err == nil {
		t.Errorf("exit %d: %s; a model that was not loaded is there afterwards: %v", r.ExitCode, r.Reason, err)
	}
}

// TestModelConfigClash: two stages that run at the same time and give one model of a server a configuration each,
// over protocols whose URLs do not show that it is one, end the run, and the model is as it was before both.
func TestModelConfigClash(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	own := configuration(t, s)
	r := play(t, `
version: 1
`+noLimits+`
targets:
  a: {backend: triton, url: "`+s.HTTPURL()+`", model: identity_fp32, ready: 0s}
  b: {backend: triton, url: "`+s.GRPCURL()+`", model: identity_fp32, ready: 0s}
defaults: {shapes: {INPUT0: [4]}, load: {concurrency: 1}, for: 20 requests}
stages:
  - parallel:
      - {id: a, target: a, before: [{load_model: {name: identity_fp32, config: {instance_group: [{count: 2}]}}}]}
      - {id: b, target: b, before: [{load_model: {name: identity_fp32, config: {instance_group: [{count: 3}]}}}]}
`, "", Env{})
	var reasons []string
	for _, n := range r.Nodes {
		reasons = append(reasons, n.Reason)
	}
	if text := strings.Join(reasons, "; "); r.ExitCode != 4 ||
		!strings.Contains(text, "run at the same time and load model identity_fp32 with a configuration each, on one server") {
		t.Errorf("exit %d: %s; %s", r.ExitCode, r.Reason, text)
	}
	if now := configuration(t, s); now != own {
		t.Errorf("after the run\n%s\nwant\n%s", now, own)
	}
}
