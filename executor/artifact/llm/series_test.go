package llm

import (
	"math"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// TestSeries: percentiles lie between two values, and of very many values a share is kept.
func TestSeries(t *testing.T) {
	s := &series{}
	for _, v := range []float64{9, 7, 8} { // GenAI-Perf's own example
		s.add(v)
	}
	got := s.stats("ms").Values
	for name, want := range map[string]float64{
		"avg": 8, "min": 7, "max": 9, "p99": 8.98, "p95": 8.9, "p90": 8.8, "p75": 8.5, "p50": 8, "p25": 7.5, "p10": 7.2,
		"p5": 7.1, "p1": 7.02, "std": math.Sqrt(2.0 / 3), "count": 3, "sum": 24,
	} {
		if math.Abs(got[name]-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
	many := &series{}
	const n = 3 * maxValues
	for i := range n {
		many.add(float64(i))
	}
	got = many.stats("ms").Values
	if len(many.kept) >= maxValues || got["count"] != n || got["max"] != n-1 || math.Abs(got["p50"]/n-0.5) > 1e-4 ||
		math.Abs(got["std"]/n-math.Sqrt(1.0/12)) > 1e-6 {
		t.Errorf("%d kept, %v", len(many.kept), got)
	}
}

func TestPrefixes(t *testing.T) {
	var nodes []*result.Node
	for _, id := range []string{"s[a=1]", "s[a=2,b=x/y]", "s-a2-bx_y", "é"} {
		nodes = append(nodes, &result.Node{ID: id})
	}
	want := []string{"", "s-a2-bx_y.", "s-a2-bx_y_3.", "_."}
	for i, got := range Prefixes(nodes) {
		if got != want[i] {
			t.Errorf("%s: %q, want %q", nodes[i].ID, got, want[i])
		}
	}
}
