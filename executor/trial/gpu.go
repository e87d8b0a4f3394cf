package trial

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// gpuFamilies returns the metric families of a row about GPUs, from Triton and from NVIDIA's DCGM
// exporter, each with the factor to the base unit of the row: percent to a share, MiB to bytes.
func gpuFamilies(row string) map[string]float64 {
	switch row {
	case metric.GPUUtilization:
		return map[string]float64{"nv_gpu_utilization": 1, "DCGM_FI_DEV_GPU_UTIL": 0.01}
	case metric.GPUPower:
		return map[string]float64{"nv_gpu_power_usage": 1, "DCGM_FI_DEV_POWER_USAGE": 1}
	case metric.GPUMemory:
		return map[string]float64{"nv_gpu_memory_used_bytes": 1, "DCGM_FI_DEV_FB_USED": 1 << 20}
	}
	return nil
}

// gpu returns the distribution of a row over all readings of all GPUs; nil if the endpoint reports
// none, or a reading failed.
func gpu(row *metric.Row, scrapes []result.Scrape, percentiles []float64) *result.Metric {
	var all []float64
	for _, x := range scrapes {
		if x.Unread > 0 {
			return nil // a reading failed, so the maximum is unknown
		}
		for _, s := range x.Series {
			factor, ok := gpuFamilies(row.Name)[s.Name]
			if !ok {
				continue
			}
			for _, v := range s.Values {
				if v != nil {
					all = append(all, *v*factor)
				}
			}
		}
	}
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
