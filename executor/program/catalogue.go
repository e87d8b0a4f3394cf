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
	if n.Searches() {
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

// Lacks says why a node cannot produce a row whatever its targets can, or "".
func (n *Node) Lacks(r *metric.Row) string { return lacksRow(n, r, nil) }

// lacksRow says why a node cannot produce a row, or "". k is what its target can do; nil: whatever
// it needs.
func lacksRow(n *Node, r *metric.Row, k *boundTarget) string {
	ability := backends.AbilityOf(r.Needs)
	switch lacks := k.lacks(ability); {
	case r.Loads == metric.OpenLoop && !n.Open:
		return "it needs an open loop (`rate`)"
	case r.Loads == metric.DueTimes && !n.hasDueTimes():
		return "it needs requests with due times of their own: an open loop (`rate`), users or think times"
	case r.Loads == metric.ClosedLoop && n.Open:
		return "it needs a closed loop (`concurrency`)"
	case r.From == metric.Series && firstTarget(n).Statistics == "none":
		return "the target says `statistics: none`"
	case ability == backends.Sequences && n.Sequences != nil && n.Sequences.Sessions:
		return ""
	case ability == backends.Sequences && n.Sequences == nil && lacks == "":
		return "its requests form no sequences: it needs `sequences`, or data whose rows are in lists"
	case n.InProcess() && (r.Name == metric.ClientCPU || r.Name == metric.ClientPerSent):
		return "its server runs in this process, and the CPU time of the two cannot be told apart"
	default:
		return lacks
	}
}

// InProcess reports whether one of the node's servers runs in this process.
func (n *Node) InProcess() bool {
	return slices.ContainsFunc(n.entries,
		func(k *boundTarget) bool { return k != nil && k.abilities.Has(backends.SharesProcess) })
}

// Generates reports whether replies to the node may be generated text.
func (n *Node) Generates() bool {
	return slices.ContainsFunc(n.entries, func(k *boundTarget) bool {
		return k != nil && k.abilities&(backends.TokenEvents|backends.TokenCounts) != 0
	})
}

// sortOf spells what decides how an expression is understood on a node, besides other nodes: nodes
// of one sort share their compiled expressions.
func sortOf(n *Node) string {
	var sort strings.Builder
	fmt.Fprint(&sort, n.Open, n.hasDueTimes(), firstTarget(n).Name, phaseNames(n))
	for _, e := range n.Stage.Mix {
		fmt.Fprintf(&sort, " mix %s of %s", e.Name, e.Request.Target.Name)
	}
	for _, v := range n.Stage.Axes {
		fmt.Fprintf(&sort, " axis %s=%s", v.Name, v.Text)
	}
	return sort.String()
}

// firstTarget returns the target of the first kind of request.
func firstTarget(n *Node) *scenario.Target { return n.Stage.Entries()[0].Request.Target }

// rowOf returns a row of the node's catalogue.
func rowOf(n *Node, name string) (*metric.Row, bool) {
	if n.Catalogue == nil {
		return nil, false
	}
	return n.Catalogue.Row(name)
}
