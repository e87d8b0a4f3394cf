package program

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// makeNodes makes the nodes of every stage that runs: one for each point of its matrix and each
// level there. A stage with `when: never` is as if it were not there. It reads the plan's stages
// and the targets, and adds the stages and nodes, each with its catalogue.
func makeNodes(d *draft) {
	count, checks := 0, 0
	for _, point := range d.program.Plan.Stages {
		if point.When == "never" {
			continue
		}
		s := d.byID[point.ID]
		if s == nil {
			s = &stagePoints{id: point.ID}
			d.byID[point.ID] = s
			d.stages = append(d.stages, s)
		}
		s.points = append(s.points, point)
		before := len(s.nodes)
		makeLevels(d, s, point)
		made := len(s.nodes) - before
		count, checks = count+made, checks+made*len(point.Assert)
		if count > scenario.MaxNodes {
			summary, detail := scenario.TooManyNodes()
			d.fail(point.LoadPos, "too-many-nodes", "%s", summary).Detail = detail
			break
		}
		if checks > scenario.MaxChecks {
			summary, detail := scenario.TooManyChecks()
			d.fail(point.LoadPos, "too-many-nodes", "%s", summary).Detail = detail
			break
		}
	}
	for _, s := range d.stages {
		for _, n := range s.nodes {
			registerNode(d, n)
		}
		d.program.Nodes = append(d.program.Nodes, s.nodes...)
	}
}

// makeLevels makes the nodes of a stage at one point.
func makeLevels(d *draft, s *stagePoints, point *scenario.Stage) {
	_, open := scenario.Open(point.Load)
	values, axis := levelsOf(point)
	if axis != "" && slices.ContainsFunc(point.Point, func(p scenario.Pair) bool { return p.Key == axis }) {
		d.fail(point.LoadPos, "axis-clash",
			"stage %q has an axis %s in its matrix and levels of %s", point.ID, axis, axis).
			Detail = "each becomes an axis of the node ids: give the matrix's axis another name"
	}
	var prev *Node
	for _, l := range values {
		n := &Node{ID: point.ID, Stage: point, Level: l, Open: open, Point: slices.Clone(point.Point), Prev: prev, Load: new(Load), phases: phasesOf(point)}
		if axis != "" {
			n.Point = append(n.Point, scenario.Pair{Key: axis, Value: l.Text})
		}
		if len(n.Point) > 0 {
			n.ID = nodeID(point.ID, n.Point)
		}
		bindNode(d, n)
		checkConnections(d, n)
		s.nodes = append(s.nodes, n)
		prev = n
	}
}

// nodeID is stage[axis=value,…].
func nodeID(stage string, point []scenario.Pair) string {
	var axes []string
	for _, p := range point {
		axes = append(axes, p.Key+"="+p.Value)
	}
	return stage + "[" + strings.Join(axes, ",") + "]"
}

// registerNode registers a node under its id, which must be its own.
func registerNode(d *draft, n *Node) {
	if d.byNode[n.ID] == nil {
		d.byNode[n.ID] = n
		return
	}
	switch len(n.Point) - len(n.Stage.Point) {
	case 1:
		d.fail(n.Level.Pos, "duplicate-level", "duplicate level %s in stage %q", n.Level.Text, n.Stage.ID)
	default:
		d.fail(n.Stage.Pos, "axis-clash", "two points of stage %q are %s", n.Stage.ID, n.ID).
			Detail = "results are told apart by these names: make the values differ"
	}
}

// bindNode finds what the targets of a node can do, and what can be measured there.
func bindNode(d *draft, n *Node) {
	for _, e := range n.Stage.Entries() {
		k := d.targets[e.Request.Target]
		n.entries = append(n.entries, k)
		if k == nil {
			n.Kinds = append(n.Kinds, nil)
			continue
		}
		n.Kinds = append(n.Kinds, k.kind)
	}
	n.Kind = n.Kinds[0]
	if !slices.Contains(n.entries, nil) {
		n.Catalogue, n.sort = catalogueOf(d, n), sortOf(n)
	}
}

// maxClimb bounds the levels of a ladder without an end.
const maxClimb = 256

func quantity(s *scenario.Stage) scenario.Quantity { return scenario.QuantityOf(s.Load) }

// levelsOf are the values that a stage runs at, one node each, and the axis that tells them apart;
// "" where there is one. A ladder without an end has maxClimb.
func levelsOf(s *scenario.Stage) (values []scenario.Level, axis string) {
	switch q := quantity(s).(type) {
	case scenario.Fixed:
		return []scenario.Level{q.Value}, ""
	case scenario.Levels:
		if axis = "concurrency"; isRate(s) {
			axis = "rate"
		}
		values = slices.Clone(q.Values)
		for q.Open && len(values) < maxClimb {
			next, ok := climb(q, values[len(values)-1], isRate(s))
			if !ok {
				break
			}
			values = append(values, next)
		}
		return values, axis
	}
	return []scenario.Level{{Pos: s.LoadPos}}, ""
}

func isRate(s *scenario.Stage) bool {
	_, is := s.Load.(scenario.Rate)
	return is
}

// climb is the level after one of an open ladder. False: it would be above what any load may be.
func climb(q scenario.Levels, l scenario.Level, rate bool) (scenario.Level, bool) {
	if q.Factor > 0 {
		l.Value *= q.Factor
	} else {
		l.Value += q.Step
	}
	most, unit := float64(language.MaxSlots), ""
	if rate {
		most, unit = language.MaxRate, "/s"
	}
	l.Text = strconv.FormatFloat(l.Value, 'f', -1, 64) + unit
	return l, l.Value <= most
}

// checkConnections refuses a closed loop that HTTP/1.1 cannot carry over the connections that the
// target allows.
func checkConnections(d *draft, n *Node) {
	most, pos := n.Level.Value, n.Level.Pos
	if r, ok := quantity(n.Stage).(scenario.Ramp); ok {
		for _, s := range r.Steps {
			if s.To.Value > most {
				most, pos = s.To.Value, s.To.Pos
			}
		}
	}
	for _, e := range n.Stage.Entries() {
		shared := e.Request.Target.Connections.Shared
		if n.Open || shared == 0 || e.Request.Target.GRPC() || int(most) <= shared {
			continue
		}
		d.fail(pos, "too-few-connections", "%d requests in flight do not fit %d connections", int(most), shared).
			Detail = "HTTP/1.1 carries one request at a time on a connection: raise the target's `connections` or " +
			"leave it out"
	}
}

// where says in words where a thing of the plan stands.
func where(pos source.Pos) string { return fmt.Sprintf("%d:%d", pos.Line, pos.Column) }

// Endless reports whether n is a level above the first of a ladder without an end.
func (n *Node) Endless() bool {
	levels, ok := quantity(n.Stage).(scenario.Levels)
	return ok && levels.Open && !n.First()
}

// Searches reports whether the node's `while` judges trials: what is reported then holds, or there
// is nothing to report.
func (n *Node) Searches() bool {
	_, is := quantity(n.Stage).(scenario.Search)
	return is
}
