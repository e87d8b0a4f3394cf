package artifact

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/artifact/clean"
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

// row is one measurement of a table: a node, or a part of one.
type row struct {
	name, load, outcome string
	metrics             map[string]*result.Metric
	done                bool
}

// inside marks the rows that belong to the node above them.
const inside = "· "

// nodeRows are the nodes, each with its phases, the entries of its mix and its repeats below it.
func nodeRows(r *result.Result) (rows []row) {
	for _, n := range r.Nodes {
		outcome := n.Outcome
		if outcome == result.Done && !n.Validity.OK {
			outcome = result.Invalid
		}
		rows = append(rows, row{clean.Line(n.ID), load(n), string(outcome), n.Metrics, outcome == result.Done})
		for _, s := range n.Scopes {
			if s.Phase == "" || s.Mix == "" { // what an expression asked for besides is in the files
				rows = append(rows, row{inside + clean.Line(s.Phase+s.Mix), clean.Line(s.Model), "", s.Metrics, true})
			}
		}
		for _, x := range n.Repeats {
			rows = append(rows, row{inside + "repeat " + whole(int64(x.Repeat+1)), "", string(x.Outcome), x.Metrics, true})
		}
	}
	return rows
}

// nodeGrid is one row for each node and each part of one: what was asked of it and the headline metrics. A column that says
// the same as the one before it (throughput where no request is a batch) is left out, and so is the outcome where all are
// done.
func nodeGrid(r *result.Result, percentiles []float64) (grid, error) {
	list := nodeRows(r)
	g, err := newGrid(r, list, percentiles)
	if err == nil {
		g.capacity(list)
	}
	if err != nil || !slices.ContainsFunc(list, func(x row) bool { return !x.done }) {
		return g, err
	}
	g.header = append(g.header, "outcome")
	for i, x := range list {
		g.rows[i] = append(g.rows[i], x.outcome)
	}
	return g, nil
}

// trialGrid is one row for each trial of the searches: its level, what was measured there, and what `while` says of it.
func trialGrid(r *result.Result, percentiles []float64) (grid, error) {
	var list []row
	for _, n := range r.Nodes {
		for i, t := range n.Trials {
			name := clean.Line(n.ID) + " " + inside + "trial " + whole(int64(i+1))
			verdict := string(t.Verdict)
			if t.Outcome == result.Invalid { // and measured again, or the end
				verdict = string(t.Outcome)
			}
			if t.Used {
				verdict += ", reported"
			}
			list = append(list, row{name, level(n, t.Level), verdict, t.Metrics, true})
		}
	}
	if list == nil {
		return grid{}, nil
	}
	g, err := newGrid(r, list, percentiles)
	g.header = append(g.header, "while")
	for i, x := range list {
		g.rows[i] = append(g.rows[i], x.outcome)
	}
	return g, err
}

// capacity adds what the searches found, where there are some.
func (g *grid) capacity(list []row) {
	if !slices.ContainsFunc(list, func(x row) bool { return x.metrics[metric.Capacity] != nil }) {
		return
	}
	g.header = slices.Insert(g.header, 2, metric.Capacity)
	for i, x := range list {
		text := ""
		if m := x.metrics[metric.Capacity]; m != nil {
			text = nothing
			if v, ok := m.Stat(metric.Stat{}); ok {
				text = result.Format(m.Unit, v)
			}
		}
		g.rows[i] = slices.Insert(g.rows[i], 2, text)
	}
}

func newGrid(r *result.Result, list []row, percentiles []float64) (grid, error) {
	rows, err := catalogue(r)
	if err != nil {
		return grid{}, err
	}
	g := grid{header: []string{"node", "load"}, rows: make([][]string, len(list))}
	for i, x := range list {
		g.rows[i] = []string{x.name, x.load}
	}
	for _, name := range metric.Headline() {
		at := slices.IndexFunc(rows, func(row *metric.Row) bool { return row.Name == name })
		if at < 0 {
			continue
		}
		for _, l := range leaves(rows[at], percentiles, false) {
			g.add(l, list)
		}
	}
	return g, nil
}

func (g *grid) add(l metric.Leaf, list []row) {
	column := make([]string, len(list))
	same := len(g.header) > 2
	for i, x := range list {
		column[i] = nothing
		if v, ok := x.metrics[l.Row.Name].Stat(l.Stat); ok {
			column[i] = result.Format(l.Dim().Unit(), v)
		}
		same = same && column[i] == g.rows[i][len(g.rows[i])-1]
	}
	if same && l.Stat.Kind == metric.TheValue && len(list) > 0 {
		return
	}
	name := l.Row.Name
	if i := strings.LastIndexByte(name, '.'); l.Stat.Kind == metric.TheValue && i > 0 {
		name = name[:i] + "\n" + name[i+1:]
	} else if l.Stat.Kind != metric.TheValue {
		name += "\n" + l.Stat.String()
	}
	g.header = append(g.header, name)
	for i := range list {
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
			line := clean.Line(n.ID) + ": " + whole(e.Count) + " × " + clean.Line(e.Class)
			if e.Example != "" {
				line += ", " + exampleOf(e) + ": " + cut(clean.Line(e.Example), maxText)
			}
			lines = append(lines, line)
			for _, more := range e.More {
				lines = append(lines, "  "+cut(clean.Line(more), maxText))
			}
		}
	}
	return lines
}

// exampleOf is what the example of a class is among its texts. Of replies that differ each text is kept once.
func exampleOf(e result.ErrorClass) string {
	if e.Class == backends.Mismatch.String() && e.Count > 1 && len(e.More) == 0 {
		return "all alike"
	}
	return "first"
}

// findingLines are what was found out about the measurements themselves.
func findingLines(r *result.Result) []string {
	var lines []string
	for _, n := range r.Nodes {
		for _, f := range n.Validity.Findings {
			lines = append(lines, clean.Line(f.Severity)+": "+clean.Line(n.ID)+": "+cut(clean.Line(f.Text), maxText))
		}
		if n.Reason != "" && n.Outcome != result.Done && n.Outcome != result.Invalid {
			lines = append(lines, string(n.Outcome)+": "+clean.Line(n.ID)+": "+cut(clean.Line(n.Reason), maxText))
		}
	}
	return lines
}

// clientLines say in which nodes the machine that measured was the bottleneck, if it was in any; the findings say why.
func clientLines(r *result.Result) []string {
	var lines []string
	if !slices.ContainsFunc(r.Nodes, func(n *result.Node) bool { return !n.Validity.OK }) {
		return nil
	}
	for _, c := range r.Clients {
		if c.Summary != "" {
			lines = append(lines, clean.Line(c.Summary))
		}
	}
	return lines
}

// maxText is the longest text of others in a table, in characters.
const maxText = 300
