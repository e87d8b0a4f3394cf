package llm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kinds of plots.
const (
	box     = "box"
	scatter = "scatter"
	heatmap = "heatmap"
)

// Plot describes a figure of some runs, as GenAI-Perf's configuration of compare does.
type Plot struct {
	Title          string
	X, Y           string // names of plotMetrics; of a box Y alone
	XLabel, YLabel string
	Width, Height  int
	Type           string // one of Types
}

// FileName returns the name of the figure's file, without its ending: the title in small letters, as GenAI-Perf has it.
func (p Plot) FileName() string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '_'
	}, p.Title)
}

// Types lists the kinds of plots.
func Types() []string { return []string{box, scatter, heatmap} }

// Names in the configuration: GenAI-Perf's.
const (
	plotTTFTs     = "time_to_first_tokens"
	plotLatencies = "request_latencies"
	plotInputs    = "input_sequence_lengths"
	plotOutputs   = "output_sequence_lengths"
	plotITLs      = "inter_token_latencies"
	plotGaps      = "token_to_token_latencies"
	plotPositions = "token_positions"
	plotPerUser   = "output_token_throughputs_per_user"
)

// plotMetric is a number of requests that a plot shows: one each, or one for each gap between contents.
type plotMetric struct {
	tag   string // of Metrics, "" for one of gaps
	label string
	gaps  bool
	of    func(r *Request, gap int) float64
}

func plotMetrics() map[string]plotMetric {
	list := map[string]plotMetric{
		plotGaps: {Gap, "Token-to-Token Latency (ms)", true, func(r *Request, gap int) float64 {
			return float64(r.Gaps[gap]) / 1e6
		}},
		plotPositions: {"", "Output Token Position", true, func(_ *Request, gap int) float64 { return float64(gap + 2) }},
	}
	for name, x := range map[string][2]string{
		plotTTFTs: {TTFT, "Time to First Token (ms)"}, plotLatencies: {Latency, "Request Latency (ms)"},
		plotInputs: {ISL, "Input Sequence Length (tokens)"}, plotOutputs: {OSL, "Output Sequence Length (tokens)"},
		plotITLs: {ITL, "Inter Token Latency (ms)"}, plotPerUser: {PerUser, "Output Tokens per Second and User"},
	} {
		of := metricOf(x[0]).of
		list[name] = plotMetric{x[0], x[1], false, func(r *Request, _ int) float64 { return of(r) }}
	}
	return list
}

// MetricNames lists the metrics that a plot may show.
func MetricNames() []string {
	return []string{
		plotTTFTs, plotLatencies, plotITLs, plotGaps, plotPositions, plotInputs, plotOutputs, plotPerUser,
	}
}

// Plots returns GenAI-Perf's five plots, as wide as it draws one run or several.
func Plots(runs int) []Plot {
	width := 1200
	if runs < 2 {
		width = 700
	}
	const height = 450
	return []Plot{
		{
			"Time to First Token", "", plotTTFTs, "Time to First Token (ms)", "",
			width, height, box,
		},
		{
			"Request Latency", "", plotLatencies, "Request Latency (ms)", "",
			width, height, box,
		},
		{
			"Distribution of Input Sequence Lengths to Output Sequence Lengths", plotInputs, plotOutputs,
			"Input Sequence Length (tokens)", "Output Sequence Length (tokens)", width, height, heatmap,
		},
		{
			"Time to First Token vs Input Sequence Lengths",
			plotInputs, plotTTFTs, "Input Sequence Length (tokens)", "Time to First Token (ms)", width, height, scatter,
		},
		{
			"Token-to-Token Latency vs Output Token Position",
			plotPositions, plotGaps, "Output Token Position", "Token-to-Token Latency (ms)", width, height, scatter,
		},
	}
}

