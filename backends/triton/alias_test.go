package triton

import (
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestAliases: perf_analyzer's names for what Triton keeps lead to the series that Triton has.
func TestAliases(t *testing.T) {
	for alias, want := range map[string]string{
		"Server Queue": "queue", "Server Compute Input": "compute_input", "Server Compute Infer": "compute_infer",
		"Server Compute Output": "compute_output", "Server Cache Hit": "cache.hit",
		"Server Cache Miss": "cache.miss",
		"Inference count":   "inferences", "Execution count": "executions",
	} {
		found := ""
		for _, s := range Series() {
			if slices.Contains(metric.SeriesRow(s.Name, "", s.Unit, s.Per != "").Aliases, alias) {
				found = s.Name
			}
		}
		if found != want {
			t.Errorf("%q leads to %q, want %q", alias, found, want)
		}
	}
}
