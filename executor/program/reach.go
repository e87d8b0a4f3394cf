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
	var forFailure []int // stages that only run when something has failed
	for i, s := range d.stages {
		if s.first().When == "failure" {
			forFailure = append(forFailure, i)
		}
	}
	if forFailure == nil {
		return
	}
	must := mustSucceed(d)
	for i, s := range d.stages {
		first := s.first()
		switch {
		case first.When == "failure" &&
			!slices.ContainsFunc(first.Needs, func(n scenario.Need) bool { return d.byID[n.ID] != nil }):
			d.warn(first.IDPos, "never-runs",
				"stage %q never runs: it waits for a failure, and nothing that runs is among its "+
					"`needs`", s.id).
				Detail = "name the stages whose failure it is for"
		case first.When == "success":
			checkContradiction(d, s, must, i, forFailure)
		}
	}
}

// checkContradiction reports a stage that needs the success of one that only runs when something
// has failed, and the success of all that could have failed for it.
func checkContradiction(d *draft, s *stagePoints, must *closure, at int, forFailure []int) {
	for _, i := range forFailure {
		other := d.stages[i]
		if !must.has(at, i) || len(other.first().Needs) == 0 {
			continue
		}
		fine := func(n scenario.Need) bool { return d.byID[n.ID] != nil && !must.has(at, must.index[n.ID]) }
		if slices.ContainsFunc(other.first().Needs, fine) {
			continue
		}
		d.fail(s.first().IDPos, "never-runs",
			"stage %q never runs: it needs stage %q, which only runs when %s",
			s.id, other.id, failingNeeds(d.byID, other)).
			Detail = "the same failure stops this one: use `when: always`, or leave it out of `needs`"
	}
}

// closure says of each stage which others must have succeeded for it to run, as a set of bits: sets
// of as many stages as a plan may have grow by words.
type closure struct {
	index map[string]int // of a stage, by its id
	sets  []*big.Int
}

func (c *closure) has(at, other int) bool { return c.sets[at].Bit(other) == 1 }

// mustSucceed collects the stages without whose success each does not run. Stages are in running
// order, so that those that one needs have their sets before it.
func mustSucceed(d *draft) *closure {
	c := &closure{index: make(map[string]int, len(d.stages))}
	for i, s := range d.stages {
		c.index[s.id], c.sets = i, append(c.sets, new(big.Int))
	}
	for i, s := range d.stages {
		if s.first().When != "success" {
			continue
		}
		for _, n := range s.first().Needs {
			if other := d.byID[n.ID]; other != nil && other.first().OnFail != "continue" {
				at := c.index[n.ID]
				c.sets[i].SetBit(c.sets[i].Or(c.sets[i], c.sets[at]), at, 1)
			}
		}
	}
	return c
}

// failingNeeds names what has to fail for a stage.
func failingNeeds(byID map[string]*stagePoints, s *stagePoints) string {
	var ids []string
	for _, n := range s.first().Needs {
		if byID[n.ID] != nil {
			ids = append(ids, fmt.Sprintf("%q", n.ID))
		}
	}
	return strings.Join(ids, " or ") + " failed"
}
