package program

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// wait says that one stage runs after another, and why.
type wait struct {
	from, to *stagePoints
	pos      source.Pos
	derived  bool // a load comes from a result; else `needs`
}

// orderStages puts the stages into running order, the members of a group beside each other, and
// reports cycles. It reads `needs` and where loads come from.
func orderStages(d *draft) {
	g := new(graph.Graph)
	var units []string
	inUnit := make(map[string][]*stagePoints)
	for _, s := range d.stages {
		u := unitOf(s.Stage)
		if inUnit[u] == nil {
			units = append(units, u)
			g.Add(graph.Node{ID: u})
		}
		inUnit[u] = append(inUnit[u], s)
	}
	waits := stageWaits(d)
	for _, w := range waits {
		from, to := unitOf(w.from.Stage), unitOf(w.to.Stage)
		if from == to && w.from != w.to { // that one needs another is refused earlier
			d.fail(w.pos, "needs-cycle",
				"stage %q takes its load from stage %q, which starts together with it", w.to.ID, w.from.ID).
				Detail = "take one of them out of `parallel`"
			continue
		}
		g.Connect(graph.Edge{From: from, To: to})
	}
	order, cycle := g.Order()
	if cycle != nil {
		reportCycle(d, cycle, waits)
		order = units
	}
	d.stages, d.Nodes = nil, nil
	for _, u := range order {
		for _, s := range inUnit[u] {
			s.at = len(d.stages)
			d.stages = append(d.stages, s)
			d.Nodes = append(d.Nodes, s.nodes...)
		}
	}
	for i, n := range d.Nodes {
		n.Number = i
	}
}

// stageWaits lists all that the order of stages has to respect, in the order of the plan.
func stageWaits(d *draft) []wait {
	var all []wait
	for _, s := range d.stages {
		for _, n := range s.Needs {
			if from := d.byID[n.ID]; from != nil { // a stage that never runs is as if absent
				all = append(all, wait{from: from, to: s, pos: n.Pos})
			}
		}
		for _, n := range s.nodes {
			for _, take := range n.takes {
				if from := d.byID[take.from.Stage.ID]; from != s {
					all = append(all, wait{from: from, to: s, pos: take.pos, derived: true})
				}
			}
		}
	}
	return all
}

// reportCycle reports that units wait for each other in a circle: its path, and where each of its
// steps is written.
func reportCycle(d *draft, units []string, waits []wait) {
	var path, steps []string
	var pos source.Pos
	for i := range len(units) - 1 {
		k := slices.IndexFunc(waits, func(w wait) bool {
			return unitOf(w.from.Stage) == units[i] && unitOf(w.to.Stage) == units[i+1]
		})
		w := waits[k]
		if path = append(path, w.from.ID); pos == (source.Pos{}) || w.pos.Line < pos.Line {
			pos = w.pos
		}
		verb := "needs"
		if w.derived {
			verb = "takes its load from"
		}
		steps = append(steps,
			fmt.Sprintf("%s %s %s at %d:%d", w.to.ID, verb, w.from.ID, w.pos.Line, w.pos.Column))
	}
	path = append(path, path[0])
	d.fail(pos, "needs-cycle", "the stages need each other in a circle: %s", strings.Join(path, " → ")).
		Detail = "each comes after the one before it: " + strings.Join(steps, ", ") + "; remove one of these"
}

// unitOf names what runs at one time: a stage, or the group that it is in. No stage has a blank in
// its id.
func unitOf(s *scenario.Stage) string {
	if s.Group == nil {
		return s.ID
	}
	return "group " + strconv.Itoa(s.Group.Index)
}

// makeUnits puts the nodes into running order: stages one after the other, the members of a group
// side by side. It reads the stages in running order and adds Program.Units.
func makeUnits(d *draft) {
	var last *scenario.Group
	for _, s := range d.stages {
		m := &Member{Stage: s.ID, Plays: plays(s)}
		if g := s.Group; g != nil && g == last {
			u := d.Units[len(d.Units)-1]
			u.Members = append(u.Members, m)
		} else {
			d.Units = append(d.Units, &Unit{Members: []*Member{m}})
		}
		last = s.Group
	}
}

// plays lists the repeats of a stage over its nodes, every second one in reverse, so that what drifts
// meets all alike. The levels of a ladder that its conditions may end stay in their order: each
// decides about the next.
func plays(s *stagePoints) []Play {
	forth, back := s.nodes, slices.Clone(s.nodes)
	slices.Reverse(back)
	if conditions(s.Stage) != nil {
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
	for repeat := range max(s.Repeat, 1) {
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
