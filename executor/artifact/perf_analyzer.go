package artifact

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"maps"
	"slices"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// The layouts of perf_analyzer's tables and report are fixed by perf_analyzer: columns, labels, their order, integer µs for
// times, six significant digits for throughput, rows by ascending throughput. These are our names for what is in them.
const (
	paThroughput = "throughput"
	paResponses  = "responses.rate"
	paRequests   = "requests.rate"
	paCount      = "requests.count"
	paSequences  = "sequences.rate"
	paOffered    = "offered.rate"
	paLate       = "late.ratio"
	paLatency    = "latency"
	paService    = "service_time"
	paFirst      = metric.FirstResponse
	paGap        = "response_gap"
	paSend       = "send_time"
	paServer     = "server.request.mean"
	paQueue      = "server.queue.mean"
	paInput      = "server.compute_input.mean"
	paInfer      = "server.compute_infer.mean"
	paOutput     = "server.compute_output.mean"
	paHit        = "server.cache.hit.mean"
	paMiss       = "server.cache.miss.mean"
	paHits       = "server.cache.hits.count"
	paMisses     = "server.cache.misses.count"
	paInferences = "server.inferences.count"
	paExecutions = "server.executions.count"
	paSuccesses  = "server.requests.count"
)

// The two modes of perf_analyzer: what the first column of its tables is.
const (
	paConcurrency = "concurrency"
	paRate        = "request_rate"
)

func paMode(n *result.Node) string {
	if n.Load.Kind == "concurrency" {
		return paConcurrency
	}
	return paRate
}

// perfAnalyzerNames are the tables' files, without those of models.
func perfAnalyzerNames(o Options) []string {
	names := []string{"perf_analyzer.csv", "perf_analyzer_verbose.csv"}
	if o.Mixed {
		for _, mode := range []string{paConcurrency, paRate} {
			names = append(names, "perf_analyzer_"+mode+".csv", "perf_analyzer_"+mode+"_verbose.csv")
		}
	}
	return names
}

// perfAnalyzerCSV writes the levels that were measured, once with the plain columns and once with those of --verbose-csv.
// perf_analyzer has one mode a run: that of the first node gives perf_analyzer.csv, nodes of the other mode go to files of
// their own.
func perfAnalyzerCSV(r *result.Result, o Options) ([]file, error) {
	var modes []string
	nodes := map[string][]*result.Node{}
	for _, n := range paLevels(r) {
		if !measured(n) || over(n) != "" {
			continue
		}
		mode := paMode(n)
		if nodes[mode] == nil {
			modes = append(modes, mode)
		}
		nodes[mode] = append(nodes[mode], n)
	}
	if modes == nil { // a header says that there is nothing
		modes = []string{paConcurrency}
		if len(r.Nodes) > 0 {
			modes[0] = paMode(r.Nodes[0])
		}
	}
	var files []file
	for i, mode := range modes {
		name := "perf_analyzer"
		if i > 0 {
			name += "_" + mode
		}
		for _, wide := range []bool{false, true} {
			data, err := paTable(mode, nodes[mode], o.Percentiles, wide)
			if err != nil {
				return files, err
			}
			files = append(files, file{name + map[bool]string{true: "_verbose"}[wide] + ".csv", data})
		}
		models, err := paModelTables(mode, name, nodes[mode])
		if err != nil {
			return files, err
		}
		files = append(files, models...)
	}
	return files, nil
}

// paLevels are the levels as perf_analyzer sees them: nodes, and in place of a search the trials that passed, each value
// once, in the order of the first visit.
func paLevels(r *result.Result) []*result.Node {
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

// measured reports whether there is a line to be had of n: it has a throughput and a latency. perf_analyzer leaves out a level
// that did not get stable without a word in its files; here it has its line, and the report and the exit code say what it is.
func measured(n *result.Node) bool {
	if n.Outcome != result.Done && n.Outcome != result.Invalid && n.Outcome != result.Unstable {
		return false
	}
	_, ok := stat(n, paLatency, metric.Stat{Kind: metric.Mean})
	_, ok2 := stat(n, paThroughput, metric.Stat{})
	return ok && ok2
}

// over is the note at a level at which the levels end because a condition is not true; "": there is none. Such a level is none
// that was reached.
func over(n *result.Node) string {
	for _, f := range n.Validity.Findings {
		if f.Code == result.LadderEnd {
			return f.Text
		}
	}
	return ""
}

func stat(n *result.Node, name string, s metric.Stat) (float64, bool) { return n.Metrics[name].Stat(s) }

// value is a plain number of n; 0 where there is none.
func value(n *result.Node, name string) float64 {
	v, _ := stat(n, name, metric.Stat{})
	return v
}

func paTable(mode string, nodes []*result.Node, percentiles []float64, wide bool) ([]byte, error) {
	nodes = each(nodes, perRequest)
	slices.SortStableFunc(nodes, func(a, b *result.Node) int { return cmp.Compare(value(a, paThroughput), value(b, paThroughput)) })
	columns := paColumns(mode, nodes, percentiles)
	if wide {
		columns = append(append(columns, paWideColumns(nodes)...), paGPUColumns(nodes)...)
	}
	return paWrite(columns, nodes)
}

// perRequest is n with the times of a response cache and of computing as shares of a request: some are answered by the cache,
// the others are computed, and only so do the columns add up to the latency.
func perRequest(n *result.Node) *result.Node {
	all, hits, misses := value(n, paSuccesses), value(n, paHits), value(n, paMisses)
	if all == 0 || hits+misses == 0 {
		return n
	}
	one := *n
	one.Metrics = maps.Clone(n.Metrics)
	computed := max(0, all-hits)
	for name, of := range map[string]float64{paHit: hits, paMiss: misses, paInput: computed, paInfer: computed, paOutput: computed} {
		if _, ok := stat(n, name, metric.Stat{}); ok {
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

func paWrite(columns []paColumn, nodes []*result.Node) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = inert(clean(c.name))
	}
	if err := w.Write(header); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		record := make([]string, len(columns))
		for i, c := range columns {
			record[i] = inert(clean(c.of(n)))
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
