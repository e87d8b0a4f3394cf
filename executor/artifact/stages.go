package artifact

import (
	"bytes"
	"encoding/csv"
	"slices"
	"sort"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// inPart is n as the row of one of its parts: what the part has of its own, without the verdict, which is the node's.
func inPart(n *result.Node, s result.Scope) *result.Node {
	part := *n
	part.Duration, part.Metrics, part.Assertions = s.Duration, s.Metrics, nil
	if s.Mix != "" {
		part.Target, part.Load.Model, part.Load.Batch = s.Target, s.Model, s.Batch
	}
	return &part
}

// ofModel is n as the row of a model that its own calls: what the server counted of it.
func ofModel(n *result.Node, m result.Model) *result.Node {
	row := *n
	row.Metrics, row.Assertions, row.Load.Model = m.Metrics, nil, m.Name
	return &row
}

// scope names a part of a node: "phase=base", "mix=sql", "phase=base mix=sql"; "" is the node as a whole.
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
	of   func(*result.Node) string
}{
	{"node", func(n *result.Node) string { return n.ID }},
	{"stage", func(n *result.Node) string { return n.Stage }},
	{"point", func(n *result.Node) string { return point(n.Point) }},
	{"target", func(n *result.Node) string { return n.Target }},
	{"model", func(n *result.Node) string { return n.Load.Model }},
	{"load", func(n *result.Node) string { return n.Load.Kind }},
	{"level", func(n *result.Node) string {
		switch {
		case n.Load.Periodic != nil:
			return whole(int64(n.Load.Periodic.To))
		case n.Load.Value == 0: // it changes, or stands in a file, or no trial was confirmed
			return ""
		}
		return decimal(n.Load.Value)
	}},
	{"batch", func(n *result.Node) string { return whole(int64(n.Load.Batch)) }},
	{"outcome", func(n *result.Node) string { return string(n.Outcome) }},
	{"reason", func(n *result.Node) string { return n.Reason }},
	{"verdict", func(n *result.Node) string { return string(worst(n.Assertions)) }},
	{"valid", func(n *result.Node) string {
		if n.Validity.OK {
			return "true"
		}
		return "false"
	}},
	{"started_s", func(n *result.Node) string { return decimal(n.Started) }},
	{"duration_s", func(n *result.Node) string { return decimal(n.Duration) }},
	{"labels", func(n *result.Node) string { return point(n.Labels) }},
}

// stagesCSV is one row for each node, in the order of the result, with a row for each of its phases and mix entries and
// of the models that its own calls behind it. An empty cell is no data.
func stagesCSV(r *result.Result, o Options) ([]byte, error) {
	rows, err := catalogue(r)
	if err != nil {
		return nil, err
	}
	var columns []metric.Leaf
	var header []string
	for _, c := range stageColumns {
		header = append(header, c.name)
	}
	header = slices.Insert(header, 1, "scope")
	for _, row := range rows {
		for _, l := range leaves(row, o.Percentiles, true) {
			if name := row.Header(l.Stat); name != "" {
				columns, header = append(columns, l), append(header, name)
			}
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(header); err != nil {
		return nil, err
	}
	write := func(n *result.Node, scope string) error {
		record := make([]string, 0, len(header))
		for _, c := range stageColumns {
			record = append(record, inert(clean(c.of(n))))
		}
		record = slices.Insert(record, 1, inert(clean(scope)))
		for _, l := range columns {
			record = append(record, cell(n, l))
		}
		return w.Write(record)
	}
	for _, n := range r.Nodes {
		if err := write(n, ""); err != nil {
			return nil, err
		}
		for _, s := range n.Scopes {
			if err := write(inPart(n, s), scope(s)); err != nil {
				return nil, err
			}
		}
		for _, m := range n.Models {
			if err := write(ofModel(n, m), strings.TrimSuffix("model="+m.Name+":"+m.Version, ":")); err != nil {
				return nil, err
			}
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// cell is a leaf of n in the unit of its column.
func cell(n *result.Node, l metric.Leaf) string {
	v, ok := n.Metrics[l.Row.Name].Stat(l.Stat)
	if !ok {
		return ""
	}
	if l.Stat.Kind == metric.N {
		return decimal(v)
	}
	return decimal(v * l.Row.CSV.Scale)
}

// inert keeps a spreadsheet from taking text for a formula.
func inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// point writes a node's axes: "batch=8 concurrency=4".
func point(p map[string]string) string {
	var list []string
	for axis, v := range p {
		list = append(list, axis+"="+v)
	}
	sort.Strings(list)
	return strings.Join(list, " ")
}

// worst is the verdict that decides among the assertions that gate; "" without any.
func worst(list []result.Assertion) result.Verdict {
	order := []result.Verdict{
		result.Pass, result.Skipped, result.Inconclusive, result.Interrupted, result.Fail, result.ErrorVerdict,
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
