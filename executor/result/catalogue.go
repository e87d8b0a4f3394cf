package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// Catalogue returns the rows of stored nodes: the static ones, and their rows of server statistics,
// searches and goodput. It returns an error for rows that contradict each other.
func Catalogue(nodes ...*Node) (*metric.Catalogue, error) {
	extra := map[string]metric.Row{}
	for _, n := range nodes {
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
	names := slices.Sorted(maps.Keys(extra))
	rows := make([]metric.Row, 0, len(names))
	for _, name := range names {
		rows = append(rows, extra[name])
	}
	c, err := metric.New(rows...)
	if err != nil {
		return nil, fmt.Errorf("rows of the result: %w", err)
	}
	return c, nil
}

// stageRows returns the rows that stages define, in the dimension of a stored metric.
func stageRows(m *Metric) []metric.Row {
	dim := metric.Count
	if m != nil && m.Unit == metric.Rate.Unit() {
		dim = metric.Rate
	}
	return append(metric.GoodputRows(), metric.CapacityRow(dim))
}

// seriesRow returns the row of a stored metric of server statistics. It is recognized by its name,
// as the backend's series are not in the result.
func seriesRow(name string, m *Metric) (metric.Row, bool) {
	if m == nil || m.Count != nil {
		return metric.Row{}, false
	}
	unit := map[string]string{"s": "ns", "bytes": "bytes"}[m.Unit]
	for _, per := range []bool{true, false} {
		// "server.", ".mean"
		before, after, _ := strings.Cut(metric.SeriesRow("*", "", unit, per).Name, "*")
		series, ok := strings.CutPrefix(name, before)
		series, ok2 := strings.CutSuffix(series, after)
		if ok && ok2 && series != "" {
			return metric.SeriesRow(series, "", unit, per), true
		}
	}
	return metric.Row{}, false
}
