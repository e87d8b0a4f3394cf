package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// serverGrid returns the servers' counts: a row per node whose server keeps statistics, followed by
// the models that its own model calls. Columns without any value are left out.
func serverGrid(r *result.Result) grid {
	type line struct {
		name, calls string
		metrics     map[string]*result.Metric
	}
	var lines []line
	for _, n := range r.Nodes {
		if n.Outcome == result.SkippedNode || !counted(n.Metrics) {
			continue
		}
		lines = append(lines, line{clean.Line(n.ID), "", n.Metrics})
		for _, m := range n.Models {
			calls := noNumber
			if m.Calls != nil {
				calls = fmt.Sprintf("%.3g", *m.Calls)
			}
			name := strings.Repeat(nestedMark, n.CallDepth(m)) + clean.Line(m.Name)
			if m.Version != "" {
				name += ":" + clean.Line(m.Version)
			}
			lines = append(lines, line{name, calls, m.Metrics})
		}
	}
	g := grid{header: []string{"node"}, rows: make([][]string, len(lines))}
	for i, x := range lines {
		g.rows[i] = []string{x.name}
	}
	if slices.ContainsFunc(lines, func(x line) bool { return x.calls != "" }) {
		g.column(1, "calls per\nrequest", func(i int) string { return lines[i].calls })
	}
	for _, row := range metric.ServerHeadline() {
		column, known := make([]string, len(lines)), false
		for i, x := range lines {
			column[i] = noNumber
			if m := x.metrics[row.Name]; m != nil && m.Value != nil {
				column[i], known = result.Format(m.Unit, *m.Value), true
			}
		}
		if !known {
			continue
		}
		_, name, _ := strings.Cut(row.Name, ".")
		last := strings.LastIndexByte(name, '.')
		g.column(len(g.header), name[:last]+"\n"+name[last+1:], func(i int) string { return column[i] })
	}
	return g
}

// counted reports whether a server keeps statistics.
func counted(metrics map[string]*result.Metric) bool {
	return slices.ContainsFunc(metric.ServerHeadline(), func(row metric.Row) bool {
		m := metrics[row.Name]
		return m != nil && m.Value != nil
	})
}
