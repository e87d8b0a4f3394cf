package artifact

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// stageRow is a row of stages.csv: a node, or a node with the values of one of its parts.
type stageRow struct {
	result *result.Result
	scope  string // name of the part; "": the whole node
	result.Node
}

// rowsOf returns the row of a node and those of its phases, mix entries, repeats, attempts, trials and
// called models. The verdict belongs to the node; that of a trial is the one of `while`.
func rowsOf(r *result.Result, n *result.Node) []*stageRow {
	rows := []*stageRow{{r, "", *n}}
	add := func(scope string, metrics map[string]*result.Metric) *stageRow {
		row := &stageRow{r, scope, *n}
		row.Metrics, row.Assertions = metrics, nil
		rows = append(rows, row)
		return row
	}
	for _, s := range n.Scopes {
		row := add(scope(s), s.Metrics)
		row.Duration = s.Duration
		if s.Mix != "" {
			row.Target, row.Load.Model, row.Load.Batch = s.Target, s.Model, s.Batch
		}
	}
	for i, x := range n.Repeats {
		row := add("repeat="+whole(int64(i+1)), x.Metrics)
		row.Started, row.Duration, row.Outcome, row.Reason = x.Started, x.Duration, x.Outcome, x.Reason
		row.Validity.OK = x.Outcome != result.Invalid
	}
	for i, x := range n.Attempts {
		name := "attempt=" + whole(int64(attemptNumber(n, i)))
		if len(n.Repeats) > 0 {
			name = "repeat=" + whole(int64(x.Repeat+1)) + " " + name
		}
		row := add(name, x.Metrics)
		row.Started, row.Duration, row.Outcome, row.Reason = x.Started, x.Duration, x.Outcome, x.Reason
		row.Validity.OK = x.Outcome != result.Invalid
	}
	for i, x := range n.Trials {
		row := add("trial="+whole(int64(i+1)), x.Metrics)
		row.Started, row.Duration, row.Outcome, row.Reason = x.Started, x.Duration, x.Outcome, x.Reason
		row.Load.Value, row.Validity.OK = x.Level, x.Outcome != result.Invalid
		row.Assertions = []result.Assertion{{Verdict: x.Verdict}}
	}
	for _, m := range n.Models {
		add(strings.TrimSuffix("model="+m.Name+":"+m.Version, ":"), m.Metrics).Load.Model = m.Name
	}
	return rows
}

// scope names a part of a node: "phase=base", "mix=sql", "phase=base mix=sql".
func scope(s result.Scope) string {
	axes := map[string]string{"phase": s.Phase, "mix": s.Mix}
	maps.DeleteFunc(axes, func(_, name string) bool { return name == "" })
	return point(axes)
}

// stageColumns are the columns of stages.csv before the metrics.
var stageColumns = []string{
	"node", "scope", "stage", "point", "target", "model", "load", "level", "batch", "outcome", "reason",
	"verdict", "valid", "started_s", "duration_s", "labels", "plan", "started_at",
}

// cells returns the cells of stageColumns.
func (r *stageRow) cells() []string {
	level := ""
	if r.Load.Periodic != nil {
		level = whole(int64(r.Load.Periodic.To))
	} else if r.Load.Value != 0 { // else it changes, or is in a file, or no trial was confirmed
		level = decimal(r.Load.Value)
	}
	labels := map[string]string{}
	maps.Copy(labels, r.result.Plan.Labels)
	maps.Copy(labels, r.Labels)
	started := r.result.Started.Add(time.Duration(r.Started * float64(time.Second)))
	cells := []string{
		r.ID, r.scope, r.Stage, point(r.Point), r.Target, r.Load.Model, r.Load.Kind, level,
		whole(int64(r.Load.Batch)), string(r.Outcome), r.Reason, string(worst(r.Assertions)),
		strconv.FormatBool(r.Validity.OK), decimal(r.Started), decimal(r.Duration), point(labels),
		r.result.Plan.Name, started.UTC().Format(time.RFC3339Nano),
	}
	for i, c := range cells {
		cells[i] = clean.Cell(clean.Line(c))
	}
	return cells
}

