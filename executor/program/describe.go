package program

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/verdict"
)

// Description is a program as plain data, for `graph --format json` and its text. Times in seconds,
// null: no bound.
type Description struct {
	Plan        string            `json:"plan"`
	Fingerprint string            `json:"fingerprint"`
	Seed        uint64            `json:"seed"`
	Shortest    float64           `json:"shortest"`
	Longest     *float64          `json:"longest"`
	InFlight    *int              `json:"in_flight"` // null: an earlier result decides
	Units       []UnitDescription `json:"units"`     // what runs one after the other
	Nodes       []NodeDescription `json:"nodes"`
	Assertions  []CheckText       `json:"assertions"`
}

// UnitDescription describes what runs at one time.
type UnitDescription struct {
	Stages []string `json:"stages"`
	// the nodes of each repeat in their order, where there is more than one repeat
	Repeats  [][]string `json:"repeats,omitempty"`
	Shortest float64    `json:"shortest"`
	Longest  *float64   `json:"longest"`
}

// NodeDescription describes one node: its numbers are of one repeat.
type NodeDescription struct {
	ID      string            `json:"id"`
	Stage   string            `json:"stage"`
	Point   map[string]string `json:"point,omitempty"`
	Targets []string          `json:"targets"`
	Load    string            `json:"load"`
	// the formula of a load that comes from an earlier result
	From        string     `json:"from_result,omitempty"`
	After       []EdgeText `json:"after"`
	Warmup      string     `json:"warmup,omitempty"`
	Delay       float64    `json:"delay,omitempty"`
	MaxDuration float64    `json:"max_duration,omitempty"`
	Repeats     int        `json:"repeats"`
	Requests    *float64   `json:"requests"` // in hold; null: not known
	RequestsSD  float64    `json:"requests_sd"`
	// that the requests form, on average; absent: none, or not known
	Sequences *float64 `json:"sequences,omitempty"`
	Sessions  bool     `json:"sessions,omitempty"` // the sequences are conversations
	// what requests depend on where they are null: server, result, data, group
	Decides    string      `json:"decided_by,omitempty"`
	Outside    *float64    `json:"requests_outside"` // in warm-up and between holds
	Trials     []int       `json:"trials,omitempty"` // of a search: at least and at most
	Shortest   float64     `json:"shortest"`
	Longest    *float64    `json:"longest"`
	InFlight   *int        `json:"in_flight"`
	While      []string    `json:"while,omitempty"`
	Best       string      `json:"best,omitempty"` // by what it is ranked among the nodes of its stage
	Goodput    []string    `json:"goodput,omitempty"`
	Assertions []CheckText `json:"assertions"`
}

// EdgeText is whom a node waits for, and why. Without When it is where a number is taken from.
type EdgeText struct {
	Node   string `json:"node"`
	When   string `json:"when,omitempty"`
	Reason string `json:"reason"`
}

// CheckText is an assertion, the samples that it needs and the requests that are planned for what
// it looks at.
type CheckText struct {
	ID        string   `json:"id"`
	That      string   `json:"that"`
	At        string   `json:"at"`
	Needed    int64    `json:"needed"`
	Planned   *float64 `json:"planned"` // null: depends on the server
	PlannedSD float64  `json:"planned_sd"`
	// Independent says that more are needed where requests depend on each other.
	Independent bool `json:"independent,omitempty"`

	// How it is judged, as in result.Assertion.
	Confidence float64 `json:"confidence,omitempty"`
	Every      float64 `json:"every,omitempty"` // s
	Allow      float64 `json:"allow,omitempty"`
	Within     float64 `json:"within,omitempty"` // s
}

// Describe gives the program as plain data.
func (p *Program) Describe() Description {
	d := Description{
		Plan: p.Plan.Name, Fingerprint: p.Plan.Fingerprint(), Seed: p.Plan.Seed,
		Units: []UnitDescription{}, Nodes: []NodeDescription{}, Assertions: texts(p.Assert),
	}
	total, peak := exactly(0), 0.0
	for _, u := range p.Units {
		took, open := unitBounds(u)
		total, peak = total.plus(took), max(peak, open)
		d.Units = append(d.Units, describeUnit(u, took))
	}
	total = total.within(p.Plan.MaxDuration.Seconds())
	d.Shortest, d.Longest, d.InFlight = total.least, bound(total.most), known(peak)
	for _, n := range p.Nodes {
		d.Nodes = append(d.Nodes, describeNode(p, n))
	}
	return d
}

