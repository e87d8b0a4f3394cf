package executor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// engine is a server that answers chats with 4 tokens of 10 of its prompt, none cached by its usage, and shows
// vLLM's counters, by which 8 of 10 were; those of another model are 100 times as high.
func engine(t *testing.T) (url string) {
	t.Helper()
	var answered atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		answered.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant",`+
			`"content":"a b c d"},"finish_reason":"length"}],"usage":{"prompt_tokens":10,"completion_tokens":4,`+
			`"total_tokens":14,"prompt_tokens_details":{"cached_tokens":0}}}`)
	})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		n := answered.Load()
		for model, factor := range map[string]int64{"m": 1, "other": 100} {
			fmt.Fprintf(w, "vllm:gpu_cache_usage_perc{model_name=%q} %g\n", model, 0.25*float64(factor))
			for i := range 2 { // two parts of one engine
				fmt.Fprintf(w, "vllm:num_requests_running{model_name=%q,engine=\"%d\"} %d\n", model, i, 2*factor)
			}
			fmt.Fprintf(w, "vllm:num_requests_waiting{model_name=%q} %d\n", model, 3*factor)
			fmt.Fprintf(w, "nv_inference_pending_request_count{model=%q} 9\n", model) // the same queue once more
			fmt.Fprintf(w, "vllm:prefix_cache_hits_total{model_name=%q} %d\n", model, 8*n*factor)
			fmt.Fprintf(w, "vllm:prefix_cache_queries_total{model_name=%q} %d\n", model, 10*n)
			fmt.Fprintf(w, "vllm:num_preemptions_total{model_name=%q} %d\n", model, 2*n*factor)
		}
	})
	mux.HandleFunc("/gpu", func(w http.ResponseWriter, _ *http.Request) {
		n := answered.Load()
		fmt.Fprintf(w, "nv_energy_consumption{gpu_uuid=\"a\"} %d\n", 100*n) // the same GPU once more
		for gpu := range 2 {                                                // 3 J for each answer, of two GPUs
			fmt.Fprintf(w, "DCGM_FI_DEV_POWER_USAGE{gpu=\"%d\"} 1000\n", gpu)
			fmt.Fprintf(w, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"%d\"} %d\n", gpu, 1000+1500*n)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// TestEngine: what several endpoints of a target show of an engine and its GPUs are metrics like all others,
// of the series with the labels that are asked for; old names are known, and what the counters say of cached
// tokens is held against the usage of the answers.
func TestEngine(t *testing.T) {
	url := engine(t)
	r := play(t, `
version: 1
target:
  {backend: openai, url: URL, model: m, endpoint: chat, ready: 0s, probe: false,
   metrics: {url: [/metrics, /gpu], every: 20ms, match: ["vllm:kv_*", "vllm:num_*", "vllm:prefix_*", "DCGM_*", "nv_*"], labels: {model_name: m}}}
data: {rows: [{text: hello}]}
vars: {most: 0.76J}
stages:
  - id: s
    load: {concurrency: 1}
    for: 25 requests
    assert:
      - engine.kv_cache.max <= 25% and engine.kv_cache.min >= 25%
      - engine.running.max == 4
      - engine.waiting.max == 3
      - engine.cached.share > 0.79 and engine.cached.share < 0.81
      - engine.preemptions == 50
      - gpu.energy > 74J and gpu.energy < 76J
      - gpu.energy_per_token > 740 mJ and gpu.energy_per_token < ${most}
      - scrape("vllm:kv_cache_usage_perc").last == 0.25
`, url, Env{})
	n := node(t, r, "s")
	for _, a := range n.Assertions {
		if a.Verdict != result.Pass {
			t.Errorf("%s: %s: %s", a.That, a.Verdict, a.Reason)
		}
	}
	if len(n.Scrapes) != 2 || !strings.HasSuffix(n.Scrapes[1].URL, "/gpu") {
		t.Errorf("%d endpoints were read", len(n.Scrapes))
	}
	if f := n.Finding(result.CachedTokens); f == nil || !strings.Contains(f.Text, "80.0 %") {
		t.Errorf("nothing is said of cached tokens: %+v", n.Validity.Findings)
	}
}
