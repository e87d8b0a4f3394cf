package program

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
)

// checkReach reports stages that cannot run, whatever happens. It reads the stages in running order.
func checkReach(d *draft) {
	forFailure := slices.DeleteFunc(slices.Clone(d.stages),
		func(s *stagePoints) bool { return s.When != "failure" })
	if len(forFailure) == 0 {
		return
	}
	must := mustSucceed(d)
	for i, s := range d.stages {
		switch {
		case s.When == "failure" &&
			!slices.ContainsFunc(s.Needs, func(n scenario.Need) bool { return d.byID[n.ID] != nil }):
			d.warn(s.IDPos, "never-runs",
				"stage %q never runs: it waits for a failure, and nothing that runs is among its "+
					"`needs`", s.ID).
				Detail = "name the stages whose failure it is for"
		case s.When == "success":
			checkContradiction(d, s, &must[i], forFailure)
		}
	}
}

// checkContradiction reports a stage that needs the success of one that only runs when something
// has failed, and the success of all that could have failed for it.
func checkContradiction(d *draft, s *stagePoints, must *big.Int, forFailure []*stagePoints) {
	mayFail := func(n scenario.Need) bool {
		other := d.byID[n.ID]
		return other != nil && must.Bit(other.at) == 0
	}
	for _, other := range forFailure {
		if must.Bit(other.at) == 0 || len(other.Needs) == 0 || slices.ContainsFunc(other.Needs, mayFail) {
			continue
		}
		d.fail(s.IDPos, "never-runs",
			"stage %q never runs: it needs stage %q, which only runs when %s",
			s.ID, other.ID, failingNeeds(d.byID, other)).
			Detail = "the same failure stops this one: use `when: always`, or leave it out of `needs`"
	}
}

// mustSucceed collects for each stage those without whose success it does not run, as sets of bits by
// their place in running order: sets of as many stages as a plan may have grow by words. Stages that one
// needs come before it.
func mustSucceed(d *draft) []big.Int {
	sets := make([]big.Int, len(d.stages))
	for i, s := range d.stages {
		if s.When != "success" {
			continue
		}
		for _, n := range s.Needs {
			if other := d.byID[n.ID]; other != nil && other.OnFail != "continue" {
				sets[i].SetBit(sets[i].Or(&sets[i], &sets[other.at]), other.at, 1)
			}
		}
	}
	return sets
}

// failingNeeds names what has to fail for a stage.
func failingNeeds(byID map[string]*stagePoints, s *stagePoints) string {
	var ids []string
	for _, n := range s.Needs {
		if byID[n.ID] != nil {
			ids = append(ids, fmt.Sprintf("%q", n.ID))
		}
	}
	return strings.Join(ids, " or ") + " failed"
}
