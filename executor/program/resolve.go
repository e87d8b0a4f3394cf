package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// scope gives names their meaning in an expression: of a node, or of none (the plan's own
// assertions).
type scope struct {
	draft *draft
	node  *Node // that the expression is written on; nil: the plan
	// early says that every stage can be named: for the loads that come from results, which make the order.
	early bool
	reach map[string]bool // ids of the nodes that have run by then; nil: not asked for yet
}

// Variable implements expression.Scope.
func (s *scope) Variable(name string) (literal, typ string, err error) {
	var names []string
	vars := s.draft.Plan.Vars
	if s.node != nil {
		vars = slices.Concat(vars, s.node.Stage.Axes)
	}
	for _, v := range vars {
		if v.Name == name {
			if v.Secret {
				return "", "", fmt.Errorf("${%s} is a secret and cannot be compared with anything", name)
			}
			return v.Text, v.Type, nil
		}
		names = append(names, v.Name)
	}
	return "", "", expression.NoVariable(name, names)
}

// Resolve implements expression.Scope.
func (s *scope) Resolve(at expression.Place, path string) (metric.Leaf, error) {
	if onlyStored(s.draft, at) {
		return resolveStored(s.draft, at, path)
	}
	if path == metric.Best && at.Node != "" && !at.Baseline {
		return s.best(at)
	}
	n := s.node
	if at.Node != "" {
		var err error
		if n, err = s.find(at.Node, at.Baseline); err != nil {
			return metric.Leaf{}, err
		}
	} else if !s.here() {
		return metric.Leaf{}, expression.NoPlace(path)
	}
	if err := checkPlace(n, at, s.draft.Plan); err != nil {
		return metric.Leaf{}, err
	}
	from := n.Catalogue
	if i := mixEntry(n, at.Mix); i >= 0 && n.entries[i] != nil {
		from = n.entries[i].catalogue
	}
	if from == nil {
		return metric.Leaf{}, inStage("stage %q has no usable target", n.Stage.ID)
	}
	leaf, err := expression.Find(from, path)
	if err != nil {
		return metric.Leaf{}, noSuchMetric(n, path, err)
	}
	if why := lacksAt(n, at, leaf); why != "" {
		return metric.Leaf{}, fmt.Errorf("%s cannot be measured here: %s", leaf.Row.Name, why)
	}
	return leaf, nil
}

// noSuchMetric says why the node has no metric that only some stages have; else what is wrong with
// path already.
func noSuchMetric(n *Node, path string, err error) error {
	name, _, _ := strings.Cut(path, ".")
	_, has := rowOf(n, name)
	var e *expression.NameError
	switch {
	case name == metric.Capacity && !has:
		e = expression.Wrong("", "stage %q has no capacity: it is what a search finds", n.Stage.ID)
		e.Detail = "such as load: {rate: {search: {from: 10/s, to: 2000/s, while: latency.p99 < 50ms}}}"
	case name == metric.Best && !has:
		e = expression.Wrong("", "best is the value of a stage with `best`: write stage(\"id\").best")
	case name == metric.Goodput && !has:
		e = expression.Wrong("", "stage %q has no goodput: it does not say which requests are good",
			n.Stage.ID)
		e.Detail = "such as goodput: {latency: 50ms}"
	default:
		return err
	}
	return e
}

// find returns the node that stage("id") means. A stored result was there before, whatever runs when.
func (s *scope) find(id string, stored bool) (*Node, error) {
	n, err := s.named(id)
	if err != nil || stored || s.node == nil || s.here() && n == s.node {
		return n, err
	}
	if n.Stage.ID == s.node.Stage.ID && s.early {
		return nil, inStage("stage %q cannot take its load from its own result", id)
	}
	if s.early {
		return n, nil
	}
	if s.reach == nil {
		s.reach = s.draft.Graph.Ancestors(s.node.ID)
	}
	if !s.reach[n.ID] {
		return nil, inStage("stage %q may not have run by then: add it to `needs`", id)
	}
	return n, nil
}

// here reports whether a metric without stage("…") is one of the node.
func (s *scope) here() bool { return s.node != nil && !s.early }

// named finds a node by its id, or by that of its stage where this leaves no doubt: it has one
// node, or its nodes are the points of an equal matrix, of which it is the same one.
func (s *scope) named(id string) (*Node, error) {
	d := s.draft
	if n := d.byNode[id]; n != nil {
		return n, nil
	}
	if st := d.byID[id]; st != nil {
		if n := samePoint(d.byID, s.node, st); n != nil {
			return n, nil
		}
		e := inStage("stage %q has %d nodes: name one of them", id, len(st.nodes))
		e.Allowed = ids(st.nodes)
		return nil, e
	}
	for _, st := range d.Plan.Stages {
		if st.ID == id {
			return nil, expression.NeverRuns(id)
		}
	}
	stage, _, _ := strings.Cut(id, "[")
	if st := d.byID[stage]; st != nil {
		return nil, expression.Missing(expression.InStage, id, ids(st.nodes),
			"stage %q has no node %q", stage, id)
	}
	return nil, expression.NoStage(id, ids(d.Nodes))
}

