package program

import (
	"slices"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// collectMissing adds Program.Missing: the backends and abilities of the plan that this binary was built
// without. It is the last pass.
func collectMissing(d *draft) {
	p := d.Program
	for _, t := range p.Plan.Targets {
		if k := d.targets[t]; k != nil && k.kind.Open == nil {
			missing(p, keyPos(t, "backend"), k.kind.Missing, "backend "+k.kind.Name)
		}
	}
	for _, n := range p.Nodes {
		if m := n.Stage.Memory; m != nil {
			missingMemory(p, n, m)
		}
	}
	p.Missing = p.Missing.Sorted()
}

// missingMemory adds shared memory that a target has, and this binary has not.
func missingMemory(p *Program, n *Node, m *scenario.Memory) {
	need := memoryOf(m)
	for _, k := range n.entries {
		if k != nil && k.abilities.Has(need) && k.kind.Absent[need] != "" {
			missing(p, m.Pos, k.kind.Absent[need], need.Names()[0])
		}
	}
}

// missing says once what this binary lacks, however many nodes share the place; how says how to get one
// that has it.
func missing(p *Program, pos source.Pos, how, what string) {
	if !slices.ContainsFunc(p.Missing, func(o source.Diagnostic) bool { return o.Pos == pos }) {
		p.Missing = append(p.Missing,
			source.Errorf(source.CodeNotInBinary, "this binary was built without %s", what).Help(how).At("", pos, 0))
	}
}
