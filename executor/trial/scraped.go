package trial

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// family is a metric family that shows a row, with the factor to the base unit of the row: percent to a
// share, MiB to bytes.
type family struct {
	name   string
	factor float64
	label  [2]string // that a series must have; none: all
}

// families holds the families of the rows that are distributions: of GPUs from Triton and from NVIDIA's DCGM
// exporter, of engines from vLLM, SGLang, TensorRT-LLM with trtllm-serve and in Triton, TGI and llama.cpp.
var families = map[string][]family{
	metric.GPUUtilization: {{name: "nv_gpu_utilization", factor: 1}, {name: "DCGM_FI_DEV_GPU_UTIL", factor: 0.01}},
	metric.GPUPower:       {{name: "nv_gpu_power_usage", factor: 1}, {name: dcgmPower, factor: 1}},
	metric.GPUMemory:      {{name: "nv_gpu_memory_used_bytes", factor: 1}, {name: "DCGM_FI_DEV_FB_USED", factor: 1 << 20}},
	metric.EngineKVCache: {
		{name: "vllm:kv_cache_usage_perc", factor: 1},
		{name: "vllm:gpu_cache_usage_perc", factor: 1},
		{name: "sglang:token_usage", factor: 1},
		{name: "trtllm_kv_cache_utilization", factor: 1},
		{"nv_trt_llm_kv_cache_block_metrics", 1, [2]string{"kv_cache_block_type", "fraction"}},
		{name: "llamacpp:kv_cache_usage_ratio", factor: 1},
	},
	metric.EngineRunning: {
		{name: "vllm:num_requests_running", factor: 1},
		{name: "sglang:num_running_reqs", factor: 1},
		{"nv_trt_llm_request_metrics", 1, [2]string{"request_type", "scheduled"}},
		{name: "tgi_batch_current_size", factor: 1},
		{name: "llamacpp:requests_processing", factor: 1},
	},
	metric.EngineWaiting: {
		{name: "vllm:num_requests_waiting", factor: 1},
		{name: "sglang:num_queue_reqs", factor: 1},
		{"nv_trt_llm_request_metrics", 1, [2]string{"request_type", "waiting"}},
		{name: "tgi_queue_size", factor: 1},
		{name: "llamacpp:requests_deferred", factor: 1},
		{name: "nv_inference_pending_request_count", factor: 1},
	},
}

const dcgmPower = "DCGM_FI_DEV_POWER_USAGE"

// shows reports whether a series is of the family.
func (f family) shows(s *result.Scraped) bool {
	return s.Name == f.name && (f.label[0] == "" || s.Labels[f.label[0]] == f.label[1])
}

// shownFamily returns the first family of a row that an endpoint shows; false: none. One server may show a number by
// several.
func shownFamily(row string, x *result.Scrape) (family, bool) {
	for _, f := range families[row] {
		if slices.ContainsFunc(x.Series, func(s result.Scraped) bool { return f.shows(&s) }) {
			return f, true
		}
	}
	return family{}, false
}

// readingsOf returns the readings of a row, of all its series; nil: no endpoint shows it, or a reading that
// matters failed. Numbers of requests are those of all series of a reading together: an engine with several
// parts has one for each.
func readingsOf(row *metric.Row, scrapes []result.Scrape) (all []float64) {
	for i := range scrapes {
		x := &scrapes[i]
		if x.Unread > 0 {
			return nil // a reading failed, so the maximum is unknown
		}
		f, ok := shownFamily(row.Name, x)
		if !ok {
			continue
		}
		sums, known := make([]float64, len(x.At)), make([]bool, len(x.At))
		for k := range x.Series {
			s := &x.Series[k]
			if !f.shows(s) {
				continue
			}
			for i, v := range s.Values {
				switch {
				case v == nil || !x.Used(i):
				case row.Dim == metric.Count:
					sums[i], known[i] = sums[i]+*v*f.factor, true
				default:
					all = append(all, *v*f.factor)
				}
			}
		}
		for i, v := range sums {
			if known[i] {
				all = append(all, v)
			}
		}
	}
	return all
}

// scrapedDist returns the distribution of a row over all readings; nil if there are none.
func scrapedDist(row *metric.Row, scrapes []result.Scrape, percentiles []float64) *result.Metric {
	all := readingsOf(row, scrapes)
	if all == nil {
		return nil
	}
	slices.Sort(all)
	n, sum, sq := int64(len(all)), 0.0, 0.0
	for _, v := range all {
		sum += v
	}
	mean := sum / float64(n)
	for _, v := range all {
		sq += (v - mean) * (v - mean)
	}
	std := math.Sqrt(sq / float64(n))
	m := &result.Metric{
		Unit: row.Dim.Unit(), Count: &n, Min: &all[0], Max: &all[n-1], Mean: &mean, Std: &std,
		Percentiles: map[string]*float64{},
	}
	for _, p := range percentiles {
		rank := min(max(int(math.Ceil(p/100*float64(n))), 1), int(n))
		m.Percentiles[metric.Stat{Kind: metric.Percentile, P: p}.String()] = &all[rank-1]
	}
	return m
}
