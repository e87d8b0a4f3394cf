package metric

import (
	"slices"
	"strings"
)

// renamed lists the series of engines that have had several names, the current one first. Some engines show
// a counter without _total.
var renamed = [...][]string{
	{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
	{"vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"},
	{"vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"},
	{"vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"},
}

// SeriesNames lists the names that a series of a Prometheus endpoint may have: the given one, those of other
// versions of its server, and a counter's with and without _total.
func SeriesNames(name string) []string {
	stem, suffix := name, ""
	for _, s := range []string{"_total", "_sum", "_count", "_bucket"} {
		if before, ok := strings.CutSuffix(name, s); ok {
			stem, suffix = before, s
		}
	}
	stems := []string{stem}
	for _, group := range renamed {
		if slices.Contains(group, stem) {
			stems = append(stems, group...)
		}
	}
	names := []string{name}
	for _, s := range stems {
		names = append(names, s+suffix)
		switch suffix {
		case "_total":
			names = append(names, s)
		case "":
			names = append(names, s+"_total")
		}
	}
	var once []string
	for _, n := range names {
		if !slices.Contains(once, n) {
			once = append(once, n)
		}
	}
	return once
}

// gpus lists the metrics of the Prometheus endpoints of a target about its GPUs: all readings of all
// GPUs in hold, and the energy that they took.
func gpus() []Row {
	return []Row{
		{
			Name: GPUUtilization, Dim: Ratio, From: Scrape, Bound: Blurred,
			Needs:   metricsEndpoint,
			Aliases: []string{"Avg GPU Utilization", "nv_gpu_utilization", "gpu_utilization"},
			Help:    "Share of the time in which a GPU of the server was busy.",
		},
		{
			Name: GPUPower, Dim: Power, From: Scrape, Bound: Blurred, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"Avg GPU Power Usage", "nv_gpu_power_usage", "gpu_power_usage"},
			Help:    "Power that a GPU of the server takes.",
		},
		{
			Name: GPUMemory, Dim: Bytes, From: Scrape, Bound: Blurred, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"Max GPU Memory Usage", "nv_gpu_memory_used_bytes", "gpu_memory_used"},
			Help:    "Memory in use on a GPU of the server.",
		},
		{
			Name: GPUEnergy, Dim: Energy, From: ScrapeSum, Bound: Blurred, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"energy_consumption", "nv_energy_consumption"},
			Help: "Energy that the GPUs of the server took in hold, by their counters, else their power " +
				"over the time.",
		},
		{
			Name: GPUEnergyPerToken, Dim: Energy, From: ScrapeSum, Bound: Blurred, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"energy_per_output_token"},
			Help:    "gpu.energy over the tokens of the answers that ended in hold.",
		},
	}
}

// engines lists what the Prometheus endpoints of a target show of an engine that generates text: vLLM,
// SGLang, TensorRT-LLM, TGI, llama.cpp.
func engines() []Row {
	return []Row{
		{
			Name: EngineKVCache, Dim: Ratio, From: Scrape, Bound: Blurred, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"kv_cache_usage_perc", "gpu_cache_usage_perc", "token_usage"},
			Help:    "Share of the room for keys and values that is in use: near 100 % requests wait or are preempted.",
		},
		{
			Name: EngineRunning, Dim: Count, From: Scrape, Bound: Blurred,
			Needs:   metricsEndpoint,
			Aliases: []string{"num_requests_running", "num_running_reqs"},
			Help:    "Requests that the engine works on.",
		},
		{
			Name: EngineWaiting, Dim: Count, From: Scrape, Bound: Blurred, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"num_requests_waiting", "num_queue_reqs", "tgi_queue_size"},
			Help:    "Requests that wait in the queue of the engine.",
		},
		{
			Name: EngineCachedShare, Dim: Number, From: ScrapeSum, Bound: Blurred, Better: Higher,
			Needs:   metricsEndpoint,
			Aliases: []string{"prefix_cache_hits", "cache_hit_rate"},
			Help: "Tokens of prompts that the engine had cached over those that it looked for, by its counters " +
				"in hold, of all its clients; see tokens.cached.share for what the answers say.",
		},
		{
			Name: EnginePreemptions, Dim: Count, From: ScrapeSum, Bound: Blurred, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"num_preemptions"},
			Help:    "Requests that the engine had to drop from its cache in hold and begin again.",
		},
	}
}
