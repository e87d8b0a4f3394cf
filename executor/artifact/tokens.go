package artifact

import (
	"strconv"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// tokenRows lists the rows of GenAI-Perf's table of a text endpoint, in its order and words, with the metric
// that each shows and how many of its units are in a base unit. Its time to the second token is left out: it
// counts from the first. The share of cached tokens is a row of ours, as are those of tokens counted otherwise.
func tokenRows() []tokenRow {
	return []tokenRow{
		{"Time To First Token (ms)", metric.TTFT, 1e3},
		{"Request Latency (ms)", metric.Latency, 1e3},
		{"Inter Token Latency (ms)", metric.ITL, 1e3},
		{"Output Token Throughput Per User (tokens/sec/user)", metric.TokensPerUser, 1},
		{"Output Sequence Length (tokens)", metric.TokensOutput, 1},
		{"Input Sequence Length (tokens)", metric.TokensInput, 1},
		{"Cached Input Tokens (%)", metric.TokensCachedShare, 100},
		{"Output Token Throughput of Hold (tokens/sec)", metric.TokensOutputRate, 1},
		{"Request Throughput of Hold (per sec)", metric.RequestsRate, 1},
		{"Request Goodput of Hold (per sec)", metric.Goodput, 1},
		{answeredWell, metric.Latency, 1},
		{"Requests Closed by Us (count)", metric.CancelledByUs, 1},
	}
}

type tokenRow struct {
	title, metric string
	scale         float64
}

// answeredWell is the title of the number of a metric's requests, as GenAI-Perf counts them: without those that failed.
const answeredWell = "Request Count (count)"

// stat returns a cell of the row. That of an average is the value of a metric of one, and a count.
func (x tokenRow) stat(m *result.Metric, s metric.Stat) (float64, bool) {
	average := s.Kind == metric.Mean
	switch {
	case x.title == answeredWell && average:
		return m.Stat(metric.Stat{Kind: metric.N})
	case x.title == answeredWell:
		return 0, false
	}
	v, ok := m.Stat(s)
	if !ok && average {
		v, ok = m.Stat(metric.Stat{})
	}
	return v, ok && (x.metric != metric.CancelledByUs || v > 0) // a plan without cancel has none
}

// tokenGrid returns GenAI-Perf's table for each node whose server counted tokens or sent them as a stream. A
// row without data is left out, as those of streams are for a reply in one piece.
func tokenGrid(r *result.Result) grid {
	g := grid{header: []string{"node", "statistic", "avg", "min", "max", "p99", "p90", "p75"}}
	for _, n := range r.Nodes {
		if !hasTokens(n) {
			continue
		}
		name := clean.Line(n.ID)
		for _, x := range tokenRows() {
			m := n.Metrics[x.metric]
			cells := []string{name, x.title}
			known := false
			for _, s := range []metric.Stat{
				{Kind: metric.Mean},
				{Kind: metric.Min},
				{Kind: metric.Max},
				{Kind: metric.Percentile, P: 99},
				{Kind: metric.Percentile, P: 90},
				{Kind: metric.Percentile, P: 75},
			} {
				v, ok := x.stat(m, s)
				cell := noNumber
				if ok {
					known, cell = true, strconv.FormatFloat(v*x.scale, 'f', 2, 64)
				}
				cells = append(cells, cell)
			}
			if known {
				g.rows = append(g.rows, cells)
				name = ""
			}
			if x.metric == metric.TokensOutput {
				g.rows = append(g.rows, countedAgain(n.TokenCounts)...)
			}
		}
	}
	return g
}

// countedAgain returns the rows of another way than the server's usage to count the tokens of answers.
func countedAgain(t *result.TokenCounts) (rows [][]string) {
	if t == nil || t.Usage == nil { // the tokenizer's are the metrics
		return nil
	}
	add := func(title string, n int64) {
		mean := strconv.FormatFloat(float64(n)/float64(t.Answers), 'f', 2, 64)
		rows = append(rows, []string{"", title, mean, noNumber, noNumber, noNumber, noNumber, noNumber})
	}
	add("Output Sequence Length by Tokenizer (tokens)", t.Tokenizer)
	if t.Events != nil {
		add("Output Events (events with text)", *t.Events)
	}
	return rows
}

// hasTokens reports whether any request of a node has a number or a time of tokens.
func hasTokens(n *result.Node) bool {
	for _, name := range []string{metric.TokensInput, metric.TokensOutput, metric.TTFT} {
		if v, ok := n.Metrics[name].Stat(metric.Stat{Kind: metric.N}); ok && v > 0 {
			return true
		}
	}
	return false
}
