package program

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// compileGoodput compiles what makes a request good: a metric that every request has a value of,
// and a limit of its dimension. It reads catalogues and adds Node.Goodput.
func compileGoodput(d *draft) {
	for _, n := range d.Nodes {
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
			case !known || !binds(n, row):
				names := boundRows(n)
				nearest := calledElsewhere(n, names, strings.TrimSpace(x.Metric.Text))
				if nearest != "" {
					lacks = "it is called " + nearest + " here"
				}
				d.fail(x.Metric.Pos, "goodput-bound", "goodput cannot be bound by %s: %s", x.Metric.Text,
					cmp.Or(lacks, "not every request has a value of it")).
					Among(nearest, names)
			case !ok || dim != row.Dim:
				d.fail(x.Limit.Pos, "goodput-bound",
					"%s is a %s: its bound is written like %s", row.Name, row.Dim, example(row.Dim))
			default:
				n.Goodput = append(n.Goodput, measure.Bound{Row: row, Limit: limit})
			}
		}
	}
}

// calledElsewhere returns the one of the rows that other tools call by a name, "" if there is none.
func calledElsewhere(n *Node, names []string, name string) string {
	for _, row := range n.Catalogue.Rows() {
		same := func(alias string) bool { return strings.EqualFold(alias, name) }
		if slices.Contains(names, row.Name) && slices.ContainsFunc(row.Aliases, same) {
			return row.Name
		}
	}
	return ""
}

func boundRows(n *Node) (names []string) {
	for _, row := range n.Catalogue.Rows() {
		if binds(n, row) {
			names = append(names, row.Name)
		}
	}
	return names
}

// binds reports whether a goodput condition of the node can name a row.
func binds(n *Node, row *metric.Row) bool {
	return measure.Bindable(row) && lacksRow(n, row, nil) == ""
}

// example returns a literal of a dimension.
func example(d metric.Dim) string {
	return cmp.Or(map[metric.Dim]string{
		metric.Duration: "300ms", metric.Rate: "20/s", metric.Ratio: "1%", metric.Bytes: "64KiB",
	}[d], "128")
}
