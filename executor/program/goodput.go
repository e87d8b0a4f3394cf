package program

import (
	"strings"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// compileGoodput compiles what makes a request good: a metric that every request has a value of,
// and a limit of its dimension. It reads catalogues and adds Node.Goodput.
func compileGoodput(d *draft) {
	for _, n := range d.program.Nodes {
		if n.Catalogue == nil {
			continue // its target is wrong, which has been reported
		}
		for _, x := range n.Stage.Goodput {
			if row, ok := n.Catalogue.Row(strings.TrimSpace(x.Metric.Text)); ok && row.Later &&
				row.From == metric.Sample && lacksRow(n, row, n.entries[0]) == "" {
				continue // see later
			}
			row := bindableRow(n, x.Metric.Text)
			if row == nil {
				why := "not every request has a value of it"
				if known, ok := n.Catalogue.Row(strings.TrimSpace(x.Metric.Text)); ok &&
					lacksRow(n, known, n.entries[0]) != "" {
					why = lacksRow(n, known, n.entries[0])
				}
				d.fail(x.Metric.Pos, "goodput-bound",
					"goodput cannot be bound by %s: %s", x.Metric.Text, why).Allowed = boundRows(n)
				continue
			}
			dim, limit, ok := expression.Literal(strings.TrimSpace(x.Limit.Text))
			if !ok || dim != row.Dim {
				d.fail(x.Limit.Pos, "goodput-bound",
					"%s is a %s: its bound is written like %s", row.Name, row.Dim, example(row.Dim))
				continue
			}
			n.Goodput = append(n.Goodput, measure.Bound{Row: row, Limit: limit})
		}
	}
}

// bindableRow is the row that a goodput condition names, nil where there is none that fits.
func bindableRow(n *Node, name string) *metric.Row {
	row, ok := n.Catalogue.Row(strings.TrimSpace(name))
	if !ok || row.Later || !measure.Bindable(row) || lacksRow(n, row, nil) != "" {
		return nil
	}
	return row
}

func boundRows(n *Node) (names []string) {
	for _, row := range n.Catalogue.Rows() {
		if !row.Later && measure.Bindable(row) && lacksRow(n, row, nil) == "" {
			names = append(names, row.Name)
		}
	}
	return names
}

// example is a literal of a dimension.
func example(d metric.Dim) string {
	switch d {
	case metric.Duration:
		return "300ms"
	case metric.Rate:
		return "20/s"
	case metric.Ratio:
		return "1%"
	case metric.Bytes:
		return "64KiB"
	case metric.Count, metric.Power, metric.Number:
	}
	return "128"
}
