package program

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
)

// memoryOf is the ability that a stage's shared memory needs.
func memoryOf(m *scenario.Memory) backends.Ability {
	if m.Kind == "cuda" {
		return backends.CUDAShm
	}
	return backends.SystemShm
}

// checkMemory refuses shared memory that a target of the stage does not have.
func checkMemory(d *draft, n *Node) {
	m := n.Stage.Memory
	if m == nil {
		return
	}
	for _, k := range n.entries {
		if need := memoryOf(m).Names()[0]; k != nil && k.lacks(need) != "" {
			d.fail(m.Pos, "no-shared-memory",
				"%s", k.lacks(need)).
				Detail = "remove `shared_memory`: tensors then go over the network"
		}
	}
}

// laterMemory gathers shared memory that a backend does not have yet, or not in this binary.
func laterMemory(p *Program, n *Node) {
	m := n.Stage.Memory
	if m == nil {
		return
	}
	need := memoryOf(m)
	for _, k := range n.entries {
		switch {
		case k == nil:
		case k.kind.Later.Has(need):
			notYet(p, m.Pos, fmt.Sprintf("backend %s has no %s yet", k.kind.Name, need.Names()[0]))
		case k.abilities.Has(need) && k.kind.Absent[need] != "":
			notInBinary(p, m.Pos, need.Names()[0], k.kind.Absent[need])
		}
	}
}