// inStage returns the error of a stage that cannot be named.
func inStage(format string, args ...any) *expression.NameError {
	return expression.Wrong(expression.InStage, format, args...)
}

func ids(nodes []*Node) []string {
	var names []string
	for _, n := range nodes {
		names = append(names, n.ID)
	}
	return names
}

// samePoint returns the node of a stage at the point of n in a matrix that is equal; nil: there
// is no such one.
func samePoint(byID map[string]*stagePoints, n *Node, other *stagePoints) *Node {
	if n == nil {
		return nil
	}
	own := byID[n.Stage.ID]
	if slices.EqualFunc(own.nodes, other.nodes,
		func(a, b *Node) bool { return slices.Equal(a.Point, b.Point) }) {
		return other.nodes[slices.Index(own.nodes, n)]
	}
	if !slices.EqualFunc(own.points, other.points,
		func(a, b *scenario.Stage) bool { return slices.Equal(a.Point, b.Point) }) {
		return nil
	}
	var same *Node
	for _, o := range other.nodes {
		if slices.Equal(o.Stage.Point, n.Stage.Point) {
			if same != nil {
				return nil
			}
			same = o
		}
	}
	return same
}

// checkPlace says what part of a place a node does not have.
func checkPlace(n *Node, at expression.Place, p *scenario.Plan) error {
	if at.Baseline && p.Baseline == nil {
		return expression.NoBaseline()
	}
	var entries []string
	for _, e := range n.Stage.Mix {
		entries = append(entries, e.Name)
	}
	part := at
	if part.Phase == expression.Steady {
		part.Phase = "" // every node has one
	}
	if err := checkPart(n.Stage.ID, part, phaseNames(n), entries); err != nil {
		return err
	}
	if names := composingModels(n); at.Model != "" && !slices.Contains(names, at.Model) {
		e := expression.Missing(expression.InModel, at.Model, names,
			"no target of stage %q names %q among its composing models", n.Stage.ID, at.Model)
		if len(names) == 0 {
			e.Detail = "list the models that it calls under the target's `composing_models`"
		}
		return e
	}
	return nil
}

// checkPart says which of the phase and the entry of a place a stage or a stored node does not have.
func checkPart(id string, at expression.Place, phases, entries []string) error {
	switch {
	case at.Phase != "" && !slices.Contains(phases, at.Phase):
		return expression.NoPhase(id, at.Phase, phases)
	case at.Mix != "" && !slices.Contains(entries, at.Mix):
		return expression.NoMix(id, at.Mix, entries)
	}
	return nil
}

// phaseNames lists the names of the parts of a ramp.
func phaseNames(n *Node) []string {
	var names []string
	for _, p := range n.phases {
		names = append(names, p.name)
	}
	return names
}

// composingModels lists the models whose statistics can be asked for beside those of the target's own.
func composingModels(n *Node) []string {
	var names []string
	for _, e := range n.Stage.Entries() {
		for _, model := range e.Request.Target.ComposingModels {
			name, _, _ := strings.Cut(model, ":")
			names = append(names, name)
		}
	}
	return names
}

// lacksAt says why a leaf has no value at a place of the node, or "".
func lacksAt(n *Node, at expression.Place, leaf metric.Leaf) string {
	_, scraped := expression.Ref{Leaf: leaf}.Selector()
	switch {
	case (at.Phase != "" || at.Mix != "") && !leaf.Row.OfPart():
		return "it is known for the whole node only, not for a phase or an entry of the mix"
	case at.Model != "" && (leaf.Row.From != metric.Series || scraped):
		return `of a composing model only the server's own numbers are known, such as server.queue.mean`
	case scraped &&
		!slices.ContainsFunc(n.Stage.Entries(),
			func(e scenario.Entry) bool { return e.Request.Target.Metrics != nil }):
		return "its target names no metrics endpoint: add `metrics: {url: …}`"
	case scraped:
		return ""
	}
	return lacksRow(n, leaf.Row, n.entries[max(mixEntry(n, at.Mix), 0)])
}

// mixEntry returns the index of an entry of the mix; -1: there is none of that name.
func mixEntry(n *Node, name string) int {
	return slices.IndexFunc(n.Stage.Mix, func(e scenario.Entry) bool { return e.Name == name })
}
