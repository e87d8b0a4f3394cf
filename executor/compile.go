package executor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxLevels is how many levels a ladder without an end may climb.
const maxLevels = 256

// build is what the steps of Compile work on.
type build struct {
	program *Program
	kinds   []backends.Kind
	stages  []*scenario.Stage          // in running order
	nodes   map[string][]*Node         // by stage id
	targets map[*scenario.Target]*kind // what each target can do
	diags   source.Diagnostics
}

func (b *build) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	return b.say(source.Error, pos, code, format, args...)
}

func (b *build) warn(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	return b.say(source.Warning, pos, code, format, args...)
}

func (b *build) say(s source.Severity, pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	b.diags = append(b.diags, source.Diagnostic{Severity: s, Code: code, Pos: pos, Summary: fmt.Sprintf(format, args...)})
	return &b.diags[len(b.diags)-1]
}

// Compile makes a program of a plan for the backends there are. With any error among the diagnostics the program is not
// to be run; it is still as complete as it can be, for printing.
func Compile(p *scenario.Plan, kinds []backends.Kind) (*Program, source.Diagnostics) {
	b := &build{
		program: &Program{Plan: p, Graph: new(graph.Graph)}, kinds: kinds,
		nodes: make(map[string][]*Node), targets: make(map[*scenario.Target]*kind),
	}
	for _, step := range []func(){
		b.bindTargets, // kinds, schemes, keys
		b.orderStages, // needs and the list; cycles
		b.levels,      // nodes
		b.edges,       // who waits for whom
		b.units,       // who runs when
		b.actions,     // calls before and after stages
		b.readData,    // files that the plan names
		b.readBaseline,
		b.expressions, // assertions, while, stability metrics
		b.goodput,     // what makes a request good
		b.plan,        // requests, durations, samples
		b.later,       // what cannot be run yet
	} {
		step()
	}
	b.program.Warnings = slices.DeleteFunc(slices.Clone(b.diags), func(d source.Diagnostic) bool { return d.Severity == source.Error })
	return b.program, b.diags.Sorted()
}

// orderStages puts the stages into running order and reports cycles.
func (b *build) orderStages() {
	g := new(graph.Graph)
	byID := make(map[string]*scenario.Stage)
	for _, s := range b.program.Plan.Stages {
		if s.When != "never" {
			_ = g.Add(graph.Node{ID: s.ID}) // duplicates were refused by scenario
			byID[s.ID] = s
		}
	}
	for _, s := range b.program.Plan.Stages {
		for _, n := range s.Needs {
			_ = g.Connect(graph.Edge{From: n.ID, To: s.ID}) // to a stage that never runs: as if absent
		}
	}
	order, cycle := g.Order()
	if cycle != nil {
		s := byID[cycle[0]]
		pos := s.IDPos
		for _, n := range s.Needs {
			if slices.Contains(cycle, n.ID) {
				pos = n.Pos
			}
		}
		b.fail(pos, codeCycle, "the stages need each other in a circle: %s", strings.Join(cycle, " → ")).
			Detail = "each comes after the one before it in this line; remove one of the `needs`"
		order = nil
		for _, n := range g.Nodes() {
			order = append(order, n.ID)
		}
	}
	for _, id := range order {
		b.stages = append(b.stages, byID[id])
	}
}

// levels makes the nodes of every stage.
func (b *build) levels() {
	for _, s := range b.stages {
		_, open := scenario.Open(s.Load)
		axis := "concurrency"
		if open {
			axis = "rate"
		}
		var prev *Node
		for _, l := range stageLevels(s) {
			n := &Node{ID: s.ID, Stage: s, Level: l, Open: open, prev: prev}
			if _, single := quantity(s).(scenario.Fixed); !single {
				n.ID = fmt.Sprintf("%s[%s=%s]", s.ID, axis, l.Text)
				n.Point = []scenario.Pair{{Key: axis, Value: l.Text}}
			}
			if k := b.targets[s.Request.Target]; k != nil {
				n.Kind, n.Kinds, n.Catalogue = k.kind, []*backends.Kind{k.kind}, k.catalogue
			}
			b.checkConnections(n)
			b.nodes[s.ID] = append(b.nodes[s.ID], n)
			b.program.Nodes = append(b.program.Nodes, n)
			prev = n
		}
	}
}

