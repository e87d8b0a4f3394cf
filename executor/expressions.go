package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// DefaultErrors is the id of the built-in errors rule (plan language, rule 11).
const DefaultErrors = "default-errors"

// scope is what names mean where an expression stands: on a node, or nowhere (the plan's own assertions).
type scope struct {
	build *build
	node  *Node           // nil: metrics must stand under stage("…")
	reach map[string]bool // ids of the nodes that have run by then; nil: all
}

// Variable implements expression.Scope.
func (s *scope) Variable(name string) (literal, typ string, err error) {
	var names []string
	vars := s.build.program.Plan.Vars
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
	return "", "", missing(fmt.Sprintf("there is no variable %q", name), name, names, false)
}

// Resolve implements expression.Scope.
func (s *scope) Resolve(at expression.Place, path string) (metric.Leaf, error) {
	if here := (expression.Place{Node: at.Node}); at != here {
		return metric.Leaf{}, &expression.NameError{Code: codeNotBuilt, Summary: at.String() + "… cannot be measured yet"}
	}
	n := s.node
	if at.Node != "" {
		var err error
		if n, err = s.find(at.Node); err != nil {
			return metric.Leaf{}, err
		}
	}
	if n == nil {
		return metric.Leaf{}, &expression.NameError{Summary: fmt.Sprintf(`say of which stage: stage("…").%s`, path)}
	}
	if n.Catalogue == nil {
		return metric.Leaf{}, &expression.NameError{Stage: true, Summary: fmt.Sprintf("stage %q has no usable target", n.Stage.ID)}
	}
	leaf, err := expression.Find(n.Catalogue, path)
	if err != nil {
		return metric.Leaf{}, err
	}
	if why := n.lacks(leaf.Row, s.build.targets[n.Stage.Request.Target]); why != "" {
		return metric.Leaf{}, fmt.Errorf("%s cannot be measured here: %s", leaf.Row.Name, why)
	}
	return leaf, nil
}

// find is the node that stage("id") means.
func (s *scope) find(id string) (*Node, error) {
	var ids []string
	for _, n := range s.build.program.Nodes {
		if n.ID == id {
			if s.node != nil && n != s.node && !s.reach[id] {
				return nil, &expression.NameError{Stage: true, Summary: fmt.Sprintf("stage %q may not have run by then: add it to `needs`", id)}
			}
			return n, nil
		}
		ids = append(ids, n.ID)
	}
	if many := s.build.nodes[id]; len(many) > 1 {
		var names []string
		for _, n := range many {
			names = append(names, n.ID)
		}
		return nil, &expression.NameError{
			Stage: true, Summary: fmt.Sprintf("stage %q has %d nodes: name one of them", id, len(many)), Allowed: names,
		}
	}
	return nil, missing(fmt.Sprintf("there is no stage %q", id), id, ids, true)
}

// missing is an error about a name that does not exist, with the word that was likely meant.
func missing(what, name string, names []string, stage bool) error {
	return &expression.NameError{Summary: what, Allowed: names, Nearest: source.Nearest(name, names), Stage: stage}
}

// lacks says why a node cannot produce a row, or "".
func (n *Node) lacks(r *metric.Row, k *kind) string {
	switch {
	case r.Loads == metric.OpenLoop && !n.Open:
		return "it needs an open loop (`rate`)"
	case r.Loads == metric.ClosedLoop && n.Open:
		return "it needs a closed loop (`concurrency`)"
	case r.From == metric.Series && n.Stage.Request.Target.Statistics == "none":
		return "the target says `statistics: none`"
	case k != nil:
		return k.lacks(r.Needs)
	}
	return ""
}

// expressions compiles every assertion, condition and stability metric.
func (b *build) expressions() {
	for _, n := range b.program.Nodes {
		if n.Catalogue == nil {
			continue // its target is wrong, which has been said
		}
		n.scope = &scope{build: b, node: n, reach: b.program.Graph.Ancestors(n.ID)}
		if l, ok := quantity(n.Stage).(scenario.Levels); ok {
			for _, c := range l.While {
				n.While = append(n.While, b.check(scenario.Assertion{That: c.That}, n.scope))
			}
		}
		for _, a := range n.Stage.Assert {
			n.Checks = append(n.Checks, b.check(a, n.scope))
		}
		if !mentionsErrors(n.Checks) && !mentionsErrors(n.While) {
			n.Checks = append(n.Checks, b.check(defaultErrors(n.Stage), n.scope))
		}
		if u, ok := n.Stage.Extent.(scenario.UntilStable); ok {
			b.stability(n, u)
		}
	}
	for _, a := range b.program.Plan.Assert {
		b.program.Assert = append(b.program.Assert, b.check(a, &scope{build: b}))
	}
	b.once()
}

// once drops the repeats of diagnostics: the levels of a stage share its expressions.
func (b *build) once() {
	seen := make(map[string]bool)
	b.diags = slices.DeleteFunc(b.diags, func(d source.Diagnostic) bool {
		key := fmt.Sprint(d.Pos, d.Code, d.Summary)
		repeated := seen[key]
		seen[key] = true
		return repeated
	})
}

func (b *build) check(a scenario.Assertion, s *scope) Check {
	p, diags := expression.Compile(a.That, s)
	b.diags = append(b.diags, diags...)
	c := Check{Assertion: a, Program: p}
	if p == nil {
		return c
	}
	c.Needed = verdict.Needed(a, p)
	b.hintHolds(c, s.node)
	return c
}

// defaultErrors is the built-in rule: no plan passes with failures that it did not allow.
func defaultErrors(s *scenario.Stage) scenario.Assertion {
	return scenario.Assertion{
		ID: DefaultErrors, Severity: result.Gate, OnNoData: "inconclusive", Use: s.IDPos,
		Description: "built in, because nothing here says how many errors are allowed: write one, such as errors.ratio < 0.1%",
		That:        source.Text{Text: metric.ErrorsCount + " == 0", Pos: s.IDPos},
	}
}

func mentionsErrors(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool {
		return c.Program != nil && slices.ContainsFunc(c.Program.Refs, func(r expression.Ref) bool {
			return r.Node == "" && !r.Baseline && strings.HasPrefix(r.Leaf.Row.Name, "errors.")
		})
	})
}

// stability resolves the metrics that windows are compared by.
func (b *build) stability(n *Node, u scenario.UntilStable) {
	for _, m := range u.Metrics {
		leaf, err := n.scope.Resolve(expression.Place{}, strings.TrimSpace(m.Text))
		switch {
		case err != nil:
			b.fail(m.Pos, codeMetric, "%s", err)
		case leaf.Row.From != metric.Sample && leaf.Row.From != metric.Flow && leaf.Row.From != metric.Counts:
			b.fail(m.Pos, codeMetric, "%s is not known for a window, only for the whole node", leaf.String())
		default:
			n.Stability = append(n.Stability, leaf)
		}
	}
}
