package executor

import (
	"github.com/sluice-bench/sluice/executor/result"
)

// round is what one play of a node gave. read is nil where nothing was measured.
type round struct {
	out  *result.Node
	read *readings
}

// rounds collects the plays of a node. Their numbers are pooled when the last has ended.
type rounds struct {
	node    *Node
	planned int
	played  []*round
	silent  bool         // left out without a trace
	result  *result.Node // of all, when complete
}

func (rs *rounds) add(r *round) { rs.played = append(rs.played, r) }

// skip ends the node: the rounds that are left are not played.
func (rs *rounds) skip(r *runner, why string) {
	rs.planned = len(rs.played)
	if rs.planned == 0 && !rs.silent {
		out := r.blank(rs.node)
		out.Outcome, out.Reason = result.SkippedNode, why
		rs.add(&round{out: out})
		rs.planned = 1
	}
}

func (rs *rounds) complete() bool { return len(rs.played) >= rs.planned }

// pool is the node's result.
func (rs *rounds) pool(*runner) *result.Node {
	rs.result = rs.played[0].out
	return rs.result
}

// sofar is what is known of the node, nil when it was left out.
func (rs *rounds) sofar() *result.Node {
	if rs == nil || len(rs.played) == 0 {
		return nil
	}
	if rs.result != nil {
		return rs.result
	}
	return rs.played[len(rs.played)-1].out
}
