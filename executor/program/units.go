package program

import (
	"slices"

	"github.com/sluice-bench/sluice/scenario"
)

// makeUnits puts the nodes into running order: stages one after the other, the members of a group
// side by side. It reads the stages in running order and adds Program.Units.
func makeUnits(d *draft) {
	var last *scenario.Group
	for _, s := range d.stages {
		m := &Member{Stage: s.id, Plays: plays(s)}
		if g := s.first().Group; g != nil && g == last {
			u := d.program.Units[len(d.program.Units)-1]
			u.Members = append(u.Members, m)
		} else {
			d.program.Units = append(d.program.Units, &Unit{Members: []*Member{m}})
		}
		last = s.first().Group
	}
}

// plays are the repeats of a stage over its nodes, every second one in reverse, so that what drifts
// meets all alike. The levels of a ladder that its conditions may end stay in their order: each
// decides about the next.
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
