// Package perfanalyzer writes a result as perf_analyzer writes its own: the tables of --latency-report-file
// and --verbose-csv, and the report on its terminal.
package perfanalyzer

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"maps"
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
	var modes []string
	nodes := map[string][]*result.Node{}
	for _, n := range levelsOf(r) {
		if !measured(n) || over(n) != "" {
			continue
		}
		mode := modeOf(n)
		if nodes[mode] == nil {
			modes = append(modes, mode)
		}
		nodes[mode] = append(nodes[mode], n)
	}
	if modes == nil { // a header says that there is nothing
		modes = []string{Concurrency}
		if len(r.Nodes) > 0 {
			modes[0] = modeOf(r.Nodes[0])
		}
	}
	var files []Table
	for i, mode := range modes {
		name := "perf_analyzer"
		if i > 0 {
			name += "_" + mode
		}
		for _, wide := range []bool{false, true} {
			data, err := nodeTable(mode, nodes[mode], percentiles, wide)
			if err != nil {
				return files, err
			}
			files = append(files, Table{name + map[bool]string{true: "_verbose"}[wide] + ".csv", data})
		}
		models, err := modelTables(mode, name, nodes[mode])
		if err != nil {
			return files, err
		}
		files = append(files, models...)
	}
	return files, nil
}

// levels are the levels as perf_analyzer sees them: nodes, and in place of a search the trials that
// passed, each value once, in the order of the first visit.
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
				one.Models, one.Scrapes = nil, nil // they are those of the trial that is used
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

// measured reports whether there is a line to be had of n: it has a throughput and a latency.
// perf_analyzer leaves out a level that did not get stable without a word in its files; here it has
// its line, and the report and the exit code say what it is.
func measured(n *result.Node) bool {
	if n.Outcome != result.Done && n.Outcome != result.Invalid && n.Outcome != result.Unstable {
		return false
	}
	_, ok := stat(n, metric.Latency, metric.Stat{Kind: metric.Mean})
	_, ok2 := stat(n, metric.Throughput, metric.Stat{})
	return ok && ok2
}

// over is the note at a level at which the levels end because a condition is not true; "": there is
// none. Such a level is none that was reached.
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

// value is a plain number of n; 0 where there is none.
func value(n *result.Node, name string) float64 {
	v, _ := stat(n, name, metric.Stat{})
	return v
}

func nodeTable(mode string, nodes []*result.Node, percentiles []float64, wide bool) ([]byte, error) {
	nodes = each(nodes, perRequest)
	slices.SortStableFunc(nodes, func(a, b *result.Node) int {
		return cmp.Compare(value(a, metric.Throughput), value(b, metric.Throughput))
	})
	columns := nodeColumns(mode, nodes, percentiles)
	if wide {
		columns = append(append(columns, wideColumns(nodes)...), gpuColumns(nodes)...)
	}
	return write(columns, nodes)
}

// perRequest is n with the times of a response cache and of computing as shares of a request: some
// are answered by the cache, the others are computed, and only so do the columns add up to the
// latency.
func perRequest(n *result.Node) *result.Node {
	all, hits, misses := value(n, metric.ServerRequests), value(n, metricHits), value(n, metricMisses)
	if all == 0 || hits+misses == 0 {
		return n
	}
	one := *n
	one.Metrics = maps.Clone(n.Metrics)
	computed := max(0, all-hits)
	for name, of := range map[string]float64{
		metricHit: hits, metricMiss: misses,
		metricInput: computed, metricInfer: computed, metricOutput: computed,
	} {
		if has(n, name) {
			one.Metrics[name] = result.Number(metric.Duration, means(n, name)*of/all)
		}
	}
	return &one
}

func each(nodes []*result.Node, f func(*result.Node) *result.Node) []*result.Node {
	list := make([]*result.Node, len(nodes))
	for i, n := range nodes {
		list[i] = f(n)
	}
	return list
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

// decoupled reports whether n had another number of responses than of requests.
func decoupled(n *result.Node) bool {
	responses, ok := stat(n, metricResponses, metric.Stat{})
	requests, ok2 := stat(n, metric.RequestsRate, metric.Stat{})
	return ok && ok2 && responses != requests
}
