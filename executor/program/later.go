package program

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// collectLater gathers what the program needs and this version cannot run: what the plan says that
// nothing plays yet, backends that are only known, abilities that they do not have yet, metrics
// that nothing measures. It is the last pass and adds Program.Later.
func collectLater(d *draft) {
	p := d.program
	// such a key is to be removed, not to be waited for
	p.Later = slices.DeleteFunc(slices.Clone(p.Plan.Later), func(diag source.Diagnostic) bool {
		return slices.ContainsFunc(d.unread,
			func(key string) bool { return diag.Path == key || strings.HasPrefix(diag.Path, key+"/") })
	})
	d.diags = slices.DeleteFunc(d.diags, func(diag source.Diagnostic) bool {
		other := diag.Code == "not-built-yet" // what another package cannot do yet is no mistake of the plan
		if other {
			p.Later = append(p.Later, diag)
		}
		return other
	})
	for _, t := range p.Plan.Targets {
		listed := func(diag source.Diagnostic) bool {
			return slices.Contains(targetPaths(t, "backend"), diag.Path)
		}
		k, pos := d.targets[t], keyPos(t, "backend")
		switch {
		case k == nil || k.kind.Open != nil || slices.ContainsFunc(p.Plan.Later, listed):
		case k.kind.Missing == "":
			notYet(p, pos, "backend "+k.kind.Name+" is not built yet")
		default:
			notInBinary(p, pos, "backend "+k.kind.Name, k.kind.Missing)
		}
	}
	for _, n := range p.Nodes {
		laterAbilities(p, n)
		for _, x := range n.Stage.Goodput {
			if row, ok := rowOf(n, strings.TrimSpace(x.Metric.Text)); ok && row.Later {
				notYet(p, x.Metric.Pos, row.Name+" is not measured yet")
			}
		}
		for _, l := range n.Stability {
			if u, ok := n.Stage.Extent.(scenario.UntilStable); ok && l.Row.Later {
				notYet(p, u.Metrics[0].Pos, l.Row.Name+" is not measured yet")
			}
		}
	}
	laterMetrics(p)
	p.Later = p.Later.Sorted()
}

// targetPaths lists the JSON pointers by which a plan may name a key of a target.
func targetPaths(t *scenario.Target, key string) []string {
	paths := []string{"/targets" + source.JoinPointer(t.Name) + "/" + key}
	if t.Name == "main" {
		paths = append(paths, "/target/"+key)
	}
	return paths
}

// rowOf returns a row of the node's catalogue.
func rowOf(n *Node, name string) (*metric.Row, bool) {
	if n.Catalogue == nil {
		return nil, false
	}
	return n.Catalogue.Row(name)
}

// laterMetrics gathers the metrics of checks that nothing measures yet.
func laterMetrics(p *Program) {
	for _, c := range p.checks() {
		for _, r := range c.Program.Refs {
			if row := r.Leaf.Row; row.Later {
				notYet(p, c.Assertion.That.At(r.At[0]), row.Name+" is not measured yet")
			}
		}
	}
}

// notYet says what cannot be run.
func notYet(p *Program, pos source.Pos, summary string) { cannotRun(p, pos, summary, "") }

// notInBinary says what is not in this binary, and how to get one that has it.
func notInBinary(p *Program, pos source.Pos, what, how string) {
	cannotRun(p, pos, "this binary was built without "+what, how)
}

// cannotRun says once what cannot be run, however many nodes share the place, and not where the
// plan's own list has it.
func cannotRun(p *Program, pos source.Pos, summary, detail string) {
	if !slices.ContainsFunc(p.Later, func(o source.Diagnostic) bool { return o.Pos == pos }) {
		p.Later = append(p.Later, source.Diagnostic{
			Severity: source.Error, Code: "not-built-yet", Pos: pos, Summary: summary, Detail: detail,
		})
	}
}
