package program

import (
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
				d.fail(a.Pos, "no-model-control",
					"backend %s cannot load and unload models for this target", k.kind.Name)
			} else if a.Config != "" && k != nil && !k.abilities.Has(backends.ModelConfig) {
				d.fail(a.Pos, "no-model-config",
					"backend %s cannot load models with a configuration for this target", k.kind.Name).
					Detail = "remove `config`, or use backend triton"
			}
		}
		if memory != nil {
			if why := k.lacks(memoryOf(memory)); why != "" {
				d.fail(memory.Pos, "no-shared-memory", "%s", why).
					Detail = "remove `shared_memory`: tensors then go over the network"
			}
		}
		for _, o := range e.Request.Outputs {
			why := k.lacks(backends.Classification)
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