// points returns the pairs of a plot of one run, at most most of them, evenly chosen.
func (p Plot) points(r *Run, most int) (list [][2]float64) {
	all := plotMetrics()
	x, y := all[p.X], all[p.Y]
	add := func(q *Request, gap int) {
		if a, b := x.of(q, gap), y.of(q, gap); a >= 0 && b >= 0 {
			list = append(list, [2]float64{a, b})
		}
	}
	for i := range r.Requests {
		q := &r.Requests[i]
		if !x.gaps && !y.gaps {
			add(q, 0)
			continue
		}
		for gap := range q.Gaps {
			add(q, gap)
		}
	}
	if step := (len(list) + most - 1) / most; step > 1 {
		kept := list[:0]
		for i := 0; i < len(list); i += step {
			kept = append(kept, list[i])
		}
		list = kept
	}
	return list
}

// boxStats are the marks of a box.
type boxStats struct {
	low, q1, median, q3, high, mean float64 // low and high: ends of the whiskers
	outside                         []float64
}

// boxOf returns the box of a run's values, false without any. Whiskers end at the last value within 1.5 times the
// quartiles' distance; without single requests at the least and the largest.
func (p Plot) boxOf(r *Run) (boxStats, bool) {
	m := plotMetrics()[p.Y]
	var values []float64
	for i := range r.Requests {
		q := &r.Requests[i]
		if !m.gaps {
			values = appendKnown(values, m.of(q, 0))
			continue
		}
		for gap := range q.Gaps {
			values = appendKnown(values, m.of(q, gap))
		}
	}
	if len(values) == 0 {
		return boxFrom(r.Stats[m.tag])
	}
	slices.Sort(values)
	b := boxStats{
		q1: percentile(values, 25), median: percentile(values, 50), q3: percentile(values, 75),
	}
	reach := 1.5 * (b.q3 - b.q1)
	b.low, b.high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		b.mean += v / float64(len(values))
		if v < b.q1-reach || v > b.q3+reach {
			b.outside = append(b.outside, v)
			continue
		}
		b.low, b.high = min(b.low, v), max(b.high, v)
	}
	return b, true
}

func appendKnown(list []float64, v float64) []float64 {
	if v >= 0 {
		return append(list, v)
	}
	return list
}

// boxFrom returns the box of statistics that have at least a median.
func boxFrom(s Stats) (boxStats, bool) {
	median, ok := s.Values["p50"]
	get := func(names ...string) float64 {
		for _, name := range names {
			if v, ok := s.Values[name]; ok {
				return v
			}
		}
		return median
	}
	return boxStats{
		low: get("min", "p1", "p5", "p10", "p25"), q1: get("p25"), median: median, q3: get("p75"),
		high: get("max", "p99", "p95", "p90", "p75"), mean: get("avg"),
	}, ok
}

// Missing says which of the runs have no data for a plot.
func (p Plot) Missing(runs []*Run) (names []string) {
	for _, r := range runs {
		has := false
		if p.Type == box {
			_, has = p.boxOf(r)
		} else {
			has = len(p.points(r, 1)) > 0
		}
		if !has {
			names = append(names, r.Name)
		}
	}
	return names
}

// Check returns an error for a plot that cannot be drawn.
func (p Plot) Check() error {
	if !slices.Contains(Types(), p.Type) {
		return fmt.Errorf("type: unknown type %q, one of %v", p.Type, Types())
	}
	known := plotMetrics()
	for _, x := range []struct{ key, name string }{{"x_metric", p.X}, {"y_metric", p.Y}} {
		if _, ok := known[x.name]; !ok && (x.key == "y_metric" || p.Type != box) {
			return fmt.Errorf("%s: unknown metric %q, one of %v", x.key, x.name, MetricNames())
		}
	}
	switch {
	case p.Title == "":
		return errors.New("title: a figure without a title has no file name")
	case p.Width < 300 || p.Width > 10_000 || p.Height < 200 || p.Height > 10_000:
		return fmt.Errorf("a size of %d x %d is not in 300 x 200 to 10000 x 10000", p.Width, p.Height)
	}
	return nil
}
