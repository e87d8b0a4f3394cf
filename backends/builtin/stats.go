package builtin

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// duration is the number and the total time of an event, as in Triton's statistics.
type duration struct {
	Count uint64 `json:"count"`
	NS    uint64 `json:"ns"`
}

func (d *duration) add(n int, ns int64) {
	d.Count += uint64(n)
	d.NS += uint64(max(ns, 0)) * uint64(n)
}

// inferStats holds the cumulative times of a model's requests: success and fail cover whole
// requests, the others the parts of successful ones. Each request of an execution counts the
// execution's whole time.
type inferStats struct {
	Success       duration `json:"success"`
	Fail          duration `json:"fail"`
	Queue         duration `json:"queue"`
	ComputeInput  duration `json:"compute_input"`
	ComputeInfer  duration `json:"compute_infer"`
	ComputeOutput duration `json:"compute_output"`
	CacheHit      duration `json:"cache_hit"`
	CacheMiss     duration `json:"cache_miss"`
}

// batchStats holds the executions of one size.
type batchStats struct {
	BatchSize     uint64   `json:"batch_size"`
	ComputeInput  duration `json:"compute_input"`
	ComputeInfer  duration `json:"compute_infer"`
	ComputeOutput duration `json:"compute_output"`
}

// modelStats is a model's entry in the statistics extension.
type modelStats struct {
	Name           string       `json:"name"`
	Version        string       `json:"version"`
	LastInference  uint64       `json:"last_inference"` // ms since the epoch
	InferenceCount uint64       `json:"inference_count"`
	ExecutionCount uint64       `json:"execution_count"`
	InferenceStats inferStats   `json:"inference_stats"`
	BatchStats     []batchStats `json:"batch_stats"`
}

// stats collects one model's statistics.
type stats struct {
	mu    sync.Mutex
	total modelStats // batches sorted by size
}

// executed counts one execution of jobs, from start to output: inputs until infer, the model until
// end.
func (s *stats) executed(jobs []*job, start, infer, end, output int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows, good := 0, 0
	for _, j := range jobs {
		if j.fail || j.err != nil {
			s.total.InferenceStats.Fail.add(1, output-j.arrived)
			continue
		}
		rows, good = rows+j.rows, good+1
		s.total.InferenceStats.Success.add(1, output-j.arrived)
		s.total.InferenceStats.Queue.add(1, j.started-j.queued)
	}
	if good == 0 {
		return
	}
	s.total.LastInference = uint64(time.Now().UnixMilli())
	s.total.InferenceCount += uint64(rows)
	s.total.ExecutionCount++
	is := &s.total.InferenceStats
	is.ComputeInput.add(good, infer-start)
	is.ComputeInfer.add(good, end-infer)
	is.ComputeOutput.add(good, output-end)
	size := batchStats{BatchSize: uint64(rows)}
	at, known := slices.BinarySearchFunc(s.total.BatchStats, size,
		func(a, b batchStats) int { return cmp.Compare(a.BatchSize, b.BatchSize) })
	if !known {
		s.total.BatchStats = slices.Insert(s.total.BatchStats, at, size)
	}
	b := &s.total.BatchStats[at]
	b.ComputeInput.add(1, infer-start)
	b.ComputeInfer.add(1, end-infer)
	b.ComputeOutput.add(1, output-end)
}

// failed counts a request that was refused before it ran.
func (s *stats) failed(ns int64) {
	s.mu.Lock()
	s.total.InferenceStats.Fail.add(1, ns)
	s.mu.Unlock()
}

// snapshot returns the current statistics.
func (s *stats) snapshot() modelStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.total
	m.BatchStats = append([]batchStats{}, m.BatchStats...)
	return m
}
