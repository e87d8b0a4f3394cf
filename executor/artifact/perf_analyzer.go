package artifact

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// The layout of perf_analyzer's -f file is fixed by perf_analyzer: columns, their order, integer µs for times, six
// significant digits for throughput, rows by ascending throughput. These are our names for its columns.
const (
	paThroughput = "throughput"
	paResponses  = "responses.rate"
	paRequests   = "requests.rate"
	paLatency    = "latency"
	paService    = "service_time"
	paFirst      = metric.FirstResponse
	paSend       = "send_time"
	paQueue      = "server.queue.mean"
	paInput      = "server.compute_input.mean"
	paInfer      = "server.compute_infer.mean"
	paOutput     = "server.compute_output.mean"
	paHit        = "server.cache.hit.mean"
	paMiss       = "server.cache.miss.mean"
)

// perfAnalyzerCSV writes the nodes that measured something. perf_analyzer has one mode a run: the mode of the first node
// gives perf_analyzer.csv, nodes of the other mode go to a file of their own.
func perfAnalyzerCSV(r *result.Result, o Options) ([]file, error) {
	var modes []string
	nodes := map[string][]*result.Node{}
	for _, n := range r.Nodes {
		if !measured(n) {
			continue
		}
		if nodes[n.Load.Kind] == nil {
			modes = append(modes, n.Load.Kind)
		}
		nodes[n.Load.Kind] = append(nodes[n.Load.Kind], n)
	}
	if modes == nil {
		modes = []string{"concurrency"} // a header says that there is nothing
	}
	var files []file
	for i, mode := range modes {
		name := "perf_analyzer.csv"
		if i > 0 {
			name = "perf_analyzer_" + strings.Replace(mode, "rate", "request_rate", 1) + ".csv"
		}
		data, err := paTable(mode, nodes[mode], o.Percentiles)
		if err != nil {
			return files, err
		}
		files = append(files, file{name, data})
	}
	return files, nil
}

// measured reports whether perf_analyzer would have a line for n: it has a throughput and a latency.
func measured(n *result.Node) bool {
	if n.Outcome != result.Done && n.Outcome != result.Invalid {
		return false
	}
	_, ok := stat(n, paLatency, metric.Stat{Kind: metric.Mean})
	_, ok2 := stat(n, paThroughput, metric.Stat{})
	return ok && ok2
}

func stat(n *result.Node, name string, s metric.Stat) (float64, bool) { return n.Metrics[name].Stat(s) }

func paTable(mode string, nodes []*result.Node, percentiles []float64) ([]byte, error) {
	slices.SortStableFunc(nodes, func(a, b *result.Node) int {
		x, _ := stat(a, paThroughput, metric.Stat{})
		y, _ := stat(b, paThroughput, metric.Stat{})
		return cmp.Compare(x, y)
	})
	some := func(name string) bool {
		return slices.ContainsFunc(nodes, func(n *result.Node) bool { _, ok := stat(n, name, metric.Stat{}); return ok })
	}
	columns := paColumns(mode, slices.ContainsFunc(nodes, decoupled), some(paQueue), some(paHit) || some(paMiss), percentiles)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.name
	}
	if err := w.Write(header); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		record := make([]string, len(columns))
		for i, c := range columns {
			record[i] = c.of(n)
		}
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// decoupled reports whether n had another number of responses than of requests.
func decoupled(n *result.Node) bool {
	responses, ok := stat(n, paResponses, metric.Stat{})
	requests, ok2 := stat(n, paRequests, metric.Stat{})
	return ok && ok2 && responses != requests
}

type paColumn struct {
	name string
	of   func(*result.Node) string
}

func paColumns(mode string, decoupled, server, cache bool, percentiles []float64) []paColumn {
	level := "Concurrency"
	if mode == "rate" {
		level = "Request Rate"
	}
	mean := func(name string) func(*result.Node) string {
		return func(n *result.Node) string { return micros(means(n, name)) }
	}
	columns := []paColumn{
		{level, func(n *result.Node) string { return sixDigits(n.Load.Value) }},
		{"Inferences/Second", func(n *result.Node) string { v, _ := stat(n, paThroughput, metric.Stat{}); return sixDigits(v) }},
	}
	if decoupled {
		columns = append(columns, paColumn{"Response Throughput", func(n *result.Node) string {
			v, _ := stat(n, paResponses, metric.Stat{})
			return sixDigits(v)
		}})
	}
	columns = append(columns, paColumn{"Client Send", mean(paSend)})
	if server {
		columns = append(columns,
			paColumn{"Network+Server Send/Recv", func(n *result.Node) string { return micros(network(n)) }},
			paColumn{"Server Queue", mean(paQueue)},
			paColumn{"Server Compute Input", mean(paInput)},
			paColumn{"Server Compute Infer", mean(paInfer)},
			paColumn{"Server Compute Output", mean(paOutput)})
	}
	if cache {
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
