package program

import (
	"cmp"
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
			row, known := n.Catalogue.Row(strings.TrimSpace(x.Metric.Text))
			lacks := ""
			if known {
				lacks = lacksRow(n, row, n.entries[0])
			}
			switch dim, limit, ok := expression.Literal(strings.TrimSpace(x.Limit.Text)); {
			case known && row.Later && row.From == metric.Sample && lacks == "": // see later
			case !known || !binds(n, row):
				d.fail(x.Metric.Pos, "goodput-bound", "goodput cannot be bound by %s: %s", x.Metric.Text,
					cmp.Or(lacks, "not every request has a value of it")).Allowed = boundRows(n)
			case !ok || dim != row.Dim:
				d.fail(x.Limit.Pos, "goodput-bound",
					"%s is a %s: its bound is written like %s", row.Name, row.Dim, example(row.Dim))
			default:
				n.Goodput = append(n.Goodput, measure.Bound{Row: row, Limit: limit})
			}
		}
	}
}

// binds reports whether a goodput condition of the node can name a row.
func binds(n *Node, row *metric.Row) bool {
	return !row.Later && measure.Bindable(row) && lacksRow(n, row, nil) == ""
}

func boundRows(n *Node) (names []string) {
	for _, row := range n.Catalogue.Rows() {
		if binds(n, row) {
			names = append(names, row.Name)
		}
	}
	return names
}

// example returns a literal of a dimension.
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
