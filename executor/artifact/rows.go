package artifact

import (
	"fmt"
	"sort"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// catalogue is the rows of r: the static ones, and those of server statistics, searches and goodput that some node has.
func catalogue(r *result.Result) ([]*metric.Row, error) {
	extra := map[string]metric.Row{}
	for _, n := range r.Nodes {
		for name, m := range n.Metrics {
			if row, ok := seriesRow(name, m); ok {
				extra[name] = row
			}
			for _, row := range stageRows(m) {
				if row.Name == name {
					extra[name] = row
				}
			}
		}
	}
	names := make([]string, 0, len(extra))
	for name := range extra {
		names = append(names, name)
	}
	sort.Strings(names)
	rows := make([]metric.Row, 0, len(names))
	for _, name := range names {
		rows = append(rows, extra[name])
	}
	c, err := metric.New(rows...)
	if err != nil {
		return nil, fmt.Errorf("rows of the result: %w", err)
	}
	return c.Rows(), nil
}

// stageRows are the rows that stages bring with them, in the dimension that a stored metric has.
func stageRows(m *result.Metric) []metric.Row {
	dim := metric.Count
	if m != nil && m.Unit == metric.Rate.Unit() {
		dim = metric.Rate
	}
	return append(metric.GoodputRows(), metric.CapacityRow(dim))
}

// seriesRow is the row of a stored metric that comes from a server's statistics, told by the form of its name: the
// backend's series are not in the result.
func seriesRow(name string, m *result.Metric) (metric.Row, bool) {
	if m == nil || m.Count != nil {
		return metric.Row{}, false
	}
	unit := map[string]string{"s": "ns", "bytes": "bytes"}[m.Unit]
	for _, per := range []bool{true, false} {
		before, after, _ := strings.Cut(metric.SeriesRow("*", "", unit, per).Name, "*") // "server.", ".mean"
		series, ok := strings.CutPrefix(name, before)
		series, ok2 := strings.CutSuffix(series, after)
		if ok && ok2 && series != "" {
			return metric.SeriesRow(series, "", unit, per), true
		}
	}
	return metric.Row{}, false
}

// leaves are the statistics of a row that tables and files show.
func leaves(row *metric.Row, percentiles []float64, all bool) []metric.Leaf {
	if row.Shape == metric.Value {
		return []metric.Leaf{{Row: row}}
	}
	var stats []metric.Stat
	if all {
		stats = append(stats, metric.Stat{Kind: metric.N}, metric.Stat{Kind: metric.Min}, metric.Stat{Kind: metric.Mean}, metric.Stat{Kind: metric.Std})
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
