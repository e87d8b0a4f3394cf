package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// catalogueOf returns what can be measured at a node whose targets are all known: the table, what its
// server keeps, and the rows that its stage brings with it. Nodes that have the same share one.
func catalogueOf(d *draft, n *Node) *metric.Catalogue {
	var rows []metric.Row
	key := ""
	if k := keeperOf(n); k != nil && k.abilities.Has(backends.ServerStats) {
		rows, key = observe.Rows(k.kind.Series), k.kind.Name
	}
	if _, ok := quantity(n.Stage).(scenario.Search); ok {
		dim := metric.Count
		if n.Open {
			dim = metric.Rate
		}
		rows, key = append(rows, metric.CapacityRow(dim)), fmt.Sprint(key, " capacity ", dim)
	}
	if len(n.Stage.Goodput) > 0 {
		rows, key = append(rows, metric.GoodputRows()...), key+" goodput"
	}
	if c := d.catalogues[key]; c != nil {
		return c
	}
	c, err := metric.New(rows...)
	if err != nil {
		d.fail(n.Stage.Pos, "metric-clash", "stage %q: %s", n.Stage.ID, err)
		return nil
	}
	d.catalogues[key] = c
	return c
}

// keeperOf returns the target whose server counts for the node as a whole: all entries must ask
// one model of one target. nil: there is no such server.
func keeperOf(n *Node) *boundTarget {
	all := n.Stage.Entries()
	for _, e := range all[1:] {
		if e.Request.Target != all[0].Request.Target || e.Request.Model != all[0].Request.Model {
			return nil
		}
	}
	return n.entries[0]
}

// InProcess reports whether one of the node's servers runs in this process.
func (n *Node) InProcess() bool {
	return slices.ContainsFunc(n.entries,
		func(k *boundTarget) bool { return k != nil && k.abilities.Has(backends.SharesProcess) })
}

// Lacks says why a node cannot produce a row whatever its targets can, or "".
func (n *Node) Lacks(r *metric.Row) string { return lacksRow(n, r, nil) }

// lacksRow says why a node cannot produce a row, or "". k is what its target can do; nil: whatever
// it needs.
func lacksRow(n *Node, r *metric.Row, k *boundTarget) string {
	switch {
	case r.Loads == metric.OpenLoop && !n.Open:
		return "it needs an open loop (`rate`)"
	case r.Loads == metric.ClosedLoop && n.Open:
		return "it needs a closed loop (`concurrency`)"
	case r.From == metric.Series && firstTarget(n).Statistics == "none":
		return "the target says `statistics: none`"
	case backends.AbilityOf(r.Needs) == backends.Sequences && n.Sequences == nil &&
		k.lacks(r.Needs) == "":
		return "its requests form no sequences: it needs `sequences`, or data whose rows are in lists"
	case n.InProcess() && (r.Name == metric.ClientCPU || r.Name == metric.ClientPerSent):
		return "its server runs in this process, and the CPU time of the two cannot be told apart"
	case r.Later && k.lacks(r.Needs) != "":
		return "this version does not measure it yet"
	}
	return k.lacks(r.Needs)
}

// firstTarget returns the target of the first kind of request.
func firstTarget(n *Node) *scenario.Target { return n.Stage.Entries()[0].Request.Target }

// sortOf spells what decides how an expression is understood on a node, besides other nodes: nodes
// of one sort share their compiled expressions.
func sortOf(n *Node) string {
	var text strings.Builder
	fmt.Fprint(&text, n.Open, firstTarget(n).Name)
	for _, name := range phaseNames(n) {
		text.WriteString(" phase " + name)
	}
	for _, e := range n.Stage.Mix {
		text.WriteString(" mix " + e.Name + " of " + e.Request.Target.Name)
	}
	for _, v := range n.Stage.Axes {
		text.WriteString(" axis " + v.Name + "=" + v.Text)
	}
	return text.String()
}