func quantity(s *scenario.Stage) scenario.Quantity { return scenario.QuantityOf(s.Load) }

// stageLevels are the values that a stage runs at. An open ladder climbs at most maxLevels steps.
func stageLevels(s *scenario.Stage) []scenario.Level {
	switch q := quantity(s).(type) {
	case scenario.Fixed:
		return []scenario.Level{q.Value}
	case scenario.Levels:
		levels := slices.Clone(q.Values)
		_, isRate := s.Load.(scenario.Rate)
		for q.Open && len(levels) < maxLevels {
			next := levels[len(levels)-1]
			if q.Factor > 0 {
				next.Value *= q.Factor
			} else {
				next.Value += q.Step
			}
			limit, unit := 65536.0, ""
			if isRate {
				limit, unit = 1e7, "/s"
			}
			if next.Value > limit {
				break
			}
			next.Text = strconv.FormatFloat(next.Value, 'f', -1, 64) + unit
			levels = append(levels, next)
		}
		return levels
	}
	return []scenario.Level{{Pos: s.LoadPos}}
}

// checkConnections refuses a closed loop that HTTP/1.1 cannot carry over the connections that the target allows.
func (b *build) checkConnections(n *Node) {
	shared := n.Stage.Request.Target.Connections.Shared
	if n.Open || shared == 0 || strings.HasPrefix(b.scheme(n.Stage.Request.Target), "grpc") || int(n.Level.Value) <= shared {
		return
	}
	b.fail(n.Level.Pos, codeConnections, "%d requests in flight do not fit %d connections", int(n.Level.Value), shared).
		Detail = "HTTP/1.1 carries one request at a time on a connection: raise the target's `connections` or leave it out"
}

// edges connects the nodes: levels in their order, stages by their needs.
func (b *build) edges() {
	g := b.program.Graph
	for _, n := range b.program.Nodes {
		if err := g.Add(graph.Node{ID: n.ID}); err != nil {
			b.fail(n.Level.Pos, codeDuplicate, "level %s stands twice in stage %q", n.Level.Text, n.Stage.ID)
		}
	}
	for _, n := range b.program.Nodes {
		if !n.first() {
			_ = g.Connect(graph.Edge{From: n.prev.ID, To: n.ID, When: "always", Reason: levelReason(n)})
			continue
		}
		for _, need := range n.Stage.Needs {
			before := b.nodes[need.ID]
			if len(before) == 0 {
				continue
			}
			reason := "needs"
			if need.Implied {
				reason = "the entry before"
			}
			_ = g.Connect(graph.Edge{From: before[len(before)-1].ID, To: n.ID, When: n.Stage.When, Reason: reason})
		}
	}
}

// units puts the nodes into running order: stages one after the other.
func (b *build) units() {
	for _, s := range b.stages {
		m := &Member{Stage: s.ID}
		for _, n := range b.nodes[s.ID] {
			m.Plays = append(m.Plays, Play{Node: n})
		}
		b.program.Units = append(b.program.Units, &Unit{Members: []*Member{m}})
	}
}

func levelReason(n *Node) string {
	if l, ok := quantity(n.Stage).(scenario.Levels); ok && l.While != nil {
		return "the level before, while its conditions hold"
	}
	return "the level before"
}

// readData opens every file that a dataset in use names.
func (b *build) readData() {
	seen := make(map[*scenario.Dataset]bool)
	for _, s := range b.program.Plan.Stages {
		if d := s.Request.Data; d != nil && !seen[d] {
			seen[d] = true
			b.diags = append(b.diags, feed.Check(d)...)
		}
	}
}
