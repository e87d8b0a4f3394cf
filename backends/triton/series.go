package triton

import "github.com/sluice-bench/sluice/backends"

// count is a series that counts; others are its times.
func count(name, help string) backends.Series {
	return backends.Series{Name: name, Unit: "1", Help: help}
}

func took(name, per, help string) backends.Series {
	return backends.Series{Name: name, Unit: "ns", Per: per, Help: help}
}

// Series are the counters of a model in the order of statistics.values. Times are divided by the counts that Triton
// keeps beside them: compute_infer by the requests that were computed, not by those that the cache answered. What
// follows from several of them (overhead, batch) is derived by whoever reads the growth.
func Series() []backends.Series {
	return []backends.Series{
		count("requests", "requests that the server finished with success"),
		took("request", "requests", "time of a request in the server"),
		count("failures", "requests that the server failed"),
		count("queued", "requests that went through the scheduler's queue"),
		took("queue", "queued", "time of a request in the scheduler's queue"),
		count("prepared", "requests whose inputs were prepared"),
		took("compute_input", "prepared", "time to prepare a request's inputs"),
		count("computed", "requests that the model computed"),
		took("compute_infer", "computed", "time of a request in the model"),
		count("collected", "requests whose outputs were collected"),
		took("compute_output", "collected", "time to collect a request's outputs"),
		count("cache.hits", "requests answered from the response cache"),
		took("cache.hit", "cache.hits", "time to answer a request from the response cache"),
		count("cache.misses", "requests that the response cache did not have"),
		took("cache.miss", "cache.misses", "time to look up and store a response that the cache did not have"),
		count("inferences", "inferences computed: batch items, without those answered from the cache"),
		count("executions", "executions of the model: batches"),
	}
}

// duration is how often something happened and how long it took in all.
type duration struct {
	Count int64 `json:"count"`
	NS    int64 `json:"ns"`
}

// statistics is a model version's entry.
type statistics struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Inferences int64  `json:"inference_count"`
	Executions int64  `json:"execution_count"`
	Times      struct {
		Success       duration `json:"success"`
		Fail          duration `json:"fail"`
		Queue         duration `json:"queue"`
		ComputeInput  duration `json:"compute_input"`
		ComputeInfer  duration `json:"compute_infer"`
		ComputeOutput duration `json:"compute_output"`
		CacheHit      duration `json:"cache_hit"`
		CacheMiss     duration `json:"cache_miss"`
	} `json:"inference_stats"`
}

// values are the numbers of series.
func (s *statistics) values(into []int64) []int64 {
	t := &s.Times
	return append(into,
		t.Success.Count, t.Success.NS, t.Fail.Count, t.Queue.Count, t.Queue.NS, t.ComputeInput.Count, t.ComputeInput.NS,
		t.ComputeInfer.Count, t.ComputeInfer.NS, t.ComputeOutput.Count, t.ComputeOutput.NS, t.CacheHit.Count, t.CacheHit.NS,
		t.CacheMiss.Count, t.CacheMiss.NS, s.Inferences, s.Executions)
}
