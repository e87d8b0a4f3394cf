package program

import (
	"strings"

	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/scenario"
)

// connectNodes connects the nodes: levels and points in their order, stages by their needs, and
// those whose load comes from a result with where it comes from.
func connectNodes(d *draft) {
	g := d.Graph
	for _, n := range d.Nodes {
		g.Add(graph.Node{ID: n.ID, Group: groupName(d.stages, n.Stage)})
	}
	for _, s := range d.stages {
		for i, n := range s.nodes {
			switch {
			case !n.First():
				reason := "the level before"
				if conditions(n.Stage) != nil {
					reason += ", while its conditions hold"
				}
				g.Connect(graph.Edge{From: n.Prev.ID, To: n.ID, When: "always", Reason: reason})
			case i > 0:
				g.Connect(graph.Edge{
					From: s.nodes[i-1].ID, To: n.ID, When: "always", Reason: "the point before",
				})
			default:
				connectNeeds(d, n)
			}
			reason := "its concurrency"
			if n.Open {
				reason = "its rate"
			}
			for _, take := range n.takes {
				g.Connect(graph.Edge{From: take.from.ID, To: n.ID, Reason: reason, Reads: true})
			}
		}
	}
}

// connectNeeds connects a stage's first node with the last ones of the stages that it needs.
func connectNeeds(d *draft, n *Node) {
	for _, need := range n.Stage.Needs {
		before := d.byID[need.ID]
		if before == nil {
			continue
		}
		reason := "needs"
		switch {
		case need.Implied && before.Group != nil:
			reason = "the group before"
		case need.Implied:
			reason = "the entry before"
		}
		if before.OnFail == "continue" && n.Stage.When == "success" {
			reason += ", whose failure does not count (on_fail: continue)"
		}
		d.Graph.Connect(graph.Edge{
			From: before.nodes[len(before.nodes)-1].ID, To: n.ID, When: n.Stage.When, Reason: reason,
		})
	}
}

// groupName names a group in drawings, after its members.
func groupName(stages []*stagePoints, s *scenario.Stage) string {
	if s.Group == nil {
		return ""
	}
	var ids []string
	for _, other := range stages {
		if other.Group == s.Group {
			ids = append(ids, other.ID)
		}
	}
	return "parallel: " + strings.Join(ids, ", ")
}
