package executor

import (
	"slices"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// later gathers what the program needs and this version cannot run: what the plan says that nothing plays yet, backends
// that are only known, metrics that nothing measures. It is the last step of Compile.
func (b *build) later() {
	p := b.program
	p.Later = slices.Clone(p.Plan.Later)
	for _, t := range p.Plan.Targets {
		if k := b.targets[t]; k != nil && k.kind.Open == nil {
			b.notYet(keyPos(t, "backend"), "backend "+k.kind.Name+" is not built yet")
		}
	}
	for _, n := range p.Nodes {
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

func (b *build) laterMetrics(checks []Check) {
	for _, c := range checks {
		if c.Program == nil {
			continue
		}
		for _, r := range c.Program.Refs {
			if row := r.Leaf.Row; row.Later {
				b.notYet(c.Assertion.That.At(r.At[0]), row.Name+" is not measured yet")
			}
		}
	}
}

// notYet says once what cannot be run, however many nodes share the place, and not where the plan's own list has it.
func (b *build) notYet(pos source.Pos, summary string) {
	d := source.Diagnostic{Severity: source.Error, Code: codeNotBuilt, Pos: pos, Summary: summary}
	if !slices.ContainsFunc(b.program.Later, func(o source.Diagnostic) bool { return o.Pos == d.Pos }) {
		d.Detail = "the plan is right and can be checked and drawn, but this version cannot run it"
		b.program.Later = append(b.program.Later, d)
	}
}
