package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/scenario"
)

// edges connects the nodes: levels and points in their order, stages by their needs, and those whose load comes from a
// result with where it comes from.
func (b *build) edges() {
	g := b.program.Graph
	for _, n := range b.program.Nodes {
		if b.byNode[n.ID] == n {
			_ = g.Add(graph.Node{ID: n.ID, Group: b.groupName(n.Stage)})
		}
	}
	for _, s := range b.stages {
		for i, n := range s.nodes {
			switch {
			case !n.First():
				_ = g.Connect(graph.Edge{From: n.Prev.ID, To: n.ID, When: "always", Reason: levelReason(n)})
			case i > 0:
				_ = g.Connect(graph.Edge{From: s.nodes[i-1].ID, To: n.ID, When: "always", Reason: "the point before"})
			default:
				b.needs(n)
			}
			for _, d := range n.takes {
				_ = g.Connect(graph.Edge{From: d.from.ID, To: n.ID, Reason: d.what, Reads: true})
			}
		}
	}
}

// needs connects a stage's first node with the last ones of the stages that it needs.
func (b *build) needs(n *Node) {
	for _, need := range n.Stage.Needs {
		before := b.byID[need.ID]
		if before == nil {
			continue
		}
		reason := "needs"
		switch other := before.first(); {
		case need.Implied && other.Group != nil:
			reason = "the group before"
		case need.Implied:
			reason = "the entry before"
		}
		if before.first().OnFail == "continue" && n.Stage.When == "success" {
			reason += ", whose failure does not count (on_fail: continue)"
		}
		_ = b.program.Graph.Connect(graph.Edge{
			From: before.nodes[len(before.nodes)-1].ID, To: n.ID, When: n.Stage.When, Reason: reason,
		})
	}
}

func levelReason(n *Node) string {
	if l, ok := quantity(n.Stage).(scenario.Levels); ok && l.While != nil {
		return "the level before, while its conditions hold"
	}
	return "the level before"
}

// groupName is what a group is called in drawings: after its members.
func (b *build) groupName(s *scenario.Stage) string {
	if s.Group == nil {
		return ""
	}
	var ids []string
	for _, other := range b.stages {
		if other.first().Group == s.Group {
			ids = append(ids, other.id)
		}
	}
	return "parallel: " + strings.Join(ids, ", ")
}

// units puts the nodes into running order: stages one after the other, the members of a group side by side.
func (b *build) units() {
	var last *scenario.Group
	for _, s := range b.stages {
		m := &Member{Stage: s.id, Plays: plays(s)}
		if g := s.first().Group; g != nil && g == last {
			u := b.program.Units[len(b.program.Units)-1]
			u.Members = append(u.Members, m)
		} else {
			b.program.Units = append(b.program.Units, &Unit{Members: []*Member{m}})
		}
		last = s.first().Group
	}
}

// plays are the repeats of a stage over its nodes, every second one in reverse, so that what drifts meets all alike. The
// levels of a ladder that its conditions may end stay in their order: each decides about the next.
func plays(s *stagePoints) []Play {
	var forth, back []*Node
	forth = s.nodes
	back = slices.Clone(s.nodes)
	slices.Reverse(back)
	if l, ok := quantity(s.first()).(scenario.Levels); ok && l.While != nil {
		back = nil
		for i := len(forth); i > 0; {
			from := i - 1
			for !forth[from].First() {
				from--
			}
			back = append(back, forth[from:i]...)
			i = from
		}
	}
	var all []Play
	for repeat := range max(s.first().Repeat, 1) {
		nodes := forth
		if repeat%2 == 1 {
			nodes = back
		}
		for _, n := range nodes {
			all = append(all, Play{Node: n, Repeat: repeat})
		}
	}
	return all
}

// reach reports stages that cannot run, whatever happens.
func (b *build) reach() {
	var forFailure []int // stages that only run when something has failed
	for i, s := range b.stages {
		if s.first().When == "failure" {
			forFailure = append(forFailure, i)
		}
	}
	if forFailure == nil {
		return
	}
	must := b.mustSucceed()
	for i, s := range b.stages {
		first := s.first()
		switch {
		case first.When == "failure" && !slices.ContainsFunc(first.Needs, func(n scenario.Need) bool { return b.byID[n.ID] != nil }):
			b.warn(first.IDPos, codeUnreachable, "stage %q never runs: it waits for a failure, and nothing that runs is among its `needs`", s.id).
				Detail = "name the stages whose failure it is for"
		case first.When == "success":
			b.contradiction(s, must, i, forFailure)
		}
	}
}

// contradiction reports a stage that needs the success of one that only runs when something has failed, and the success
// of all that could have failed for it.
func (b *build) contradiction(s *stagePoints, must *closure, at int, forFailure []int) {
	for _, i := range forFailure {
		other := b.stages[i]
		if !must.has(at, i) || len(other.first().Needs) == 0 {
			continue
		}
		if fine := slices.ContainsFunc(other.first().Needs, func(n scenario.Need) bool { return b.byID[n.ID] != nil && !must.has(at, must.index[n.ID]) }); fine {
			continue
		}
		b.fail(s.first().IDPos, codeUnreachable, "stage %q never runs: it needs stage %q, which only runs when %s", s.id, other.id, b.failing(other)).
			Detail = "the same failure stops this one: use `when: always`, or leave it out of `needs`"
	}
}

// closure says of each stage which others must have succeeded for it to run, a bit for each: sets of as many stages as a
// plan may have grow by words.
type closure struct {
	index map[string]int // of a stage, by its id
	sets  [][]uint64
}

func (c *closure) has(at, other int) bool {
	return c.sets[at] != nil && c.sets[at][other/64]&(1<<(other%64)) != 0
}

// mustSucceed collects the stages without whose success each does not run. Stages stand in running order, so that those
// that one needs have their sets before it.
func (b *build) mustSucceed() *closure {
	c := &closure{index: make(map[string]int, len(b.stages)), sets: make([][]uint64, len(b.stages))}
	for i, s := range b.stages {
		c.index[s.id] = i
	}
	for i, s := range b.stages {
		if s.first().When != "success" {
			continue
		}
		set := make([]uint64, (len(b.stages)+63)/64)
		for _, n := range s.first().Needs {
			other := b.byID[n.ID]
			if other == nil || other.first().OnFail == "continue" {
				continue
			}
			at := c.index[n.ID]
			set[at/64] |= 1 << (at % 64)
			for w, word := range c.sets[at] {
				set[w] |= word
			}
		}
		c.sets[i] = set
	}
	return c
}

// failing names what has to fail for a stage.
func (b *build) failing(s *stagePoints) string {
	var ids []string
	for _, n := range s.first().Needs {
		if b.byID[n.ID] != nil {
			ids = append(ids, fmt.Sprintf("%q", n.ID))
		}
	}
	return strings.Join(ids, " or ") + " failed"
}
