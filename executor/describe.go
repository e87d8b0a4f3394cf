package executor

// Description is a program as plain data, for `graph --format json` and its text. Times in seconds.
type Description struct {
	Plan        string            `json:"plan"`
	Fingerprint string            `json:"fingerprint"`
	Seed        uint64            `json:"seed"`
	Shortest    float64           `json:"shortest"`
	Longest     float64           `json:"longest"` // 0: no bound
	Nodes       []NodeDescription `json:"nodes"`
	Assertions  []CheckText       `json:"assertions"`
}

// NodeDescription is one node of a Description.
type NodeDescription struct {
	ID         string      `json:"id"`
	Stage      string      `json:"stage"`
	Target     string      `json:"target"`
	Load       string      `json:"load"`
	After      []EdgeText  `json:"after"`
	Requests   *float64    `json:"requests"` // null: depends on the server
	RequestsSD float64     `json:"requests_sd"`
	Shortest   float64     `json:"shortest"`
	Longest    *float64    `json:"longest"` // null: no bound
	InFlight   int         `json:"in_flight"`
	While      []string    `json:"while,omitempty"`
	Assertions []CheckText `json:"assertions"`
}

// EdgeText is whom a node waits for, and why.
type EdgeText struct {
	Node   string `json:"node"`
	When   string `json:"when"`
	Reason string `json:"reason"`
}

// CheckText is an assertion and the samples that it needs.
type CheckText struct {
	ID     string `json:"id"`
	That   string `json:"that"`
	At     string `json:"at"`
	Needed int64  `json:"needed"`
}

// Describe gives the program as plain data.
func (p *Program) Describe() Description {
	d := Description{
		Plan: p.Plan.Name, Fingerprint: p.Plan.Fingerprint, Seed: p.Plan.Seed,
		Nodes: []NodeDescription{}, Assertions: texts(p.Assert),
	}
	bounded := true
	for _, n := range p.Nodes {
		d.Shortest += n.Planned.Shortest
		d.Longest += n.Planned.Longest
		bounded = bounded && n.Planned.Longest >= 0
		d.Nodes = append(d.Nodes, p.describe(n))
	}
	if !bounded {
		d.Longest = 0
	}
	return d
}

func (p *Program) describe(n *Node) NodeDescription {
	s := n.Stage
	d := NodeDescription{
		ID: n.ID, Stage: s.ID, Target: s.Request.Target.Name, Load: n.label(), After: []EdgeText{},
		RequestsSD: n.Planned.SD, Shortest: n.Planned.Shortest, InFlight: n.Planned.InFlight, Assertions: texts(n.Checks),
	}
	if n.Planned.Requests >= 0 {
		d.Requests = &n.Planned.Requests
	}
	if n.Planned.Longest >= 0 {
		d.Longest = &n.Planned.Longest
	}
	for _, e := range p.Graph.Into(n.ID) {
		d.After = append(d.After, EdgeText{Node: e.From, When: e.When, Reason: e.Reason})
	}
	for _, c := range n.While {
		d.While = append(d.While, c.Assertion.That.Text)
	}
	return d
}

func texts(checks []Check) []CheckText {
	list := []CheckText{}
	for _, c := range checks {
		list = append(list, CheckText{
			ID: c.Assertion.ID, That: c.Assertion.That.Text, At: c.Assertion.That.Pos.String(), Needed: c.Needed,
		})
	}
	return list
}
