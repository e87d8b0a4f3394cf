package artifact

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// partRow returns n as the row of one of its parts: with the values of the part, and without the
// verdict, which belongs to the node.
func partRow(n *result.Node, s result.Scope) *result.Node {
	part := *n
	part.Duration, part.Metrics, part.Assertions = s.Duration, s.Metrics, nil
	if s.Mix != "" {
		part.Target, part.Load.Model, part.Load.Batch = s.Target, s.Model, s.Batch
	}
	return &part
}

// modelRow returns n as the row of a called model, with the server's counts of it.
func modelRow(n *result.Node, m result.Model) *result.Node {
	row := *n
	row.Metrics, row.Assertions, row.Load.Model = m.Metrics, nil, m.Name
	return &row
}

// repeatRow returns n as the row of one of its repeats.
func repeatRow(n *result.Node, x result.Repeat) *result.Node {
	row := *n
	row.Started, row.Duration, row.Outcome, row.Reason, row.Metrics, row.Assertions = x.Started,
		x.Duration, x.Outcome, x.Reason, x.Metrics, nil
	row.Validity.OK = x.Outcome != result.Invalid
	return &row
}

// trialRow returns n as the row of one of the trials of its search, whose verdict is that of
// `while`.
func trialRow(n *result.Node, x result.Trial) *result.Node {
	row := *n
	row.Started, row.Duration, row.Outcome, row.Reason, row.Metrics = x.Started, x.Duration, x.Outcome,
		x.Reason, x.Metrics
	row.Load.Value, row.Validity.OK = x.Level, x.Outcome != result.Invalid
	row.Assertions = []result.Assertion{{Verdict: x.Verdict}}
	return &row
}

// partsOf calls f with the whole node, then with each of its parts and the name of that.
func partsOf(n *result.Node, f func(row *result.Node, scope string)) {
	f(n, "")
	for _, s := range n.Scopes {
		f(partRow(n, s), scope(s))
	}
	for i, x := range n.Repeats {
		f(repeatRow(n, x), "repeat="+whole(int64(i+1)))
	}
	for i, x := range n.Trials {
		f(trialRow(n, x), "trial="+whole(int64(i+1)))
	}
	for _, m := range n.Models {
		f(modelRow(n, m), strings.TrimSuffix("model="+m.Name+":"+m.Version, ":"))
	}
}

// scope names a part of a node: "phase=base", "mix=sql", "phase=base mix=sql"; "" is the whole
// node.
func scope(s result.Scope) string {
	axes := map[string]string{}
	if s.Phase != "" {
		axes["phase"] = s.Phase
	}
	if s.Mix != "" {
		axes["mix"] = s.Mix
	}
	return point(axes)
}

// stageColumns are the columns of stages.csv before the metrics.
var stageColumns = []struct {
	name string
	of   func(*result.Result, *result.Node) string
}{
	{"node", func(_ *result.Result, n *result.Node) string { return n.ID }},
	{"stage", func(_ *result.Result, n *result.Node) string { return n.Stage }},
	{"point", func(_ *result.Result, n *result.Node) string { return point(n.Point) }},
	{"target", func(_ *result.Result, n *result.Node) string { return n.Target }},
	{"model", func(_ *result.Result, n *result.Node) string { return n.Load.Model }},
	{"load", func(_ *result.Result, n *result.Node) string { return n.Load.Kind }},
	{"level", func(_ *result.Result, n *result.Node) string {
		switch {
		case n.Load.Periodic != nil:
			return whole(int64(n.Load.Periodic.To))
		case n.Load.Value == 0: // it changes, or is in a file, or no trial was confirmed
			return ""
		}
		return decimal(n.Load.Value)
	}},
	{"batch", func(_ *result.Result, n *result.Node) string { return whole(int64(n.Load.Batch)) }},
	{"outcome", func(_ *result.Result, n *result.Node) string { return string(n.Outcome) }},
	{"reason", func(_ *result.Result, n *result.Node) string { return n.Reason }},
	{"verdict", func(_ *result.Result, n *result.Node) string { return string(worst(n.Assertions)) }},
	{"valid", func(_ *result.Result, n *result.Node) string {
		if n.Validity.OK {
			return "true"
		}
		return "false"
	}},
	{"started_s", func(_ *result.Result, n *result.Node) string { return decimal(n.Started) }},
	{"duration_s", func(_ *result.Result, n *result.Node) string { return decimal(n.Duration) }},
	{"labels", func(r *result.Result, n *result.Node) string {
		labels := maps.Clone(r.Plan.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, n.Labels)
		return point(labels)
	}},
	{"plan", func(r *result.Result, _ *result.Node) string { return r.Plan.Name }},
	{"started_at", func(r *result.Result, n *result.Node) string {
		return r.Started.Add(time.Duration(n.Started * float64(time.Second))).UTC().Format(time.RFC3339Nano)
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
	header := make([]string, 0, len(stageColumns)+1+len(columns))
	for _, c := range stageColumns {
		header = append(header, c.name)
	}
	header = slices.Insert(header, 1, "scope")
	for _, l := range columns {
		header = append(header, l.Row.Header(l.Stat))
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(header) // the writer keeps its error
	for _, n := range r.Nodes {
		partsOf(n, func(row *result.Node, scope string) {
			record := make([]string, 0, len(header))
			for _, c := range stageColumns {
				record = append(record, clean.Cell(clean.Line(c.of(r, row))))
			}
			record = slices.Insert(record, 1, clean.Cell(clean.Line(scope)))
			for _, l := range columns {
				record = append(record, cell(row, l))
			}
			_ = w.Write(record)
		})
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
	used := make([]bool, len(columns))
	for _, n := range r.Nodes {
		partsOf(n, func(row *result.Node, _ string) {
			for i, l := range columns {
				used[i] = used[i] || cell(row, l) != ""
			}
		})
	}
	kept := columns[:0]
	for i, l := range columns {
		if used[i] {
			kept = append(kept, l)
		}
	}
	return kept, nil
}

// cell formats a leaf of n in the unit of its column.
func cell(n *result.Node, l metric.Leaf) string {
	v, ok := n.Metrics[l.Row.Name].Stat(l.Stat)
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
	sort.Strings(list)
	return strings.Join(list, " ")
}

// worst returns the deciding verdict among the gates, "" without any.
func worst(list []result.Assertion) result.Verdict {
	order := []result.Verdict{
		result.Pass, result.Skipped, result.Inconclusive, result.Interrupted, result.Fail,
		result.ErrorVerdict,
	}
	at := -1
	for _, a := range list {
		for i, v := range order {
			if a.Verdict == v && a.Severity != warn {
				at = max(at, i)
			}
		}
	}
	if at < 0 {
		return ""
	}
	return order[at]
}

// warn is the severity of an assertion that is shown and decides nothing.
const warn = result.Warn
