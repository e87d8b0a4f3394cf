package program

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Best says how a node is ranked among those of its stage.
type Best struct {
	*scenario.Best
	Of    *expression.Program // what is to be large, or small
	Dim   metric.Dim
	Where []Check
}

// Text writes what is asked: "max throughput where latency.p99 < 50ms".
func (b *Best) Text() string {
	text := "max "
	if b.Min {
		text = "min "
	}
	text += b.Best.Of.Text
	if len(b.Best.Where) == 0 {
		return text
	}
	where := make([]string, len(b.Best.Where))
	for i, w := range b.Best.Where {
		where[i] = w.Text
	}
	return text + " where " + strings.Join(where, " and ")
}

// Configuration names a model that the points of a stage load with configurations of the plan.
type Configuration struct{ Stage, Model string }

// Configurations lists the models that stages which ask for their best node load with configurations, in the
// order of the plan, each once.
func (p *Program) Configurations() (list []Configuration) {
	for _, s := range p.Plan.Stages {
		for _, a := range s.Before {
			c := Configuration{s.ID, a.LoadModel}
			if s.Best != nil && a.Config != "" && !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// compileBests compiles what the best node of each stage is, but for the conditions, which are compiled with
// the others. Loads may take the value of the best, so that it comes before them.
func compileBests(d *draft) {
	for _, s := range d.stages {
		if s.Best == nil {
			continue
		}
		if len(s.nodes) < 2 {
			d.fail(s.Best.Pos, "one-node", "stage %q has one node: there is no best one", s.ID).
				Detail = "give it a `matrix` or levels, or leave `best` out"
			continue
		}
		for _, n := range s.nodes {
			compileBest(d, n)
		}
	}
}

func compileBest(d *draft, n *Node) {
	if n.Catalogue == nil {
		return
	}
	of := n.Stage.Best.Of
	p, diags := expression.CompileQuantity(of, ownScope{&scope{draft: d, node: n}})
	d.add(diags...)
	if p == nil {
		return
	}
	n.Best = &Best{Best: n.Stage.Best, Of: p}
	_, n.Best.Dim = p.Quantity(nothing{})
	if len(p.Refs) == 0 {
		d.fail(of.Pos, "does-not-fit", "`best` needs a metric, and %s is the same on each node", of.Text)
	}
}

// ownScope is the scope of what nodes are ranked by: metrics of a node as a whole.
type ownScope struct{ *scope }

// Resolve implements expression.Scope.
func (s ownScope) Resolve(at expression.Place, path string) (metric.Leaf, error) {
	if at != (expression.Place{}) {
		e := expression.Wrong("", "nodes are ranked by a metric of each as a whole, and %s%s is none", at, path)
		e.Detail = "leave out stage(…), phase(…), mix(…), model(…) and baseline"
		return metric.Leaf{}, e
	}
	return s.scope.Resolve(at, path)
}

// best resolves stage("id").best.
func (s *scope) best(at expression.Place) (leaf metric.Leaf, err error) {
	st := s.draft.byID[at.Node]
	switch {
	case st == nil:
		_, err = s.named(at.Node)
		if err == nil { // one node of a stage
			err = inStage("%q is one node: the best is one of a whole stage", at.Node)
		}
		return leaf, err
	case st.Best == nil:
		e := expression.Wrong("", "stage %q does not say what is the best", at.Node)
		e.Detail = "such as best: {max: throughput, where: latency.p99 < 50ms}"
		return leaf, e
	case at != expression.Place{Node: at.Node}:
		return leaf, inStage("best is the value of stage %q as a whole", at.Node)
	case s.node != nil && s.node.Stage.ID == st.ID:
		return leaf, inStage("stage %q cannot use its own best: it is known when it has ended", at.Node)
	}
	last := st.nodes[len(st.nodes)-1]
	if s.here() {
		if _, err = s.find(last.ID, false); err != nil {
			return leaf, err
		}
	}
	i := slices.IndexFunc(st.nodes, func(n *Node) bool { return n.Best != nil })
	if i < 0 {
		return leaf, inStage("the best of stage %q was not understood", at.Node)
	}
	row := metric.BestRow(st.nodes[i].Best.Dim)
	return metric.Leaf{Row: &row}, nil
}

// lastOf returns the last node of the stage whose best one a reference reads; nil: it reads something else.
func lastOf(p *Program, r expression.Ref) (last *Node) {
	if r.Leaf.Row.Name != metric.Best || r.Baseline {
		return nil
	}
	for _, n := range p.Nodes {
		if n.Stage.ID == r.Node {
			last = n
		}
	}
	return last
}
