package trial

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// TestEachOnce: an endpoint of two targets counts once; two of one target that are shown alike differ by their query.
func TestEachOnce(t *testing.T) {
	at := func(target string) result.Scrape { return result.Scrape{Target: target, URL: "http://h/metrics"} }
	if n := len(eachOnce([]result.Scrape{at("a"), at("a"), at("b")})); n != 2 {
		t.Errorf("%d endpoints", n)
	}
}

// TestCachedShare: the share of cached tokens by the counters of each engine, over all tokens of its prompts; the
// counters of llama.cpp exclude each other.
func TestCachedShare(t *testing.T) {
	const unknown = -1
	for engine, c := range map[string]struct {
		grown map[string]float64
		want  float64
	}{
		"vLLM":        {map[string]float64{"vllm:prefix_cache_hits_total": 30, "vllm:prefix_cache_queries_total": 40}, 0.75},
		"older vLLM":  {map[string]float64{"vllm:gpu_prefix_cache_hits": 30, "vllm:gpu_prefix_cache_queries": 40}, 0.75},
		"SGLang":      {map[string]float64{"sglang:cached_tokens_total": 30, "sglang:prompt_tokens_total": 40}, 0.75},
		"llama.cpp":   {map[string]float64{llamaCached: 30, "llamacpp:prompt_tokens_total": 10}, 0.75},
		"none cached": {map[string]float64{llamaCached: 0, "llamacpp:prompt_tokens_total": 10}, 0},
		"no prompts":  {map[string]float64{llamaCached: 0, "llamacpp:prompt_tokens_total": 0}, unknown},
		"no counter":  {map[string]float64{"llamacpp:prompt_tokens_total": 10}, unknown},
	} {
		x := result.Scrape{At: []float64{0, 10}, Edges: []result.ScrapeEdge{{From: 0, To: 10}}}
		for name, grown := range c.grown {
			from, to := 7., 7+grown
			x.Series = append(x.Series, result.Scraped{Name: name, Type: "counter", Values: []*float64{&from, &to}})
		}
		share, ok := cachedShare([]result.Scrape{x})
		if ok != (c.want != unknown) || ok && share != c.want {
			t.Errorf("%s: %v, %v; want %v", engine, share, ok, c.want)
		}
	}
}
