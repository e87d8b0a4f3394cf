package artifact

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

type paColumn struct {
	name string
	of   func(*result.Node) string
}

// paColumns are the columns of a table of nodes. Those of the server are there when some node has them.
func paColumns(mode string, nodes []*result.Node, percentiles []float64) []paColumn {
	some := func(name string) bool {
		return slices.ContainsFunc(nodes, func(n *result.Node) bool { _, ok := stat(n, name, metric.Stat{}); return ok })
	}
	number := func(name string) func(*result.Node) string {
		return func(n *result.Node) string { return sixDigits(value(n, name)) }
	}
	mean := func(name string) func(*result.Node) string {
		return func(n *result.Node) string { return micros(means(n, name)) }
	}
	columns := []paColumn{{"Concurrency", paLevel}, {"Inferences/Second", number(paThroughput)}}
	if mode == paRate {
		columns[0].name = "Request Rate"
	}
	if slices.ContainsFunc(nodes, decoupled) {
		columns = append(columns, paColumn{"Response Throughput", number(paResponses)})
	}
	columns = append(columns, paColumn{"Client Send", mean(paSend)})
	if some(paQueue) {
		columns = append(columns,
			paColumn{"Network+Server Send/Recv", func(n *result.Node) string { return micros(network(n)) }},
			paColumn{"Server Queue", mean(paQueue)},
			paColumn{"Server Compute Input", mean(paInput)},
			paColumn{"Server Compute Infer", mean(paInfer)},
			paColumn{"Server Compute Output", mean(paOutput)})
	}
	if some(paHit) || some(paMiss) {
		columns = append(columns, paColumn{"Server Cache Hit", mean(paHit)}, paColumn{"Server Cache Miss", mean(paMiss)})
	}
	columns = append(columns, paColumn{"Client Recv", func(n *result.Node) string { return micros(receive(n)) }})
	for _, p := range paPercentiles(percentiles) {
		s := metric.Stat{Kind: metric.Percentile, P: p}
		columns = append(columns, paColumn{s.String() + " latency", func(n *result.Node) string {
			v, ok := stat(n, paLatency, s)
			if !ok {
				return ""
			}
			return micros(v)
		}})
	}
	return columns
}

// paWideColumns are those of --verbose-csv. The mean latency is not among them where a percentile decided about stability.
func paWideColumns(nodes []*result.Node) []paColumn {
	var columns []paColumn
	if !slices.ContainsFunc(nodes, func(n *result.Node) bool { return byPercentile(n) > 0 }) {
		columns = append(columns, paColumn{"Avg latency", func(n *result.Node) string { return micros(means(n, paLatency)) }})
	}
	return append(columns,
		paColumn{"request/response", func(n *result.Node) string { return micros(means(n, paSend) + receive(n)) }},
		paColumn{"response wait", func(n *result.Node) string { return micros(wait(n)) }})
}

// paLevel is the value of the first column. Of a number in flight that changes it is the largest that the plan sets, so that
// rows of two runs match; of a rate that changes the one that was offered; of a file of gaps a whole number, as
// perf_analyzer shows it.
func paLevel(n *result.Node) string {
	switch {
	case n.Load.Kind == "intervals":
		return sixDigits(math.Floor(n.Load.Value + 1e-9))
	case paMode(n) == paConcurrency:
		return sixDigits(n.Load.Setting())
	case n.Load.Value != 0:
		return sixDigits(n.Load.Value)
	}
	return sixDigits(value(n, paOffered))
}

// byPercentile is the percentile of latency that decided about stability, of several the highest; 0: the mean did, or
// nothing.
func byPercentile(n *result.Node) (highest float64) {
	for _, w := range n.Windows {
		for name := range w.Values {
			if text, ok := strings.CutPrefix(name, paLatency+".p"); ok {
				p, err := strconv.ParseFloat(strings.Trim(text, "()"), 64)
				if err == nil {
					highest = max(highest, p)
				}
			}
		}
	}
	return highest
}

// paPercentiles are perf_analyzer's own four and the whole-numbered ones that the plan asks for, in order.
func paPercentiles(wanted []float64) []float64 {
	list := []float64{50, 90, 95, 99}
	for _, p := range wanted {
		if p == math.Trunc(p) && p < 100 && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// means is a mean in s, 0 where there is none: perf_analyzer's cells are never empty.
func means(n *result.Node, name string) float64 {
	m := n.Metrics[name]
	if v, ok := m.Stat(metric.Stat{Kind: metric.Mean}); ok {
		return v
	}
	v, _ := m.Stat(metric.Stat{})
	return v
}

// receive is the mean time from the first byte of a reply to its last: the difference of two means over the same requests.
func receive(n *result.Node) float64 {
	first, ok := stat(n, paFirst, metric.Stat{Kind: metric.Mean})
	if !ok {
		return 0
	}
	return max(means(n, paService)-first, 0)
}

// wait is the mean time between the last byte sent and the first one received.
func wait(n *result.Node) float64 { return max(means(n, paService)-means(n, paSend)-receive(n), 0) }

// network is what is left of the latency without the client's and the server's own parts, not below 0.
func network(n *result.Node) float64 {
	rest := means(n, paLatency) - means(n, paSend) - receive(n)
	for _, part := range []string{paQueue, paInput, paInfer, paOutput, paHit, paMiss} {
		rest -= means(n, part)
	}
	return max(rest, 0)
}

// micros is s as whole µs.
func micros(s float64) string { return whole(int64(math.Floor(s*1e6 + 1e-6))) }

// sixDigits writes v as C++ streams do.
func sixDigits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
