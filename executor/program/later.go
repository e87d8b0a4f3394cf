package program

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
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
	for _, diag := range d.diags { // what another package cannot do yet is no mistake of the plan
		if diag.Code == "not-built-yet" {
			p.Later = append(p.Later, diag)
		}
	}
	d.diags = slices.DeleteFunc(d.diags, func(diag source.Diagnostic) bool { return diag.Code == "not-built-yet" })
	for _, t := range p.Plan.Targets {
		listed := func(diag source.Diagnostic) bool {
			return slices.Contains(targetPaths(t, "backend"), diag.Path)
		}
		if k := d.targets[t]; k != nil && k.kind.Open == nil && !slices.ContainsFunc(p.Plan.Later, listed) {
			absentBackend(d.program, t, k.kind)
		}
	}
	for _, n := range p.Nodes {
		laterActions(d.program, n)
		laterMemory(d.program, n)
		for _, x := range n.Stage.Goodput {
			if row, ok := rowOf(n, strings.TrimSpace(x.Metric.Text)); ok && row.Later {
				notYet(d.program, x.Metric.Pos, row.Name+" is not measured yet")
			}
		}
		laterMetrics(d.program, n.Checks)
		laterMetrics(d.program, n.While)
		for _, l := range n.Stability {
			if u, ok := n.Stage.Extent.(scenario.UntilStable); ok && l.Row.Later {
				notYet(d.program, u.Metrics[0].Pos, l.Row.Name+" is not measured yet")
			}
		}
	}
	laterMetrics(d.program, p.Assert)
	p.Later = p.Later.Sorted()
}

// absentBackend gathers that a target's backend is not in this binary.
func absentBackend(p *Program, t *scenario.Target, k *backends.Kind) {
	pos := keyPos(t, "backend")
	if k.Missing == "" {
		notYet(p, pos, "backend "+k.Name+" is not built yet")
		return
	}
	notInBinary(p, pos, "backend "+k.Name, k.Missing)
}

// notInBinary gathers once what is not in this binary, and how to get one that has it.
func notInBinary(p *Program, pos source.Pos, what, how string) {
	diag := source.Diagnostic{
		Severity: source.Error, Code: "not-built-yet", Pos: pos, Summary: "this binary was built without " + what,
		Detail: how,
	}
	if !slices.ContainsFunc(p.Later, func(o source.Diagnostic) bool { return o.Pos == diag.Pos }) {
		p.Later = append(p.Later, diag)
	}
}

// targetPaths are the JSON pointers by which a plan may name a key of a target.
func targetPaths(t *scenario.Target, key string) []string {
	paths := []string{"/targets" + source.JoinPointer(t.Name) + "/" + key}
	if t.Name == "main" {
		paths = append(paths, "/target/"+key)
	}
	return paths
}

// rowOf is a row of the node's catalogue.
func rowOf(n *Node, name string) (*metric.Row, bool) {
	if n.Catalogue == nil {
		return nil, false
	}
	return n.Catalogue.Row(name)
}

func laterMetrics(p *Program, checks []Check) {
	for _, c := range checks {
		for _, r := range c.Program.Refs {
			pos, row := c.Assertion.That.At(r.At[0]), r.Leaf.Row
			if row.Later {
				notYet(p, pos, row.Name+" is not measured yet")
			}
		}
	}
}

// notYet says once what cannot be run, however many nodes share the place, and not where the plan's
// own list has it.
func notYet(p *Program, pos source.Pos, summary string) {
	diag := source.Diagnostic{Severity: source.Error, Code: "not-built-yet", Pos: pos, Summary: summary}
	if !slices.ContainsFunc(p.Later, func(o source.Diagnostic) bool { return o.Pos == diag.Pos }) {
		p.Later = append(p.Later, diag)
	}
}
