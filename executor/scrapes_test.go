package executor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestMetrics: the server's own endpoint is read at the start of hold, while it lasts and at its
// end, and expressions read it; what is matched is kept and nothing else.
func TestMetrics(t *testing.T) {
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: triton, url: URL, model: simple, metrics: {url: /metrics, every: 50ms, match: ["nv_inference_*"]}}
stages:
  - id: s
    load: {concurrency: 1}
    for: 40 requests
    assert:
      - scrape("nv_inference_count{model='simple'}").increase == 40
      - scrape("nv_inference_request_success").increase == 40
      - scrape("nv_inference_count{model='simple'}").last >= 40
      - scrape("nv_inference_pending_request_count{model='simple'}").max <= 1
      - scrape("nv_inference_count{model='simple'}").rate > 0
      - {that: 'scrape("nv_inference_count{model=''nosuch''}").max == 0', severity: warn}
      - {that: 'scrape("nv_gpu_utilization").mean < 1', severity: warn}
      - {that: 'scrape("nv_inference_count").last > 0', severity: warn}
`, s.HTTPURL(), Env{})
	n := node(t, r, "s")
	if r.ExitCode != 0 {
		t.Fatalf("exit %d: %s", r.ExitCode, r.Reason)
	}
	for i, want := range []string{
		"but not with these labels", "shows no series nv_gpu_utilization", "series match, and `last` is of one",
	} {
		if a := n.Assertions[5+i]; a.Verdict != result.Inconclusive || !strings.Contains(a.Reason, want) {
			t.Errorf("%s: %s: %s; want %q", a.That, a.Verdict, a.Reason, want)
		}
	}
	if len(n.Scrapes) != 1 || len(n.Scrapes[0].At) < 2 {
		t.Fatalf("scrapes: %+v", n.Scrapes)
	}
	for _, x := range n.Scrapes[0].Series {
		if !strings.HasPrefix(x.Name, "nv_inference_") || len(x.Values) != len(n.Scrapes[0].At) {
			t.Errorf("series %s with %d of %d values", x.String(), len(x.Values), len(n.Scrapes[0].At))
		}
	}
	if n.Metrics["gpu.utilization"] != nil {
		t.Error("a server without GPUs has GPU metrics")
	}
}

// TestMetricsHeaders: metrics at a path of the target's own server are asked for with the target's headers, as
// servers with an API key want; other servers are not sent them.
func TestMetricsHeaders(t *testing.T) {
	var leaked atomic.Int64
	asked := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization")+r.Header.Get("X-Team") != "" {
			leaked.Add(1)
		}
		fmt.Fprintln(w, "b 1")
	}
	other := httptest.NewServer(http.HandlerFunc(asked))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer sk-12345" || r.Header.Get("X-Team") != "a":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/metrics":
			fmt.Fprintln(w, "a 1")
		}
	})
	own := httptest.NewServer(mux)
	t.Cleanup(own.Close)
	r := play(t, `
