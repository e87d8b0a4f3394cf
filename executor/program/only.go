package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Only cuts a plan down to the stages that are named and those whose results they use, in
// assertions, conditions or loads. What else they need is as if absent: a stage that was to wait
// for another's failure runs, and so does one with `when: never`. The plan's own assertions stay
// where all that they read is left.
func Only(p *scenario.Plan, kinds []backends.Kind, ids []string) error {
	var known []string
	for _, s := range p.Stages {
		known = append(known, s.ID)
		if slices.Contains(ids, s.ID) && s.When == "never" {
			s.When = "success"
		}
	}
	known = slices.Compact(known)
	for _, id := range ids {
		if slices.Contains(known, id) {
			continue
		}
		if near := source.Nearest(id, known); near != "" {
			return fmt.Errorf("there is no stage %q; did you mean %q?", id, near)
		}
		return fmt.Errorf("there is no stage %q, only %s", id, strings.Join(known, ", "))
	}
	program, _ := Compile(p, kinds) // who compiles what is left reports its diagnostics
	kept := usedStages(program, ids)
	var list []*scenario.Stage
	// set when all have been looked through: they go through those that are dropped
	var needs [][]scenario.Need
	for _, s := range p.Stages {
		if !slices.Contains(kept, s.ID) {
			continue
		}
		need := needsAmong(p.Stages, s, kept)
		if s.When == "failure" && len(need) == 0 {
			s.When = "success"
		}
		list, needs = append(list, s), append(needs, need)
	}
	for i := range list {
		list[i].Needs = needs[i]
	}
	p.Stages = list
	var assert []scenario.Assertion
	isGone := func(id string) bool { return !slices.Contains(kept, id) }
	for _, c := range program.Assert {
		if !slices.ContainsFunc(stagesRead(program, c), isGone) {
			assert = append(assert, c.Assertion)
		}
	}
	p.Assert = assert
	dropUnused(p)
	p.Overlays = append(p.Overlays, "--only "+strings.Join(ids, ", "))
	return nil
}

// dropUnused leaves out the targets and datasets that no stage of p uses any more.
func dropUnused(p *scenario.Plan) {
	targets, datasets := make(map[*scenario.Target]bool), make(map[*scenario.Dataset]bool)
	for _, s := range p.Stages {
		for _, e := range s.Entries() {
			targets[e.Request.Target], datasets[e.Request.Data] = true, true
		}
	}
	p.Targets = slices.DeleteFunc(p.Targets, func(t *scenario.Target) bool { return !targets[t] })
	p.Datasets = slices.DeleteFunc(p.Datasets, func(d *scenario.Dataset) bool { return !datasets[d] })
}

// needsAmong lists the needs of a stage among those that are kept: its own, and through one that is
// dropped those of that.
func needsAmong(all []*scenario.Stage, s *scenario.Stage, kept []string) (list []scenario.Need) {
	seen := map[string]bool{s.ID: true}
	for rest := slices.Clone(s.Needs); len(rest) > 0; rest = rest[1:] {
		n := rest[0]
		if seen[n.ID] {
			continue
		}
		seen[n.ID] = true
		if slices.Contains(kept, n.ID) {
			list = append(list, n)
			continue
		}
		for _, o := range all {
			if o.ID == n.ID {
				rest = append(rest, o.Needs...)
			}
		}
	}
	return list
}

// usedStages lists the stages ids and those whose results they read, over any number of steps, and
// the rest of a group one of whose members lasts as long as the others.
func usedStages(p *Program, ids []string) []string {
	kept := slices.Clone(ids)
	for i := 0; i < len(kept); i++ { // it grows
		for _, n := range p.Nodes {
			if n.Stage.ID != kept[i] {
				continue
			}
			for _, id := range neededStages(p, n) {
				if !slices.Contains(kept, id) {
					kept = append(kept, id)
				}
			}
		}
	}
	return kept
}

// neededStages lists the stages that a node cannot do without.
func neededStages(p *Program, n *Node) (ids []string) {
	for _, c := range slices.Concat(n.Checks, n.While) {
		ids = append(ids, stagesRead(p, c)...)
	}
	for _, d := range n.takes {
		ids = append(ids, d.from.Stage.ID)
	}
	if n.WaitsForOthers() && n.Stage.Group != nil {
		for _, other := range p.Nodes {
			if g := other.Stage.Group; g != nil && g.Index == n.Stage.Group.Index {
				ids = append(ids, other.Stage.ID)
			}
		}
	}
	return ids
}

// stagesRead lists the stages that an expression names.
func stagesRead(p *Program, c Check) (ids []string) {
	for _, r := range c.Refs {
		if r.Baseline {
			continue // of another result
		}
		for _, n := range p.Nodes {
			if r.Node != "" && (n.ID == r.Node || n.Stage.ID == r.Node) {
				ids = append(ids, n.Stage.ID)
			}
		}
	}
	return ids
}
