package artifact

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// grid is a table before it is drawn. A header may have two lines: a metric above its statistic.
type grid struct {
	header []string
	rows   [][]string
}

// noNumber is the cell of a node without a value.
const noNumber = "-"

// row is one measurement in a table: a node, or a part of one.
type row struct {
	name, load, outcome string
	metrics             map[string]*result.Metric
	done                bool
}

// nestedMark precedes rows that belong to the node above them.
const nestedMark = "· "

// nodeRows returns the nodes, each followed by its bounds, phases, mix entries and repeats.
func nodeRows(r *result.Result) (rows []row) {
	for _, n := range r.Nodes {
		outcome := n.Outcome
		if outcome == result.Done && !n.Validity.OK {
			outcome = result.Invalid
		}
		bounds := boundRows(n)
		word, done := string(outcome), outcome == result.Done && len(bounds) == 0
		if outcome == result.Done && !done {
			word = result.Bounding
		}
		rows = append(append(rows, row{clean.Line(n.ID), loadText(n), word, n.Metrics, done}), bounds...)
		for _, s := range n.Scopes {
			// combinations, which only an expression reads, are in the files
			if s.Phase == "" || s.Mix == "" {
				rows = append(rows, row{
					nestedMark + clean.Line(s.Phase+s.Mix), clean.Line(s.Model), "",
					s.Metrics, true,
				})
			}
		}
		for _, x := range n.Repeats {
			rows = append(rows, row{
				nestedMark + "repeat " + whole(int64(x.Repeat+1)), "",
				string(x.Outcome), x.Metrics, true,
			})
		}
	}
	return rows
}

// boundRows returns what the metrics of a node are at least and at most, if its client was late: those
// that differ from what was measured.
func boundRows(n *result.Node) []row {
	low, high := map[string]*result.Metric{}, map[string]*result.Metric{}
	for name, m := range n.Metrics {
		if m.Low != nil && m.High != nil {
			low[name], high[name] = m.Low, m.High
		}
	}
	if len(low) == 0 {
		return nil
	}
	return []row{
		{name: nestedMark + "at least", metrics: low, done: true},
		{name: nestedMark + "at most", metrics: high, done: true},
	}
}

// nodeGrid returns one row per node and part of a node: its load and the main metrics. A column
// equal to the one before it (throughput without batches) is left out, and so is the outcome if all
// are done.
func nodeGrid(r *result.Result, percentiles []float64) (grid, error) {
	list := nodeRows(r)
	g, err := newGrid(r, list, percentiles)
	if err == nil {
		g.capacity(list)
	}
	if err == nil && slices.ContainsFunc(list, func(x row) bool { return !x.done }) {
		g.column(len(g.header), "outcome", func(i int) string { return list[i].outcome })
	}
	return g, err
}

// trialGrid returns one row per trial of a search: its level, measurements, and the result of
// `while`.
func trialGrid(r *result.Result, percentiles []float64) (grid, error) {
	var list []row
	for _, n := range r.Nodes {
		for i, t := range n.Trials {
			name := clean.Line(n.ID) + " " + nestedMark + "trial " + whole(int64(i+1))
			verdict := string(t.Verdict)
			if t.Outcome == result.Invalid { // measured again, or the end
				verdict = string(t.Outcome)
			}
			if t.Used {
				verdict += ", reported"
			}
			list = append(list, row{name, levelText(n, t.Level), verdict, t.Metrics, true})
		}
	}
	if list == nil {
		return grid{}, nil
	}
	g, err := newGrid(r, list, percentiles)
	if err == nil {
		g.column(len(g.header), "while", func(i int) string { return list[i].outcome })
	}
	return g, err
}

// attemptGrid returns one row per attempt of what was measured again, and which of them counts.
func attemptGrid(r *result.Result, percentiles []float64) (grid, error) {
	var list []row
	for _, n := range r.Nodes {
		for i, a := range n.Attempts {
			name := clean.Line(n.ID) + " " + nestedMark
			if len(n.Repeats) > 0 {
				name += "repeat " + whole(int64(a.Repeat+1)) + ", "
			}
			name += "attempt " + whole(int64(attemptNumber(n, i)))
			outcome := string(a.Outcome)
			if a.Used {
				outcome += ", reported"
			}
			list = append(list, row{name, loadText(n), outcome, a.Metrics, true})
		}
	}
	if list == nil {
		return grid{}, nil
	}
	g, err := newGrid(r, list, percentiles)
	if err == nil {
		g.column(len(g.header), "outcome", func(i int) string { return list[i].outcome })
	}
	return g, err
}

