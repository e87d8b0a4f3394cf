package executor

import (
	"fmt"

	"github.com/sluice-bench/sluice/executor/result"
)

// round is what one play of a node gave.
type round struct {
	out     *result.Node
	read    *readings // nil: nothing was measured
	starved bool      // it did not run for want of data
}

// rounds collects the plays of a node. Their numbers are pooled when the last has ended.
type rounds struct {
	node    *Node
	planned int
	played  []*round
	silent  bool         // left out without a trace
	result  *result.Node // of all, once complete
}

func (rs *rounds) add(r *round) { rs.played = append(rs.played, r) }

// skip leaves out this round and those after it. What was played before is reported as far as it goes.
func (rs *rounds) skip(r *runner, why string) {
	if len(rs.played) == 0 && !rs.silent {
		out := r.blank(rs.node)
		out.Outcome, out.Reason = result.SkippedNode, why
		rs.add(&round{out: out})
		rs.planned = 1
		return
	}
	if n := len(rs.played); n > 0 {
		last := rs.played[n-1].out
		last.Outcome, last.Reason = result.InterruptedNode, fmt.Sprintf("interrupted after %d of %d rounds: %s", n, rs.planned, why)
	}
	rs.planned = len(rs.played)
}

// complete reports that no round is to come.
func (rs *rounds) complete() bool { return len(rs.played) >= rs.planned }

// pool makes the node's result of its rounds.
func (rs *rounds) pool() *result.Node {
	rs.result = rs.sofar()
	return rs.result
}

// sofar is what is known of the node, nil when it was left out.
func (rs *rounds) sofar() *result.Node {
	switch {
	case rs == nil || len(rs.played) == 0:
		return nil
	case rs.result != nil:
		return rs.result
	case len(rs.played) == 1:
		return rs.played[0].out
	}
	return rs.joined()
}

// joined is one result of several rounds: their numbers pooled, the worst of their outcomes.
func (rs *rounds) joined() *result.Node {
	out := *rs.played[0].out
	return &out
}
