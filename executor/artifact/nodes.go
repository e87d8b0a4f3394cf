package artifact

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// grid is a table before it is drawn. A header may have two lines: a metric over its statistic.
type grid struct {
	header []string
	rows   [][]string
}

// nothing stands where a node has no number.
const nothing = "-"

// nodeGrid is one row for each node: what was asked of it and the headline metrics. A column that says the same as the
// one before it (throughput where no request is a batch) is left out, and so is the outcome where all are done.
func nodeGrid(r *result.Result, percentiles []float64) (grid, error) {
	rows, err := catalogue(r)
	if err != nil {
		return grid{}, err
	}
	g := grid{header: []string{"node", "load"}}
	g.rows = make([][]string, len(r.Nodes))
	for i, n := range r.Nodes {
		g.rows[i] = []string{clean(n.ID), load(n)}
	}
	for _, name := range metric.Headline() {
		at := slices.IndexFunc(rows, func(row *metric.Row) bool { return row.Name == name })
		if at < 0 {
			continue
		}
		for _, l := range leaves(rows[at], percentiles, false) {
			g.add(l, r.Nodes)
		}
	}
	done := func(n *result.Node) bool { return n.Outcome == result.Done && n.Validity.OK }
	if all := !slices.ContainsFunc(r.Nodes, func(n *result.Node) bool { return !done(n) }); all {
		return g, nil
	}
	g.header = append(g.header, "outcome")
	for i, n := range r.Nodes {
		outcome := n.Outcome
		if outcome == result.Done && !n.Validity.OK {
			outcome = result.Invalid
		}
		g.rows[i] = append(g.rows[i], string(outcome))
	}
	return g, nil
}

func (g *grid) add(l metric.Leaf, nodes []*result.Node) {
	column := make([]string, len(nodes))
	same := len(g.header) > 2
	for i, n := range nodes {
		column[i] = nothing
		if v, ok := n.Metrics[l.Row.Name].Stat(l.Stat); ok {
			column[i] = result.Format(l.Dim().Unit(), v)
		}
		same = same && column[i] == g.rows[i][len(g.rows[i])-1]
	}
	if same && l.Stat.Kind == metric.TheValue && len(nodes) > 0 {
		return
	}
	name := l.Row.Name
	if i := strings.LastIndexByte(name, '.'); l.Stat.Kind == metric.TheValue && i > 0 {
		name = name[:i] + "\n" + name[i+1:]
	} else if l.Stat.Kind != metric.TheValue {
		name += "\n" + l.Stat.String()
	}
	g.header = append(g.header, name)
	for i := range nodes {
		g.rows[i] = append(g.rows[i], column[i])
	}
}

// errorLines are the failures of all nodes by class, worst first.
func errorLines(r *result.Result) []string {
	var lines []string
	for _, n := range r.Nodes {
		list := slices.Clone(n.Errors)
		slices.SortStableFunc(list, func(a, b result.ErrorClass) int { return int(b.Count - a.Count) })
		for _, e := range list {
			line := clean(n.ID) + ": " + whole(e.Count) + " × " + clean(e.Class)
			if e.Example != "" {
				line += ", first: " + cut(clean(e.Example), maxText)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// findingLines are what was found out about the measurements themselves.
func findingLines(r *result.Result) []string {
	var lines []string
	for _, n := range r.Nodes {
		for _, f := range n.Validity.Findings {
			lines = append(lines, clean(f.Severity)+": "+clean(n.ID)+": "+cut(clean(f.Text), maxText))
		}
		if n.Reason != "" && n.Outcome != result.Done && n.Outcome != result.Invalid {
			lines = append(lines, string(n.Outcome)+": "+clean(n.ID)+": "+cut(clean(n.Reason), maxText))
		}
	}
	return lines
}

// clientLines say whether the machine that measured could have been the bottleneck: over all nodes, then of those whose
// measurement is not valid.
func clientLines(r *result.Result) []string {
	var lines []string
	for _, c := range r.Clients {
		if c.Summary != "" {
			lines = append(lines, clean(c.Summary))
		}
	}
	for _, n := range r.Nodes {
		if !n.Validity.OK && n.Validity.Summary != "" {
			lines = append(lines, clean(n.ID)+": "+clean(n.Validity.Summary))
		}
	}
	return lines
}

// maxText is the longest text of others in a table, in characters.
const maxText = 300
