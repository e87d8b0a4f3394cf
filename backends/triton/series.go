package triton

import "github.com/sluice-bench/sluice/backends"

// Series are the counters of a model that Triton keeps, in the order in which Stats gives them.
func Series() []backends.Series {
	return []backends.Series{
		{Name: "requests", Unit: "1", Help: "requests that the server finished with success"},
		{Name: "request", Unit: "ns", Per: "requests", Help: "time in the server, of requests that succeeded"},
		{Name: "failures", Unit: "1", Help: "requests that the server failed"},
		{Name: "queue.count", Unit: "1", Help: "requests that went through the scheduler's queue"},
		{Name: "queue", Unit: "ns", Per: "queue.count", Help: "time in the scheduler's queue"},
		{Name: "compute_input.count", Unit: "1", Help: "requests whose inputs were prepared"},
		{Name: "compute_input", Unit: "ns", Per: "compute_input.count", Help: "time to prepare inputs"},
		{Name: "compute_infer.count", Unit: "1", Help: "requests that were computed"},
		{Name: "compute_infer", Unit: "ns", Per: "compute_infer.count", Help: "time to run the model"},
		{Name: "compute_output.count", Unit: "1", Help: "requests whose outputs were collected"},
		{Name: "compute_output", Unit: "ns", Per: "compute_output.count", Help: "time to collect outputs"},
		{Name: "cache.hits", Unit: "1", Help: "requests answered from the response cache"},
		{Name: "cache.hit", Unit: "ns", Per: "cache.hits", Help: "time to look up and copy a cached response"},
		{Name: "cache.misses", Unit: "1", Help: "requests not found in the response cache"},
		{Name: "cache.miss", Unit: "ns", Per: "cache.misses", Help: "time to look up and store a response that was not cached"},
		{Name: "inferences", Unit: "1", Help: "inferences computed: batch items, without those answered from the cache"},
		{Name: "executions", Unit: "1", Help: "executions of the model: batches"},
	}
}
