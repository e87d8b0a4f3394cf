package perfanalyzer

import (
	"math"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

var percentiles = []float64{50, 90, 99.9}

// rowOf returns a row of the static catalogue or of a server's statistics.
func rowOf(name string) *metric.Row {
	c, err := metric.New(
		metric.SeriesRow("queue", "", "ns", true), metric.SeriesRow("compute_input", "", "ns", true),
		metric.SeriesRow("compute_infer", "", "ns", true), metric.SeriesRow("compute_output", "", "ns", true),
		metric.SeriesRow("cache.hit", "", "ns", true), metric.SeriesRow("cache.miss", "", "ns", true),
		metric.SeriesRow("executions", "", "1", false),
		metric.SeriesRow("request", "", "ns", true), metric.SeriesRow("requests", "", "1", false), metric.SeriesRow("inferences", "", "1", false),
		metric.SeriesRow("cache.hits", "", "1", false), metric.SeriesRow("cache.misses", "", "1", false),
		metric.GoodputRows()[0], metric.GoodputRows()[1], metric.CapacityRow(metric.Rate),
	)
	if err != nil {
		panic(err)
	}
	row, ok := c.Row(name)
	if !ok {
		panic("no row " + name)
	}
	return row
}

// measure fills a node's metrics: values by name; distributions of n values around the value given,
// all in base units.
func measure(n *result.Node, samples int, values map[string]float64) *result.Node {
	n.Metrics = map[string]*result.Metric{}
	for name, v := range values {
		row := rowOf(name)
		if !row.IsDistribution() {
			n.Metrics[name] = result.Scalar(row, v, true)
			continue
		}
		d := &stats.Dist{}
		for i := range samples {
			d.Add(int64(math.Round(v*1e9)) * int64(1000+i-samples/2) / 1000)
		}
		n.Metrics[name] = result.Distribution(row, d, percentiles)
	}
	return n
}