// stagesCSV returns one row per node, in the order of the result, followed by a row for each of its
// phases, mix entries, repeats, attempts, trials and called models. An empty cell means no data; a statistic
// without data in any row has no column.
func stagesCSV(r *result.Result, o Options) ([]byte, error) {
	columns, err := measuredColumns(r, o.Percentiles)
	if err != nil {
		return nil, err
	}
	header, bounds := slices.Clone(stageColumns), boundedColumns(r, columns)
	if len(r.Best) > 0 {
		header = append(header, "rank")
	}
	for _, l := range columns {
		header = append(header, l.Row.Header(l.Stat))
	}
	for _, l := range bounds {
		header = append(header, l.Row.Header(l.Stat)+"_low", l.Row.Header(l.Stat)+"_high")
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(header) // the writer keeps its error
	for _, n := range r.Nodes {
		for _, row := range rowsOf(r, n) {
			record := row.cells()
			if rank := rankOf(r, n.ID); len(r.Best) > 0 && row.scope == "" {
				record = append(record, rank)
			} else if len(r.Best) > 0 {
				record = append(record, "")
			}
			for _, l := range columns {
				record = append(record, cell(row.Metrics, l))
			}
			low, high := row.lows(), row.highs()
			for _, l := range bounds {
				record = append(record, cell(low, l), cell(high, l))
			}
			_ = w.Write(record)
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// measuredColumns returns the statistics that have a column and data in some row.
func measuredColumns(r *result.Result, percentiles []float64) ([]metric.Leaf, error) {
	c, err := result.Catalogue(r.Nodes...)
	if err != nil {
		return nil, err
	}
	var columns []metric.Leaf
	for _, row := range c.Rows() {
		for _, l := range leaves(row, percentiles, true) {
			if l.Row.Header(l.Stat) != "" {
				columns = append(columns, l)
			}
		}
	}
	used := map[metric.Leaf]bool{}
	for _, n := range r.Nodes {
		for _, row := range rowsOf(r, n) {
			for _, l := range columns {
				used[l] = used[l] || cell(row.Metrics, l) != ""
			}
		}
	}
	return slices.DeleteFunc(columns, func(l metric.Leaf) bool { return !used[l] }), nil
}

// boundedColumns returns the columns in which a row has bounds, as this client was late.
func boundedColumns(r *result.Result, columns []metric.Leaf) (list []metric.Leaf) {
	used := make(map[metric.Leaf]bool)
	for _, n := range r.Nodes {
		for _, row := range rowsOf(r, n) {
			low, high := row.lows(), row.highs()
			if len(low)+len(high) == 0 { // as of most, in results of thousands of nodes
				continue
			}
			for _, l := range columns {
				used[l] = used[l] || cell(low, l) != "" || cell(high, l) != ""
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(columns), func(l metric.Leaf) bool { return !used[l] })
}

// lows returns what a row's metrics would have been at least, of those that have bounds.
func (r *stageRow) lows() map[string]*result.Metric {
	return setOf(r.Metrics, func(m *result.Metric) *result.Metric { return m.Low })
}

// highs returns what they would have been at most.
func (r *stageRow) highs() map[string]*result.Metric {
	return setOf(r.Metrics, func(m *result.Metric) *result.Metric { return m.High })
}

func setOf(
	metrics map[string]*result.Metric, set func(*result.Metric) *result.Metric,
) map[string]*result.Metric {
	list := make(map[string]*result.Metric)
	for name, m := range metrics {
		if m != nil && set(m) != nil {
			list[name] = set(m)
		}
	}
	return list
}

// leaves returns the statistics of a row that tables and files show.
func leaves(row *metric.Row, percentiles []float64, all bool) []metric.Leaf {
	if !row.IsDistribution() {
		return []metric.Leaf{{Row: row}}
	}
	var list []metric.Leaf
	add := func(kind metric.StatKind, p float64) {
		list = append(list, metric.Leaf{Row: row, Stat: metric.Stat{Kind: kind, P: p}})
	}
	if all {
		add(metric.N, 0)
		add(metric.Min, 0)
		add(metric.Mean, 0)
		add(metric.Std, 0)
	}
	for _, p := range percentiles {
		add(metric.Percentile, p)
	}
	if all {
		add(metric.Max, 0)
	}
	return list
}

// cell formats a leaf in the unit of its column.
func cell(metrics map[string]*result.Metric, l metric.Leaf) string {
	v, ok := metrics[l.Row.Name].Stat(l.Stat)
	if !ok {
		return ""
	}
	if l.Stat.Kind == metric.N {
		return decimal(v)
	}
	return decimal(v * l.Row.Scale())
}

// point formats a node's axes: "batch=8 concurrency=4".
func point(p map[string]string) string {
	var list []string
	for axis, v := range p {
		list = append(list, axis+"="+v)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// worst returns the deciding verdict among the gates, "" without any.
func worst(list []result.Assertion) (worst result.Verdict) {
	order := []result.Verdict{
		"", result.Pass, result.Skipped, result.Inconclusive, result.Interrupted, result.Fail,
		result.ErrorVerdict,
	}
	for _, a := range list {
		if a.Severity != warn && slices.Index(order, a.Verdict) > slices.Index(order, worst) {
			worst = a.Verdict
		}
	}
	return worst
}

// warn is the severity of an assertion that is shown and decides nothing.
const warn = result.Warn
