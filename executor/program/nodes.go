package program

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/language"
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
		summary, detail := "", ""
		switch {
		case count > scenario.MaxNodes:
			summary, detail = scenario.TooManyNodes()
		case checks > scenario.MaxChecks:
			summary, detail = scenario.TooManyChecks()
		}
		if summary != "" {
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
	values, axis := levelsOf(point, open)
	if axis != "" && slices.ContainsFunc(point.Point, func(p scenario.Pair) bool { return p.Key == axis }) {
		d.fail(point.LoadPos, "axis-clash",
			"stage %q has an axis %s in its matrix and levels of %s", point.ID, axis, axis).
			Detail = "each becomes an axis of the node ids: give the matrix's axis another name"
	}
	var prev *Node
	for _, l := range values {
		n := &Node{
			ID: point.ID, Stage: point, Level: l, Open: open, Point: slices.Clone(point.Point), Prev: prev,
			Load: new(Load), phases: phasesOf(point),
		}
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
	if len(n.Point) > len(n.Stage.Point) {
		d.fail(n.Level.Pos, "duplicate-level", "duplicate level %s in stage %q", n.Level.Text, n.Stage.ID)
	} else {
		d.fail(n.Stage.Pos, "axis-clash", "two points of stage %q are %s", n.Stage.ID, n.ID).
			Detail = "results are told apart by these names: make the values differ"
	}
}

// bindNode finds what the targets of a node can do, and what can be measured there.
func bindNode(d *draft, n *Node) {
	for _, e := range n.Stage.Entries() {
		n.entries = append(n.entries, d.targets[e.Request.Target])
	}
	if !slices.Contains(n.entries, nil) {
		n.Catalogue, n.sort = catalogueOf(d, n), sortOf(n)
	}
}

// maxClimb bounds the levels of a ladder without an end.
const maxClimb = 256

func quantity(s *scenario.Stage) scenario.Quantity { return scenario.QuantityOf(s.Load) }

// levelsOf lists the values that a stage runs at, one node each, and the axis that tells them apart;
// "" where there is one. A ladder without an end has maxClimb.
func levelsOf(s *scenario.Stage, open bool) (values []scenario.Level, axis string) {
	switch q := quantity(s).(type) {
	case scenario.Fixed:
		return []scenario.Level{q.Value}, ""
	case scenario.Levels:
		if axis = "concurrency"; open {
			axis = "rate"
		}
		values = slices.Clone(q.Values)
		for q.Open && len(values) < maxClimb {
			next, ok := climb(q, values[len(values)-1], open)
			if !ok {
				break
			}
			values = append(values, next)
		}
		return values, axis
	}
	return []scenario.Level{{Pos: s.LoadPos}}, ""
}

// climb returns the level after one of an open ladder. False: it would be above what any load may be.
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
	if n.Open || n.Searches() {
		return
	}
	most := peak(n)
	for _, e := range n.Stage.Entries() {
		shared := e.Request.Target.Connections.Shared
		if shared == 0 || e.Request.Target.GRPC() || int(most.Value) <= shared {
			continue
		}
		d.fail(most.Pos, "too-few-connections", "%d requests in flight do not fit %d connections",
			int(most.Value), shared).
			Detail = "HTTP/1.1 carries one request at a time on a connection: raise the target's " +
			"`connections` or leave it out"
	}
}

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
