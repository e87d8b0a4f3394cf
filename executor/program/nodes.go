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
	for _, point := range d.Plan.Stages {
		if point.When == "never" {
			continue
		}
		s := d.byID[point.ID]
		if s == nil {
			s = &stagePoints{Stage: point}
			d.byID[point.ID] = s
			d.stages = append(d.stages, s)
		}
		s.points = append(s.points, point)
		makeLevels(d, s, point)
	}
	for _, s := range d.stages {
		for _, n := range s.nodes {
			registerNode(d, n)
		}
		d.Nodes = append(d.Nodes, s.nodes...)
	}
}

// makeLevels makes the nodes of a stage at one point.
func makeLevels(d *draft, s *stagePoints, point *scenario.Stage) {
	_, open := scenario.Open(point.Load)
	values, axis := levelsOf(point, open || ofUsers(point))
	if axis != "" && slices.ContainsFunc(point.Point, func(p scenario.Pair) bool { return p.Key == axis }) {
		d.fail(point.LoadPos, "axis-clash",
			"stage %q has an axis %s in its matrix and levels of %s", point.ID, axis, axis).
			Detail = "each becomes an axis of the node ids: give the matrix's axis another name"
	}
	var prev *Node
	for _, l := range values {
		n := &Node{
			Stage: point, Level: l, Open: open, Point: slices.Clone(point.Point), Prev: prev, Load: new(Load),
			phases: phasesOf(point),
		}
		if axis != "" {
			n.Point = append(n.Point, scenario.Pair{Key: axis, Value: l.Text})
		}
		n.ID = nodeID(point.ID, n.Point)
		bindNode(d, n)
		checkConnections(d, n)
		s.nodes = append(s.nodes, n)
		prev = n
	}
}

// nodeID returns stage[axis=value,…]; without an axis the stage alone.
func nodeID(stage string, point []scenario.Pair) string {
	var axes []string
	for _, p := range point {
		axes = append(axes, p.Key+"="+p.Value)
	}
	if axes == nil {
		return stage
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
		if q.Open {
			values = climb(q, values, open)
		}
		return values, axis
	}
	return []scenario.Level{{Pos: s.LoadPos}}, ""
}

// climb appends the levels of a ladder without an end, as far as any load may go.
func climb(q scenario.Levels, values []scenario.Level, rate bool) []scenario.Level {
	most, unit := float64(language.MaxSlots), ""
	if rate {
		most, unit = language.MaxRate, "/s"
	}
	for l := values[len(values)-1]; len(values) < maxClimb; values = append(values, l) {
		if l.Value += q.Step; q.Factor > 0 {
			l.Value *= q.Factor
		}
		if l.Value > most {
			break
		}
		l.Text = strconv.FormatFloat(l.Value, 'f', -1, 64) + unit
	}
	return values
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
		if shared == 0 || e.Request.Target.GRPC() || int(slotsOf(n, most)) <= shared {
			continue
		}
		d.fail(most.Pos, "too-few-connections", "%d requests in flight do not fit %d connections",
			int(slotsOf(n, most)), shared).
			Detail = "HTTP/1.1 carries one request at a time on a connection: raise the target's " +
			"`connections` or leave it out"
	}
}

// Endless reports whether n is a level above the first of a ladder without an end.
func (n *Node) Endless() bool {
	levels, _ := quantity(n.Stage).(scenario.Levels)
	return levels.Open && !n.First()
}

// Searches reports whether the node's `while` judges trials: what is reported then holds, or there
// is nothing to report.
func (n *Node) Searches() bool {
	_, is := quantity(n.Stage).(scenario.Search)
	return is
}

func quantity(s *scenario.Stage) scenario.Quantity { return scenario.QuantityOf(s.Load) }

// Span returns how long hold is to last by `for`; zero: something else ends it.
func (n *Node) Span() scenario.Span {
	e, _ := n.Stage.Extent.(scenario.For)
	return e.Span
}

// WaitsForOthers reports whether the node lasts as long as the rest of its group.
func (n *Node) WaitsForOthers() bool {
	_, waits := n.Stage.Extent.(scenario.UntilOthers)
	return waits
}