// attemptNumber returns the number, from 1, of the i-th attempt in the list of a node among those of its
// repeat.
func attemptNumber(n *result.Node, i int) (number int) {
	for _, a := range n.Attempts[:i+1] {
		if a.Repeat == n.Attempts[i].Repeat {
			number++
		}
	}
	return number
}

// capacity adds a column with the results of searches, if there are any.
func (g *grid) capacity(list []row) {
	if !slices.ContainsFunc(list, func(x row) bool { return x.metrics[metric.Capacity] != nil }) {
		return
	}
	g.column(2, metric.Capacity, func(i int) string {
		if m := list[i].metrics[metric.Capacity]; m != nil {
			return capacityText(m, noNumber)
		}
		return ""
	})
}

// capacityText formats the capacity that a search found, or returns none.
func capacityText(m *result.Metric, none string) string {
	if v, ok := m.Stat(metric.Stat{}); ok {
		return result.Format(m.Unit, v)
	}
	return none
}

// column inserts a column at an index.
func (g *grid) column(at int, header string, cell func(row int) string) {
	g.header = slices.Insert(g.header, at, header)
	for i := range g.rows {
		g.rows[i] = slices.Insert(g.rows[i], at, cell(i))
	}
}

func newGrid(r *result.Result, list []row, percentiles []float64) (grid, error) {
	c, err := result.Catalogue(r.Nodes...)
	if err != nil {
		return grid{}, err
	}
	g := grid{header: []string{"node", "load"}, rows: make([][]string, len(list))}
	for i, x := range list {
		g.rows[i] = []string{x.name, x.load}
	}
	for _, name := range metric.Headline() {
		if row, ok := c.Row(name); ok {
			for _, l := range leaves(row, percentiles, false) {
				g.add(l, list)
			}
		}
	}
	return g, nil
}

func (g *grid) add(l metric.Leaf, list []row) {
	column := make([]string, len(list))
	same := len(g.header) > 2
	for i, x := range list {
		column[i] = noNumber
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
	g.column(len(g.header), name, func(i int) string { return column[i] })
}

// section is a table of the summary with its title.
type section struct {
	title string
	grid
}

// sections returns the tables of the numbers that have rows.
func sections(r *result.Result, percentiles []float64) (list []section, err error) {
	nodes, err := nodeGrid(r, percentiles)
	if err != nil {
		return nil, err
	}
	trials, err := trialGrid(r, percentiles)
	if err != nil {
		return nil, err
	}
	attempts, err := attemptGrid(r, percentiles)
	if err != nil {
		return nil, err
	}
	list = []section{
		{"Measurements", nodes},
		{"Tokens", tokenGrid(r)},
		{"Best", bestGrid(r)},
		{"Attempts", attempts},
		{"Search", trials},
		{"Server", serverGrid(r)},
	}
	return slices.DeleteFunc(list, func(s section) bool { return len(s.rows) == 0 }), nil
}

// isText reports whether a column with this header holds words, which are aligned on the left.
func isText(header string) bool {
	return slices.Contains([]string{
		"", "node", "load", "statistic", "assertion", "why", "outcome", "while", "conditions",
		"by chance",
	}, header)
}

// errorLines returns the failures of all nodes by class, most frequent first.
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

// exampleOf identifies an example among those of its class. Of mismatching replies each text is
// kept once.
func exampleOf(e result.ErrorClass) string {
	if e.Class == backends.Mismatch.String() && e.Count > 1 && len(e.More) == 0 {
		return "all alike"
	}
	return "first"
}

// findingLines returns the findings of all nodes.
func findingLines(r *result.Result) []string {
	var lines []string
	for _, n := range r.Nodes {
		for _, f := range n.Validity.Findings {
			lines = append(lines, clean.Line(f.Severity)+": "+clean.Line(n.ID)+": "+
				cut(clean.Line(f.Text), maxText))
		}
		if n.Reason != "" && n.Outcome != result.Done && n.Outcome != result.Invalid {
			lines = append(lines, string(n.Outcome)+": "+clean.Line(n.ID)+": "+
				cut(clean.Line(n.Reason), maxText))
		}
	}
	return lines
}

// clientLines names the nodes in which the measuring machine was the bottleneck, if any; the
// findings give reasons.
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

// maxText limits texts of servers and plans in a table, in characters.
const maxText = 300
