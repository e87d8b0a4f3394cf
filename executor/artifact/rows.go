package artifact

import (
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// catalogue returns the rows of r: the static ones, and those of server statistics, searches and
// goodput of its nodes.
func catalogue(r *result.Result) ([]*metric.Row, error) {
	c, err := result.Catalogue(r.Nodes...)
	if err != nil {
		return nil, err
	}
	return c.Rows(), nil
}

// leaves returns the statistics of a row that tables and files show.
func leaves(row *metric.Row, percentiles []float64, all bool) []metric.Leaf {
	if !row.IsDistribution() {
		return []metric.Leaf{{Row: row}}
	}
	var stats []metric.Stat
	if all {
		stats = append(stats, metric.Stat{Kind: metric.N}, metric.Stat{Kind: metric.Min},
			metric.Stat{Kind: metric.Mean}, metric.Stat{Kind: metric.Std})
	}
	for _, p := range percentiles {
		stats = append(stats, metric.Stat{Kind: metric.Percentile, P: p})
	}
	if all {
		stats = append(stats, metric.Stat{Kind: metric.Max})
	}
	out := make([]metric.Leaf, len(stats))
	for i, s := range stats {
		out[i] = metric.Leaf{Row: row, Stat: s}
	}
	return out
}
