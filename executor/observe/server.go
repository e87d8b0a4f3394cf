package observe

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Snapshot holds the server's cumulative counters at one time: values of Kind.Series.
type Snapshot struct {
	At     int64 // run clock, ns
	Values []int64
}

// Take reads a snapshot of n series with a backend's Stats, and returns its error.
func Take(ctx context.Context, n int, stats func(ctx context.Context, into []int64) (at int64,
	err error),
) (Snapshot, error) {
	s := Snapshot{Values: make([]int64, n)}
	at, err := stats(ctx, s.Values)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read server statistics: %w", err)
	}
	s.At = at
	return s, nil
}

// Reading is the value of a catalogue row between two snapshots. If OK is false there is no data,
// and Reason is set if that is worth a finding.
type Reading struct {
	Row    metric.Row
	V      float64 // in the base unit of the row
	OK     bool
	Reason string
}

// Series that derived rows use.
const (
	request    = "request"
	requests   = "requests"
	inferences = "inferences"
	executions = "executions"
)

// requestParts are the series whose times are part of request; the rest of it is overhead.
var requestParts = [...]string{
	"queue", "compute_input", "compute_infer", "compute_output", "cache.hit",
	"cache.miss",
}

// Rows returns the catalogue rows of series: one for each, then those derived from several.
func Rows(series []backends.Series) []metric.Row {
	rows := make([]metric.Row, 0, len(series)+2)
	for _, s := range series {
		// A count that is named after what it counts ("queue.count") is not counted twice in the
		// row's name.
		rows = append(rows, metric.SeriesRow(strings.TrimSuffix(s.Name, ".count"), s.Help, s.Unit,
			s.Per != ""))
	}
	if hasOverhead(series) {
		rows = append(rows, metric.SeriesRow("overhead",
			"time in the server that is neither queue nor compute, of requests that succeeded", "ns", true))
	}
	if indexOf(series, inferences) >= 0 && indexOf(series, executions) >= 0 {
		rows = append(rows, metric.SeriesRow("batch", "inferences in one execution of the model", "1", true))
	}
	return rows
}

func hasOverhead(series []backends.Series) bool {
	return indexOf(series, request) >= 0 && indexOf(series, requests) >= 0 &&
		indexOf(series, requestParts[0]) >= 0
}

func indexOf(series []backends.Series, name string) int {
	for i, s := range series {
		if s.Name == name {
			return i
		}
	}
	return -1
}

// Growth returns what the server did from a to b: a reading for each of Rows(series), in that
// order. If a counter decreased (a restart, or an overflow), all readings have no data.
func Growth(series []backends.Series, a, b Snapshot) []Reading {
	g := growth{series: series, delta: make([]int64, len(series))}
	for i := range series {
		if len(a.Values) != len(series) || len(b.Values) != len(series) {
			g.reason = "the server's statistics are incomplete"
			break
		}
		g.delta[i] = b.Values[i] - a.Values[i]
		if g.delta[i] < 0 || a.Values[i] < 0 {
			g.reason = fmt.Sprintf("the server's counter %s went back from %d to %d: was it restarted?",
				series[i].Name, a.Values[i], b.Values[i])
			break
		}
	}
	rows := Rows(series)
	out := make([]Reading, len(rows))
	for i, row := range rows {
		out[i] = Reading{Row: row, Reason: g.reason}
		if g.reason != "" {
			continue
		}
		if i < len(series) {
			out[i].V, out[i].OK = g.seriesValue(i)
			continue
		}
		out[i].V, out[i].OK, out[i].Reason = g.derivedValue(row.Name)
	}
	return out
}

// growth is the difference of two snapshots; reason is set if it is unusable.
type growth struct {
	series []backends.Series
	delta  []int64
	reason string
}

// seriesValue returns the growth of a series, or its mean.
func (g growth) seriesValue(i int) (float64, bool) {
	s := g.series[i]
	v := float64(g.delta[i]) * unitFactor(s.Unit)
	if s.Per == "" {
		return v, true
	}
	n, ok := g.increaseOf(s.Per)
	if !ok || n == 0 {
		return 0, false
	}
	return v / float64(n), true
}

func (g growth) increaseOf(name string) (int64, bool) {
	if i := indexOf(g.series, name); i >= 0 {
		return g.delta[i], true
	}
	return 0, false
}

func (g growth) derivedValue(row string) (v float64, ok bool, why string) {
	if row == metric.SeriesRow("batch", "", "1", true).Name {
		n, _ := g.increaseOf(executions)
		of, _ := g.increaseOf(inferences)
		if n == 0 {
			return 0, false, ""
		}
		return float64(of) / float64(n), true, ""
	}
	total, _ := g.increaseOf(request)
	n, _ := g.increaseOf(requests)
	rest := total
	for _, p := range requestParts {
		ns, _ := g.increaseOf(p)
		rest -= ns
	}
	switch {
	case n == 0:
		return 0, false, ""
	case rest < 0:
		return 0, false,
			fmt.Sprintf("the server's queue and compute times (%d ns) "+
				"add up to more than its request time (%d ns)", total-rest, total)
	}
	return float64(rest) * unitFactor(g.series[indexOf(g.series, request)].Unit) / float64(n), true, ""
}

// unitFactor returns the factor from a series' unit to the base unit of its dimension.
func unitFactor(unit string) float64 {
	switch unit {
	case "ns":
		return 1e-9
	case "us":
		return 1e-6
	case "ms":
		return 1e-3
	}
	return 1
}
