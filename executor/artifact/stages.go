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

// rowsOf returns the row of a node and those of its phases, mix entries, repeats, trials and called
// models. The verdict belongs to the node; that of a trial is the one of `while`.
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
var stageColumns = []struct {
	name string
	of   func(*stageRow) string
}{
	{"node", func(r *stageRow) string { return r.ID }},
	{"scope", func(r *stageRow) string { return r.scope }},
	{"stage", func(r *stageRow) string { return r.Stage }},
	{"point", func(r *stageRow) string { return point(r.Point) }},
	{"target", func(r *stageRow) string { return r.Target }},
	{"model", func(r *stageRow) string { return r.Load.Model }},
	{"load", func(r *stageRow) string { return r.Load.Kind }},
	{"level", func(r *stageRow) string {
		switch {
		case r.Load.Periodic != nil:
			return whole(int64(r.Load.Periodic.To))
		case r.Load.Value == 0: // it changes, or is in a file, or no trial was confirmed
			return ""
		}
		return decimal(r.Load.Value)
	}},
	{"batch", func(r *stageRow) string { return whole(int64(r.Load.Batch)) }},
	{"outcome", func(r *stageRow) string { return string(r.Outcome) }},
	{"reason", func(r *stageRow) string { return r.Reason }},
	{"verdict", func(r *stageRow) string { return string(worst(r.Assertions)) }},
	{"valid", func(r *stageRow) string {
		return strconv.FormatBool(r.Validity.OK)
	}},
	{"started_s", func(r *stageRow) string { return decimal(r.Started) }},
	{"duration_s", func(r *stageRow) string { return decimal(r.Duration) }},
	{"labels", func(r *stageRow) string {
		labels := map[string]string{}
		maps.Copy(labels, r.result.Plan.Labels)
		maps.Copy(labels, r.Labels)
		return point(labels)
	}},
	{"plan", func(r *stageRow) string { return r.result.Plan.Name }},
	{"started_at", func(r *stageRow) string {
		return r.result.Started.Add(time.Duration(r.Started * float64(time.Second))).UTC().Format(
			time.RFC3339Nano)
	}},
}

// stagesCSV returns one row per node, in the order of the result, followed by a row for each of its
// phases, mix entries, repeats, trials and called models. An empty cell means no data; a statistic
// without data in any row has no column.
func stagesCSV(r *result.Result, o Options) ([]byte, error) {
	columns, err := measuredColumns(r, o.Percentiles)
	if err != nil {
		return nil, err
	}
	header := make([]string, 0, len(stageColumns)+len(columns))
	for _, c := range stageColumns {
		header = append(header, c.name)
	}
	for _, l := range columns {
		header = append(header, l.Row.Header(l.Stat))
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(header) // the writer keeps its error
	for _, n := range r.Nodes {
		for _, row := range rowsOf(r, n) {
			record := make([]string, 0, len(header))
			for _, c := range stageColumns {
				record = append(record, clean.Cell(clean.Line(c.of(row))))
			}
			for _, l := range columns {
				record = append(record, cell(row, l))
			}
			_ = w.Write(record)
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// measuredColumns returns the statistics that have a column and data in some row.
func measuredColumns(r *result.Result, percentiles []float64) ([]metric.Leaf, error) {
	rows, err := catalogue(r)
	if err != nil {
		return nil, err
	}
	var columns []metric.Leaf
	for _, row := range rows {
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
				used[l] = used[l] || cell(row, l) != ""
			}
		}
	}
	return slices.DeleteFunc(columns, func(l metric.Leaf) bool { return !used[l] }), nil
}

// cell formats a leaf of a row in the unit of its column.
func cell(r *stageRow, l metric.Leaf) string {
	v, ok := r.Metrics[l.Row.Name].Stat(l.Stat)
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
