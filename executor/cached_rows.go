package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// rowsSent is the first measurement of rows that are the user's own.
type rowsSent struct {
	node  string
	share float64 // of the prompts' tokens that the server had in its cache
}

// warmRows says that a server had clearly more of the rows of a file in its cache than when they were sent first,
// by an earlier node or repeat. Prompts that are written for the plan differ between them, or are to be reused.
func (r *runner) warmRows(n *result.Node) {
	at := slices.IndexFunc(r.program.Nodes, func(x *program.Node) bool { return x.ID == n.ID })
	if at < 0 {
		return
	}
	rows := rowsOf(r.program.Nodes[at].Stage)
	if rows == "" {
		return
	}
	shares := cachedShares(n)
	if len(shares) == 0 {
		return
	}
	first, known := r.cached[rows]
	if !known {
		first = rowsSent{n.ID, shares[0]}
		r.cached[rows] = first
	}
	most := slices.Max(shares)
	if most <= first.share+trial.CacheSlack {
		return
	}
	when := "node " + first.node + ", which sent the same rows before"
	if first.node == n.ID {
		when = "the first repeat"
	}
	note(n, result.WarmCache, fmt.Sprintf("the server had %.0f %% of the prompts' tokens in its cache, and %.0f %% in %s: "+
		"times to the first token are not of new prompts: empty the cache or restart the server in between, or send other rows",
		100*most, 100*first.share, when))
}

// rowsOf names what a stage sends to which models; "" if any of it is written for the plan, or drawn.
func rowsOf(s *scenario.Stage) string {
	var list []string
	for _, e := range s.Entries() {
		d := e.Request.Data
		if d == nil || d.Prompts != nil || d.Generate != nil {
			return ""
		}
		list = append(list, fmt.Sprintf("%q %q %q", e.Request.Target.Name, e.Request.Model, d.Name))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// cachedShares returns the share of cached tokens of a node, or of each of its repeats.
func cachedShares(n *result.Node) (list []float64) {
	if len(n.Repeats) == 0 {
		if v, ok := n.Metrics[metric.TokensCachedShare].Stat(metric.Stat{}); ok {
			list = append(list, v)
		}
		return list
	}
	for _, r := range n.Repeats {
		if v, ok := r.Metrics[metric.TokensCachedShare].Stat(metric.Stat{}); ok {
			list = append(list, v)
		}
	}
	return list
}
