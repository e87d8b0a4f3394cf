// Package perfanalyzer writes a result in the formats of perf_analyzer: the tables of
// --latency-report-file and --verbose-csv, and the report on its terminal.
package perfanalyzer

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"slices"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Metrics that the tables and the report show. Their columns, labels, order and units are fixed by
// perf_analyzer: whole µs for times, six significant digits for throughput, rows by ascending
// throughput.
const (
	metricResponses  = "responses.rate"
	metricSequences  = "sequences.rate"
	metricLate       = "late.ratio"
	metricGap        = "response_gap"
	metricSend       = "send_time"
	metricServer     = "server.request.mean"
	metricQueue      = "server.queue.mean"
	metricInput      = "server.compute_input.mean"
	metricInfer      = "server.compute_infer.mean"
	metricOutput     = "server.compute_output.mean"
	metricHit        = "server.cache.hit.mean"
	metricMiss       = "server.cache.miss.mean"
	metricHits       = "server.cache.hits.count"
	metricMisses     = "server.cache.misses.count"
	metricInferences = "server.inferences.count"
	metricExecutions = "server.executions.count"
)

// Table is one CSV file.
type Table struct {
	Name string
	Data []byte
}

// The modes of perf_analyzer: the first column of its tables is one of them.
const (
	Concurrency = "concurrency"
	RequestRate = "request_rate"
)

// modeNames are the modes in tables and on the terminal.
var modeNames = map[string]string{Concurrency: "Concurrency", RequestRate: "Request Rate"}

func modeOf(n *result.Node) string {
	if n.Load.Kind == "concurrency" {
		return Concurrency
	}
	return RequestRate
}

// Names returns the names of the files that Tables makes, without those of models. mixed: the run has
// closed and open loops.
func Names(mixed bool) []string {
	names := []string{"perf_analyzer.csv", "perf_analyzer_verbose.csv"}
	if mixed {
		for _, mode := range []string{Concurrency, RequestRate} {
			names = append(names, "perf_analyzer_"+mode+".csv", "perf_analyzer_"+mode+"_verbose.csv")
		}
	}
	return names
}

// Tables returns the levels that were measured, once with the plain columns and once with those of
// --verbose-csv. perf_analyzer has one mode a run: that of the first node gives perf_analyzer.csv,
// nodes of the other mode go to files of their own.
func Tables(r *result.Result, percentiles []float64) ([]Table, error) {
	var modes groups
	for _, n := range levelsOf(r) {
		if reached(n) {
			modes.add(modeOf(n), n)
		}
	}
	if modes == nil { // a header says that there is nothing
		modes = groups{{name: Concurrency}}
		if len(r.Nodes) > 0 {
			modes[0].name = modeOf(r.Nodes[0])
		}
	}
	var files []Table
	for i, mode := range modes {
		name := "perf_analyzer"
		if i > 0 {
			name += "_" + mode.name
		}
		for _, suffix := range []string{"", "_verbose"} {
			data, err := nodeTable(mode.name, mode.nodes, percentiles, suffix != "")
			if err != nil {
				return files, err
			}
			files = append(files, Table{name + suffix + ".csv", data})
		}
		models, err := modelTables(mode.name, name, mode.nodes)
		if err != nil {
			return files, err
		}
		files = append(files, models...)
	}
	return files, nil
}

// groups are nodes by name, in the order of the first node of each name.
type groups []group

type group struct {
	name  string
	nodes []*result.Node
}

func (g *groups) add(name string, n *result.Node) {
	at := slices.IndexFunc(*g, func(x group) bool { return x.name == name })
	if at < 0 {
		at, *g = len(*g), append(*g, group{name: name})
	}
	(*g)[at].nodes = append((*g)[at].nodes, n)
}

