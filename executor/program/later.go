package program

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// collectLater gathers what the program needs and this version cannot run: what the plan says that
// nothing plays yet, backends that are only known, abilities that this binary lacks. It is the
// last pass and adds Program.Later.
func collectLater(d *draft) {
	p := d.Program
	// such a key is to be removed, not to be waited for
	p.Later = slices.DeleteFunc(slices.Clone(p.Plan.Later), func(diag source.Diagnostic) bool {
		return slices.ContainsFunc(d.unread,
			func(key string) bool { return diag.Path == key || strings.HasPrefix(diag.Path, key+"/") })
	})
	d.diags = slices.DeleteFunc(d.diags, func(diag source.Diagnostic) bool {
		other := diag.Code == source.CodeNotBuilt // by another package: it is no mistake of the plan
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
			notYet(p, pos, "", "backend %s is not built yet", k.kind.Name)
		default:
			notYet(p, pos, k.kind.Missing, "this binary was built without backend %s", k.kind.Name)
		}
	}
	for _, n := range p.Nodes {
		if m := n.Stage.Memory; m != nil {
			laterMemory(p, n, m)
		}
	}
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

// laterMemory gathers shared memory that a target has, and this binary has not.
func laterMemory(p *Program, n *Node, m *scenario.Memory) {
	need := memoryOf(m)
	for _, k := range n.entries {
		if k != nil && k.abilities.Has(need) && k.kind.Absent[need] != "" {
			notYet(p, m.Pos, k.kind.Absent[need], "this binary was built without %s", need.Names()[0])
		}
	}
}

// notYet says once what cannot be run, however many nodes share the place, and not where the plan's
// own list has it; detail says how to get a binary that can.
func notYet(p *Program, pos source.Pos, detail, format string, args ...any) {
	if !slices.ContainsFunc(p.Later, func(o source.Diagnostic) bool { return o.Pos == pos }) {
		p.Later = append(p.Later,
			source.Errorf(source.CodeNotBuilt, format, args...).Help(detail).At("", pos, 0))
	}
}
