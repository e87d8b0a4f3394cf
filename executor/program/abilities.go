package program

import (
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
)

// checkAbilities refuses what a target of the stage cannot do: load and unload models, take tensors
// in shared memory, give classes in place of outputs.
func checkAbilities(d *draft, n *Node) {
	memory := n.Stage.Memory
	for i, e := range n.Stage.Entries() {
		k := n.entries[i]
		for _, a := range models(n.Stage) {
			if k != nil && !k.abilities.Has(backends.ModelControl) {
				d.fail(a.Pos, "no-model-control", "backend %s cannot load and unload models for this target",
					k.kind.Name)
			}
		}
		if memory != nil {
			if why := k.lacks(memoryOf(memory).Names()[0]); why != "" {
				d.fail(memory.Pos, "no-shared-memory", "%s", why).
					Detail = "remove `shared_memory`: tensors then go over the network"
			}
		}
		for _, o := range e.Request.Outputs {
			why := k.lacks(backends.Classification.Names()[0])
			switch {
			case o.Classification == 0:
			case why != "":
				d.fail(o.Pos, "no-classes", "%s", why).
					Detail = "remove `classification`: the output then comes whole"
			case memory != nil:
				d.fail(o.Pos, "no-classes",
					"output %q is wanted as classes, which servers do not put into shared memory", o.Name).
					Detail = "remove `classification`, or `shared_memory`"
			}
		}
	}
}

// laterAbilities gathers what a target of the stage can do, though not yet here, or not in this
// binary.
func laterAbilities(p *Program, n *Node) {
	for _, k := range n.entries {
		if k == nil {
			continue
		}
		for _, a := range models(n.Stage) {
			if k.abilities.Has(backends.ModelControl) && k.kind.Later.Has(backends.ModelControl) {
				notYet(p, a.Pos, fmt.Sprintf("backend %s does not load and unload models yet", k.kind.Name))
			}
		}
		m := n.Stage.Memory
		if m == nil {
			continue
		}
		need := memoryOf(m)
		switch name := need.Names()[0]; {
		case k.kind.Later.Has(need):
			notYet(p, m.Pos, fmt.Sprintf("backend %s has no %s yet", k.kind.Name, name))
		case k.abilities.Has(need) && k.kind.Absent[need] != "":
			notInBinary(p, m.Pos, name, k.kind.Absent[need])
		}
	}
}

// models lists the actions of a stage that load and unload models.
func models(s *scenario.Stage) []scenario.Action {
	return slices.DeleteFunc(slices.Concat(s.Before, s.After), func(a scenario.Action) bool {
		return a.LoadModel == "" && a.UnloadModel == ""
	})
}

// memoryOf returns the ability that a stage's shared memory needs.
func memoryOf(m *scenario.Memory) backends.Ability {
	if m.Kind == "cuda" {
		return backends.CUDAShm
	}
	return backends.SystemShm
}