// levelsOf returns the levels of perf_analyzer's point of view: nodes, and in place of a search the
// trials that passed, each value once, in the order of the first visit.
func levelsOf(r *result.Result) []*result.Node {
	var list []*result.Node
	for _, n := range r.Nodes {
		if len(n.Trials) == 0 {
			list = append(list, ensembled(n))
			continue
		}
		at := map[float64]int{}
		for _, t := range n.Trials {
			if t.Verdict != result.Pass {
				continue
			}
			one := *ensembled(n)
			if !t.Used {
				one.Models, one.Scrapes = nil, nil // they belong to the trial that is used
				one.Metrics = t.Metrics
			}
			one.Outcome, one.Duration, one.Load.Value = t.Outcome, t.Duration, t.Level
			if i, seen := at[t.Level]; seen {
				list[i] = &one // measured again, to confirm it
				continue
			}
			at[t.Level] = len(list)
			list = append(list, &one)
		}
	}
	return list
}

// measured reports whether n has a throughput and a latency, and so a line. perf_analyzer silently
// leaves a level that did not become stable out of its files; here it has its line, and the report and
// the exit code say that it is not stable.
func measured(n *result.Node) bool {
	if n.Outcome != result.Done && n.Outcome != result.Invalid && n.Outcome != result.Unstable {
		return false
	}
	_, ok := stat(n, metric.Latency, metric.Stat{Kind: metric.Mean})
	return ok && has(n, metric.Throughput)
}

// reached reports whether n is a level with a line in tables.
func reached(n *result.Node) bool { return measured(n) && over(n) == "" }

// over returns the note at a level at which the levels end because a condition is not true, "" at any
// other. Such a level was not reached.
func over(n *result.Node) string {
	if f := n.Finding(result.LadderEnd); f != nil {
		return f.Text
	}
	return ""
}

func stat(n *result.Node, name string, s metric.Stat) (float64, bool) { return n.Metrics[name].Stat(s) }

// has reports whether n has a metric that is one number.
func has(n *result.Node, name string) bool {
	_, ok := stat(n, name, metric.Stat{})
	return ok
}

// value returns a metric of n that is one number, 0 without data.
func value(n *result.Node, name string) float64 {
	v, _ := stat(n, name, metric.Stat{})
	return v
}

func nodeTable(mode string, nodes []*result.Node, percentiles []float64, wide bool) ([]byte, error) {
	list := make([]*result.Node, len(nodes))
	for i, n := range nodes {
		list[i] = perRequest(n)
	}
	nodes = list
	slices.SortStableFunc(nodes, func(a, b *result.Node) int {
		return cmp.Compare(value(a, metric.Throughput), value(b, metric.Throughput))
	})
	columns := nodeColumns(mode, nodes, percentiles)
	if wide {
		columns = append(append(columns, wideColumns(nodes)...), gpuColumns(nodes)...)
	}
	return write(columns, nodes)
}

// perRequest returns n with the times of a response cache and of computing as shares of a request: some
// requests are answered by the cache, the others are computed, and only in this way the columns add up
// to the latency.
func perRequest(n *result.Node) *result.Node {
	all, hits, misses := value(n, metric.ServerRequests), value(n, metricHits), value(n, metricMisses)
	if all == 0 || hits+misses == 0 {
		return n
	}
	computed := max(0, all-hits)
	out := n
	for name, of := range map[string]float64{
		metricHit: hits, metricMiss: misses,
		metricInput: computed, metricInfer: computed, metricOutput: computed,
	} {
		if has(n, name) {
			out = with(out, name, result.Number(metric.Duration, means(n, name)*of/all))
		}
	}
	return out
}

func write(columns []column, nodes []*result.Node) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = clean.Cell(clean.Line(c.name))
	}
	if err := w.Write(header); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		record := make([]string, len(columns))
		for i, c := range columns {
			record[i] = clean.Cell(clean.Line(c.of(n)))
		}
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// decoupled reports whether n has another number of responses than of requests.
func decoupled(n *result.Node) bool {
	responses, ok := stat(n, metricResponses, metric.Stat{})
	requests, ok2 := stat(n, metric.RequestsRate, metric.Stat{})
	return ok && ok2 && responses != requests
}
