package triton

import "github.com/sluice-bench/sluice/backends"

// countSeries returns a series of counts, timeSeries one of times.
func countSeries(name, help string) backends.Series {
	return backends.Series{Name: name, Unit: "1", Help: help}
}

func timeSeries(name, per, help string) backends.Series {
	return backends.Series{Name: name, Unit: "ns", Per: per, Help: help}
}

// Series returns the counters of a model in the order of Statistics.values. Times are divided by
// the counts that Triton keeps with them: compute_infer by the computed requests, not by those
// answered from the cache. Quantities derived from several of them (overhead, batch) are computed
// by the reader of the differences.
func Series() []backends.Series {
	return []backends.Series{
		countSeries("requests", "requests that the server finished with success"),
		timeSeries("request", "requests", "time of a request in the server"),
		countSeries("failures", "requests that the server failed"),
		countSeries("queued", "requests that went through the scheduler's queue"),
		timeSeries("queue", "queued", "time of a request in the scheduler's queue"),
		countSeries("prepared", "requests whose inputs were prepared"),
		timeSeries("compute_input", "prepared", "time to prepare a request's inputs"),
		countSeries("computed", "requests that the model computed"),
		timeSeries("compute_infer", "computed", "time of a request in the model"),
		countSeries("collected", "requests whose outputs were collected"),
		timeSeries("compute_output", "collected", "time to collect a request's outputs"),
		countSeries("cache.hits", "requests answered from the response cache"),
		timeSeries("cache.hit", "cache.hits", "time to answer a request from the response cache"),
		countSeries("cache.misses", "requests that the response cache did not have"),
		timeSeries("cache.miss",
			"cache.misses", "time to look up and store a response that the cache did not have"),
		countSeries("inferences", "inferences computed: batch items, without those answered from the cache"),
		countSeries("executions", "executions of the model: batches"),
	}
}

// duration is the number and the total time of an event.
type duration struct {
	Count int64 `json:"count" proto:"1"`
	NS    int64 `json:"ns" proto:"2"`
}

// statisticsReply is the reply to a call for statistics, as JSON or a message.
type statisticsReply struct {
	Models []Statistics `json:"model_stats" proto:"1"`
}

// Statistics is the entry of a model version.
type Statistics struct {
	Name       string `json:"name" proto:"1"`
	Version    string `json:"version" proto:"2"`
	Inferences int64  `json:"inference_count" proto:"4"`
	Executions int64  `json:"execution_count" proto:"5"`
	Times      struct {
		Success       duration `json:"success" proto:"1"`
		Fail          duration `json:"fail" proto:"2"`
		Queue         duration `json:"queue" proto:"3"`
		ComputeInput  duration `json:"compute_input" proto:"4"`
		ComputeInfer  duration `json:"compute_infer" proto:"5"`
		ComputeOutput duration `json:"compute_output" proto:"6"`
		CacheHit      duration `json:"cache_hit" proto:"7"`
		CacheMiss     duration `json:"cache_miss" proto:"8"`
	} `json:"inference_stats" proto:"6"`
}

// values returns the numbers of Series.
func (s *Statistics) values() []int64 {
	t := &s.Times
	return []int64{
		t.Success.Count, t.Success.NS, t.Fail.Count, t.Queue.Count, t.Queue.NS, t.ComputeInput.Count,
		t.ComputeInput.NS, t.ComputeInfer.Count, t.ComputeInfer.NS, t.ComputeOutput.Count, t.ComputeOutput.NS,
		t.CacheHit.Count, t.CacheHit.NS, t.CacheMiss.Count, t.CacheMiss.NS, s.Inferences, s.Executions,
	}
}
