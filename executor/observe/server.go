package observe

import (
	"context"
	"fmt"
	"slices"
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
	if hasAll(series, request, requests, requestParts[0]) {
		rows = append(rows, metric.SeriesRow("overhead",
			"time in the server that is neither queue nor compute, of requests that succeeded", "ns", true))
	}
	if hasAll(series, inferences, executions) {
		rows = append(rows, batchRow())
	}
	return rows
}

func batchRow() metric.Row {
	return metric.SeriesRow("batch", "inferences in one execution of the model", "1", true)
}

// hasAll reports whether there is a series of each name.
func hasAll(series []backends.Series, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return indexOf(series, name) < 0 })
}

func indexOf(series []backends.Series, name string) int {
	return slices.IndexFunc(series, func(s backends.Series) bool { return s.Name == name })
}

// Growth returns what the server did from a to b: a reading for each of Rows(series), in that
// order. If a counter decreased (a restart, or an overflow), all readings have no data.
func Growth(series []backends.Series, a, b Snapshot) []Reading {
	delta, reason := growth(series, a, b)
	var out []Reading
	for i, row := range Rows(series) {
		r := Reading{Row: row, Reason: reason}
		switch {
		case reason != "":
		case i >= len(series) && row.Name == batchRow().Name:
			r.V, r.OK = mean(float64(delta[inferences]), delta[executions])
		case i >= len(series):
			r.V, r.OK, r.Reason = overhead(delta, unitFactor(series[indexOf(series, request)].Unit))
		default:
			s := series[i]
			r.V, r.OK = float64(delta[s.Name])*unitFactor(s.Unit), true
			if s.Per != "" {
				r.V, r.OK = mean(r.V, delta[s.Per])
			}
		}
		out = append(out, r)
	}
	return out
}

// growth returns by how much each series grew, or why that is unknown.
func growth(series []backends.Series, a, b Snapshot) (delta map[string]int64, reason string) {
	if len(a.Values) != len(series) || len(b.Values) != len(series) {
		return nil, "the server's statistics are incomplete"
	}
	delta = map[string]int64{}
	for i, s := range series {
		delta[s.Name] = b.Values[i] - a.Values[i]
		if delta[s.Name] < 0 || a.Values[i] < 0 {
			return nil, fmt.Sprintf("the server's counter %s went back from %d to %d: was it restarted?",
				s.Name, a.Values[i], b.Values[i])
		}
	}
	return delta, ""
}

// mean returns total per one of n, no data if there is none.
func mean(total float64, n int64) (float64, bool) {
	if n == 0 {
		return 0, false
	}
	return total / float64(n), true
}

// overhead returns the mean time of a request that no series accounts for; unit is that of request.
func overhead(delta map[string]int64, unit float64) (v float64, ok bool, why string) {
	rest := delta[request]
	for _, p := range requestParts {
		rest -= delta[p]
	}
	if delta[requests] > 0 && rest < 0 {
		return 0, false, fmt.Sprintf("the server's queue and compute times (%d ns) "+
			"add up to more than its request time (%d ns)", delta[request]-rest, delta[request])
	}
	v, ok = mean(float64(rest)*unit, delta[requests])
	return v, ok, ""
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
