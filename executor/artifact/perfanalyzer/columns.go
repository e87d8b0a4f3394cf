package perfanalyzer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// column is a column of a table: its name, and the cell of a row.
type column struct {
	name string
	of   func(*result.Node) string
}

// nodeColumns returns the columns of a table of nodes, those of the server if some node has them.
func nodeColumns(mode string, nodes []*result.Node, percentiles []float64) []column {
	some := func(name string) bool {
		return slices.ContainsFunc(nodes, func(n *result.Node) bool { return has(n, name) })
	}
	number := func(name string) func(*result.Node) string {
		return func(n *result.Node) string { return sixDigits(value(n, name)) }
	}
	mean := func(name string) func(*result.Node) string {
		return func(n *result.Node) string { return usec(n, name) }
	}
	columns := []column{{modeNames[mode], levelOf}, {"Inferences/Second", number(metric.Throughput)}}
	if slices.ContainsFunc(nodes, decoupled) {
		columns = append(columns, column{"Response Throughput", number(metricResponses)})
	}
	columns = append(columns, column{"Client Send", mean(metricSend)})
	if some(metricQueue) {
		columns = append(columns,
			column{"Network+Server Send/Recv", func(n *result.Node) string { return micros(network(n)) }},
			column{"Server Queue", mean(metricQueue)},
			column{"Server Compute Input", mean(metricInput)},
			column{"Server Compute Infer", mean(metricInfer)},
			column{"Server Compute Output", mean(metricOutput)})
	}
	if some(metricHit) || some(metricMiss) {
		columns = append(columns,
			column{"Server Cache Hit", mean(metricHit)},
			column{"Server Cache Miss", mean(metricMiss)})
	}
	columns = append(columns,
		column{"Client Recv", func(n *result.Node) string { return micros(receive(n)) }})
	for _, p := range percentileColumns(percentiles) {
		s := metric.Stat{Kind: metric.Percentile, P: p}
		columns = append(columns, column{s.String() + " latency", func(n *result.Node) string {
			if v, ok := stat(n, metric.Latency, s); ok {
				return micros(v)
			}
			return ""
		}})
	}
	return columns
}

// wideColumns returns the columns of --verbose-csv, without the mean latency if a percentile decided
// about stability.
func wideColumns(nodes []*result.Node) []column {
	var columns []column
	if !slices.ContainsFunc(nodes, func(n *result.Node) bool { return byPercentile(n) > 0 }) {
		columns = append(columns,
			column{"Avg latency", func(n *result.Node) string { return usec(n, metric.Latency) }})
	}
	return append(columns,
		column{"request/response", func(n *result.Node) string {
			return micros(means(n, metricSend) + receive(n))
		}},
		column{"response wait", func(n *result.Node) string { return micros(wait(n)) }})
}

// levelOf returns the value of the first column: of a number in flight that changes the largest that
// the plan sets, so that rows of two runs match; of users the rate of all of them; of a rate that changes
// the rate that was offered; of a file of gaps a whole number, as perf_analyzer shows it.
func levelOf(n *result.Node) string {
	switch {
	case n.Load.Kind == "intervals":
		return sixDigits(math.Floor(n.Load.Value + 1e-9))
	case modeOf(n) == Concurrency:
		return sixDigits(n.Load.Setting())
	case n.Load.Value != 0:
		return sixDigits(n.Load.Total())
	}
	return sixDigits(value(n, metric.OfferedRate))
}

// byPercentile returns the percentile of latency that decided about stability, the highest of several;
// 0: the mean decided, or nothing.
func byPercentile(n *result.Node) (highest float64) {
	for _, w := range n.Windows {
		for name := range w.Values {
			word, _ := strings.CutPrefix(name, metric.Latency+".")
			if s, _, ok := metric.ParseStat(word); ok {
				highest = max(highest, s.P)
			}
		}
	}
	return highest
}

// percentileColumns returns perf_analyzer's own four percentiles and the whole-numbered ones that the
// plan asks for, in order.
func percentileColumns(wanted []float64) []float64 {
	list := []float64{50, 90, 95, 99}
	for _, p := range wanted {
		if p == math.Trunc(p) && p < 100 && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// means returns a mean in s, 0 without data: perf_analyzer's cells are never empty.
func means(n *result.Node, name string) float64 {
	if v, ok := stat(n, name, metric.Stat{Kind: metric.Mean}); ok {
		return v
	}
	return value(n, name)
}

// computing returns the mean time in s that the server computes.
func computing(n *result.Node) float64 {
	return means(n, metricInput) + means(n, metricInfer) + means(n, metricOutput)
}

// usec formats a mean in whole µs.
func usec(n *result.Node, name string) string { return micros(means(n, name)) }

// receive returns the mean time in s from the first byte of a reply to its last: the difference of two
// means over the same requests.
func receive(n *result.Node) float64 {
	first, ok := stat(n, metric.FirstResponse, metric.Stat{Kind: metric.Mean})
	if !ok {
		return 0
	}
	return max(means(n, metric.ServiceTime)-first, 0)
}

// wait returns the mean time in s between the last byte sent and the first one received.
func wait(n *result.Node) float64 {
	return max(means(n, metric.ServiceTime)-means(n, metricSend)-receive(n), 0)
}

// network returns the latency in s without the client's and the server's own parts, at least 0.
func network(n *result.Node) float64 {
	return max(0, means(n, metric.Latency)-means(n, metricSend)-receive(n)-
		means(n, metricQueue)-computing(n)-means(n, metricHit)-means(n, metricMiss))
}

// micros formats s as whole µs.
func micros(s float64) string { return strconv.FormatInt(int64(math.Floor(s*1e6+1e-6)), 10) }

// sixDigits formats v as C++ streams do.
func sixDigits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
