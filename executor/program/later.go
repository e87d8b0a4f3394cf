package program

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// later gathers what the program needs and this version cannot run: what the plan says that nothing plays yet, backends
// that are only known, abilities that they do not have yet, metrics that nothing measures. It is the last step of Compile.
func (b *build) later() {
	p := b.program
	p.Later = slices.DeleteFunc(slices.Clone(p.Plan.Later), func(d source.Diagnostic) bool { // such a key is to be removed, not to be waited for
		return slices.ContainsFunc(b.unread, func(key string) bool { return d.Path == key || strings.HasPrefix(d.Path, key+"/") })
	})
	for _, d := range b.diags { // what another package cannot do yet is no mistake of the plan
		if d.Code == codeNotBuilt {
			p.Later = append(p.Later, d)
		}
	}
	b.diags = slices.DeleteFunc(b.diags, func(d source.Diagnostic) bool { return d.Code == codeNotBuilt })
	for _, t := range p.Plan.Targets {
		listed := func(d source.Diagnostic) bool {
			return slices.Contains(targetPaths(t, "backend"), d.Path)
		}
		if k := b.targets[t]; k != nil && k.kind.Open == nil && !slices.ContainsFunc(p.Plan.Later, listed) {
			b.absent(t, k.kind)
		}
	}
	for _, n := range p.Nodes {
		b.laterActions(n)
		b.laterMemory(n)
		for _, x := range n.Stage.Goodput {
			if row, ok := n.row(strings.TrimSpace(x.Metric.Text)); ok && row.Later {
				b.notYet(x.Metric.Pos, row.Name+" is not measured yet")
			}
		}
		b.laterMetrics(n.Checks)
		b.laterMetrics(n.While)
		for _, l := range n.Stability {
			if u, ok := n.Stage.Extent.(scenario.UntilStable); ok && l.Row.Later {
				b.notYet(u.Metrics[0].Pos, l.Row.Name+" is not measured yet")
			}
		}
	}
	b.laterMetrics(p.Assert)
	p.Later = p.Later.Sorted()
}

// absent gathers that a target's backend is not in this binary.
func (b *build) absent(t *scenario.Target, k *backends.Kind) {
	pos := keyPos(t, "backend")
	if k.Missing == "" {
		b.notYet(pos, "backend "+k.Name+" is not built yet")
		return
	}
	b.without(pos, "backend "+k.Name, k.Missing)
}

// without gathers once what is not in this binary, and how to get one that has it.
func (b *build) without(pos source.Pos, what, how string) {
	d := source.Diagnostic{Severity: source.Error, Code: codeNotBuilt, Pos: pos, Summary: "this binary was built without " + what, Detail: how}
	if !slices.ContainsFunc(b.program.Later, func(o source.Diagnostic) bool { return o.Pos == d.Pos }) {
		b.program.Later = append(b.program.Later, d)
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

// row is a row of the node's catalogue.
func (n *Node) row(name string) (*metric.Row, bool) {
	if n.Catalogue == nil {
		return nil, false
	}
	return n.Catalogue.Row(name)
}

func (b *build) laterMetrics(checks []Check) {
	for _, c := range checks {
		if c.Program == nil {
			continue
		}
		for _, r := range c.Program.Refs {
			pos, row := c.Assertion.That.At(r.At[0]), r.Leaf.Row
			if row.Later {
				b.notYet(pos, row.Name+" is not measured yet")
			}
		}
	}
}

// notYet says once what cannot be run, however many nodes share the place, and not where the plan's own list has it.
func (b *build) notYet(pos source.Pos, summary string) {
	d := source.Diagnostic{Severity: source.Error, Code: codeNotBuilt, Pos: pos, Summary: summary}
	if !slices.ContainsFunc(b.program.Later, func(o source.Diagnostic) bool { return o.Pos == d.Pos }) {
		b.program.Later = append(b.program.Later, d)
	}
}