// unitBounds returns how long a unit takes and how many requests are open in it, at most; +Inf: not
// known.
func unitBounds(u *Unit) (took bounds, peak float64) {
	for _, m := range u.Members {
		length, open := exactly(0), 0.0
		for _, play := range m.Plays {
			n := play.Node
			one := bounds{n.Planned.Shortest, n.Planned.Longest}
			if n.Stage.When == "failure" || !n.First() && n.Planned.climbs {
				one.least = 0 // a good run, or one whose first level is too much, skips it
			}
			length, open = length.plus(one), max(open, n.Planned.InFlight)
		}
		length = length.plus(exactly(m.Plays[0].Node.Stage.Delay.Seconds()))
		took.least, peak = max(took.least, length.least), peak+open
		if !math.IsInf(length.most, 1) || !m.Plays[0].Node.WaitsForOthers() { // those bound it else
			took.most = max(took.most, length.most)
		}
	}
	return took, peak
}

func describeUnit(u *Unit, took bounds) UnitDescription {
	d := UnitDescription{Shortest: took.least, Longest: bound(took.most)}
	for _, m := range u.Members {
		d.Stages = append(d.Stages, m.Stage)
		if m.Plays[len(m.Plays)-1].Repeat == 0 || len(u.Members) > 1 {
			continue
		}
		for _, play := range m.Plays {
			if play.Repeat == len(d.Repeats) {
				d.Repeats = append(d.Repeats, nil)
			}
			d.Repeats[play.Repeat] = append(d.Repeats[play.Repeat], play.Node.ID)
		}
	}
	return d
}

func describeNode(p *Program, n *Node) NodeDescription {
	s, plan := n.Stage, n.Planned
	d := NodeDescription{
		ID: n.ID, Stage: s.ID, Targets: n.TargetNames(), Load: n.Load.Label,
		Point: n.PointMap(), From: n.Load.Formula, After: []EdgeText{},
		Delay: s.Delay.Seconds(), MaxDuration: s.MaxDuration.Seconds(), Repeats: plan.Repeats,
		Requests: bound(plan.Requests), RequestsSD: plan.SD,
		Decides: plan.Decides, Outside: bound(plan.Outside),
		Shortest: plan.Shortest, Longest: bound(plan.Longest), InFlight: known(plan.InFlight),
		Assertions: texts(n.Checks),
	}
	if plan.Sequences > 0 {
		d.Sequences, d.Sessions = &plan.Sequences, n.Sequences.Sessions
	}
	if !s.Warmup.IsZero() {
		d.Warmup = spanText(s.Warmup)
	}
	if plan.MostTrials > 0 {
		d.Trials = []int{plan.Trials, plan.MostTrials}
	}
	for _, e := range p.Graph.Incoming(n.ID) {
		d.After = append(d.After, EdgeText{Node: e.From, When: e.When, Reason: e.Reason})
	}
	if n.Best != nil {
		d.Best = n.Best.Text()
	}
	for _, c := range n.While {
		d.While = append(d.While, c.That.Text)
	}
	for _, b := range s.Goodput {
		d.Goodput = append(d.Goodput, b.Metric.Text+" "+b.Limit.Text)
	}
	return d
}

// known returns a number of requests, nil where it is infinite.
func known(v float64) *int {
	if math.IsInf(v, 1) {
		return nil
	}
	n := int(v)
	return &n
}

// PointMap returns the node's point by axis; nil: it has none.
func (n *Node) PointMap() (point map[string]string) {
	for _, axis := range n.Point {
		if point == nil {
			point = make(map[string]string)
		}
		point[axis.Key] = axis.Value
	}
	return point
}

// TargetNames lists the targets of a node's entries, each once.
func (n *Node) TargetNames() []string {
	var names []string
	for _, e := range n.Stage.Entries() {
		if name := e.Request.Target.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func texts(checks []Check) []CheckText {
	list := []CheckText{}
	for _, c := range checks {
		list = append(list, CheckText{
			ID: c.ID, That: c.That.Text, At: c.That.Pos.String(),
			Needed:  c.Needed,
			Planned: bound(c.Planned), PlannedSD: c.SD, Confidence: c.Confidence,
			Every: c.Every.Seconds(), Allow: c.Allow,
			Within:      c.Within.Seconds(),
			Independent: c.Confidence > 0 && verdict.Every(c.Assertion) == 0 && !verdict.ByRepeats(c.Refs),
		})
	}
	return list
}

// bound returns v, nil where it is not known: below 0, or infinite.
func bound(v float64) *float64 {
	if v < 0 || math.IsInf(v, 1) {
		return nil
	}
	return &v
}