version: 1
vars: {key: {default: sk-12345, secret: true}}
target: {backend: http, url: "URL/ok", headers: {Authorization: "Bearer ${key}", X-Team: a}, metrics: {url: [/metrics, "`+
		other.URL+`/metrics"]}}
data: {rows: [{x: 1}]}
stages: [{id: s, load: {concurrency: 1}, for: 20 requests, assert: [scrape("a").last == 1, scrape("b").last == 1]}]
`, own.URL, Env{})
	if r.ExitCode != 0 || leaked.Load() != 0 {
		t.Errorf("exit %d: %s; %d requests to another server had headers", r.ExitCode, r.Reason, leaked.Load())
	}
}

// TestMetricsOfNoGPU: families that a server does not show are no finding, and nothing is kept of
// them: perf_analyzer warns of each of four.
func TestMetricsOfNoGPU(t *testing.T) {
	s := serve(t, builtin.Config{})
	n := node(t, play(t, `
version: 1
target: {backend: triton, url: URL, model: simple, metrics: {url: /metrics, every: 20ms, match: ["nv_gpu_*"]}}
stages: [{id: s, load: {concurrency: 1}, for: 30 requests}]
`, s.HTTPURL(), Env{}), "s")
	for _, f := range n.Validity.Findings {
		if f.Code == "metrics" {
			t.Errorf("%+v", f)
		}
	}
	for _, x := range n.Scrapes {
		if len(x.Series) > 0 {
			t.Errorf("%+v", x.Series)
		}
	}
}

// prometheus serves a page that a test makes for each reading, counted from 0.
func prometheus(t *testing.T, page func(n int64) string) (url string) {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := page(n.Add(1) - 1)
		if text == "" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestGPU: all readings of all GPUs make the gpu.* metrics, in base units, whoever shows them; a
// GPU that is missing from a reading and a number that is none count nothing.
func TestGPU(t *testing.T) {
	url := prometheus(t, func(n int64) string {
		second := "nv_gpu_utilization{gpu_uuid=\"b\"} 0.23\nnv_gpu_power_usage{gpu_uuid=\"b\"} Nan\n"
		if n%2 == 1 {
			second = ""
		}
		return "nv_gpu_utilization{gpu_uuid=\"a\"} 0.45\n" + second +
			"nv_gpu_power_usage{gpu_uuid=\"a\"} 70\nDCGM_FI_DEV_FB_USED{gpu=\"0\"} 2\n"
	})
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, metrics: {url: "`+url+`", every: 20ms}}
stages:
  - id: s
    load: {concurrency: 1}
    for: 300ms
    assert: [gpu.utilization.max <= 45%, gpu.utilization.max >= 45%, gpu.utilization.min <= 23%, gpu.utilization.min >= 23%, gpu.memory.max <= 2MiB, gpu.memory.max >= 2MiB]
`, s.HTTPURL(), Env{})
	if m := node(t, r, "s").Metrics["gpu.power"]; m == nil || *m.Mean != 70 || *m.Count < 2 {
		t.Errorf("gpu.power: %+v", m)
	}
	for _, a := range node(t, r, "s").Assertions {
		if a.Verdict != result.Pass {
			t.Errorf("%s: %s: %s", a.That, a.Verdict, a.Reason)
		}
	}
}

// TestMetricsBroken: an endpoint that cannot be read fails the stage before it sends; one that
// breaks later leaves a note, and what was read counts; counters that appear late or are set back
// are counted.
func TestMetricsBroken(t *testing.T) {
	w := watch(t, func(w *witness) { w.dim, w.hold = 4, make(chan struct{}) })
	const plan = `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s, metrics: {url: "AT", every: 10ms}}
stages:
  - {id: s, load: {concurrency: 1}, for: 1 request, assert: ['scrape("preemptions").increase == 1', 'scrape("restarted").increase >= 5']}
`
	r := play(t, strings.ReplaceAll(plan, "AT", prometheus(t, func(int64) string { return "{" })), w.URL, Env{})
	if r.ExitCode != 4 || !strings.Contains(r.Reason, "text format") {
		t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
	}
	url := prometheus(t, func(n int64) string {
		switch {
		case n == 3:
			return ""
		case n > 6:
			if n == 9 { // enough was read for what follows
				close(w.hold)
			}
			return "preemptions 1\nrestarted 2\n"
		}
		return fmt.Sprintf("restarted %d\n", 10+n)
	})
	n := node(t, play(t, strings.ReplaceAll(plan, "AT", url), w.URL, Env{}), "s")
	for _, a := range n.Assertions {
		if a.ID != program.DefaultErrors && a.Verdict != result.Pass {
			t.Errorf("%s: %s: %s", a.That, a.Verdict, a.Reason)
		}
	}
	noted := false
	for _, f := range n.Validity.Findings {
		noted = noted || f.Code == "metrics" && strings.Contains(f.Text, "status 500")
	}
	if !noted {
		t.Errorf("no note of the failed reading: %+v", n.Validity.Findings)
	}
}

// TestMetricsLost: an endpoint that is read no more at the end proves nothing about the time that
// it was not read; one that failed in between does.
func TestMetricsLost(t *testing.T) {
	s := serve(t, builtin.Config{})
	const plan = `
version: 1
target: {backend: kserve, url: URL, model: simple, metrics: {url: "AT", every: 20ms}}
stages:
  - id: s
    load: {concurrency: 1}
    for: 400ms
    assert: ['scrape("failures").increase == 0', 'scrape("failures").max <= 0', 'scrape("failures").last == 0', 'scrape("failures").rate == 0']
`
	for _, c := range []struct {
		name    string
		fails   func(n int64) bool
		verdict result.Verdict
	}{
		{"never", func(int64) bool { return false }, result.Pass},
		{"in between", func(n int64) bool { return n == 4 || n == 5 }, result.Pass},
		{"from then on", func(n int64) bool { return n > 4 }, result.Inconclusive},
	} {
		url := prometheus(t, func(n int64) string {
			if c.fails(n) {
				return ""
			}
			return "failures 0\nnv_gpu_utilization 0.5\n"
		})
		n := node(t, play(t, strings.ReplaceAll(plan, "AT", url), s.HTTPURL(), Env{}), "s")
		if known := n.Metrics["gpu.utilization"] != nil; known != (c.verdict == result.Pass) {
			t.Errorf("%s: the use of the GPU is known: %t", c.name, known)
		}
		for _, a := range n.Assertions {
			if a.ID == program.DefaultErrors {
				continue
			}
			if a.Verdict != c.verdict ||
				c.verdict != result.Pass &&
					!strings.Contains(a.Reason,
						"readings of the metrics endpoint failed, and there is none of the start or the end") {
				t.Errorf("%s: %s: %s: %s", c.name, a.That, a.Verdict, a.Reason)
			}
		}
	}
}

// TestMetricsSlow: an endpoint that takes longer to answer than it is to be read is told of once,
// with both times.
func TestMetricsSlow(t *testing.T) {
	t.Parallel()
	url := prometheus(t, func(int64) string {
		<-time.After(45 * time.Millisecond)
		return "a 1\n"
	})
	s := serve(t, builtin.Config{})
	n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, metrics: {url: "`+url+`", every: 10ms}}
stages: [{id: s, load: {concurrency: 1}, for: 300ms}]
`, s.HTTPURL(), Env{}), "s")
	var notes []string
	for _, f := range n.Validity.Findings {
		if f.Code == "metrics" {
			notes = append(notes, f.Text)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "to answer, and is to be read every 10ms: ") {
		t.Errorf("%q", notes)
	}
}

// TestMetricsRepeats: readings of repeats stand one after the other, and increases are those of all
// repeats.
func TestMetricsRepeats(t *testing.T) {
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: triton, url: URL, model: simple, metrics: {url: /metrics, every: 20ms, match: [nv_inference_count]}}
stages:
  - {id: s, repeat: 2, load: {concurrency: 1}, for: 30 requests, assert: ['scrape("nv_inference_count{model=''simple''}").increase == 60']}
`, s.HTTPURL(), Env{})
	n := node(t, r, "s")
	if r.ExitCode != 0 || len(n.Scrapes) != 1 || len(n.Scrapes[0].Repeats) != len(n.Scrapes[0].At) {
		t.Errorf("exit %d: %s; %+v", r.ExitCode, r.Reason, n.Scrapes)
	}
}
