package scenario

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// A group of stages is one entry of `stages`; these checks are
// about its members and the group itself.

// checkGroups checks the groups of a plan.
func checkGroups(c *checker) {
	for _, e := range c.raw.Stages {
		if g := e.Group; g != nil {
			checkGroup(c, g)
		}
	}
	for _, s := range c.raw.Flat {
		if !untilOthers(s) {
			continue
		}
		at := s.Play.Until.Word.At
		if s.Play.Load.Searches() {
			c.at(at, doesNotFit("a search does not last until the others have ended: it ends by itself").
				Help("say with `for` how long each trial lasts"))
		}
		if s.Group == nil {
			c.at(at, doesNotFit("`until: others` is valid in a group only").
				Help("put the stage into `parallel`, or say how long it lasts with `for`"))
		}
	}
}

// untilOthers reports whether a stage lasts until the other members of its group have ended.
func untilOthers(s *language.Stage) bool {
	u := s.Play.Until
	return u != nil && u.Word.Or("") == "others"
}

func checkGroup(c *checker, g *language.Group) {
	ends := len(g.Parallel) == 0 ||
		slices.ContainsFunc(g.Parallel, func(s *language.Stage) bool { // does not wait for the others
			return s.Never() || c.Doubtful(s.At.Path) || !untilOthers(s)
		})
	if !ends {
		c.under(g.At, "parallel",
			doesNotFit("every member of the group lasts until the others have ended").
				Help("say of one how long it lasts"),
		)
	}
	checkNeeds(c, g.Needs, nil, g)
}

// checkNeeds checks the names that a stage, or a group when s is nil, waits for.
func checkNeeds(c *checker, needs []*language.Val[string], s *language.Stage, g *language.Group) {
	if len(needs) == 0 {
		return
	}
	all, never := c.raw.StageIDs()
	inGroup := func(id string) bool {
		return g != nil && slices.ContainsFunc(g.Parallel, func(m *language.Stage) bool {
			return hasID(m, id)
		})
	}
	others := slices.DeleteFunc(slices.Clone(all), func(id string) bool {
		return hasID(s, id) || inGroup(id)
	})
	for _, need := range needs {
		inside := inGroup(need.V)
		_, known := never[need.V]
		switch {
		case hasID(s, need.V):
			c.at(need.At, source.Errorf(source.CodeUnknownName, "stage %q needs itself", need.V))
		case inside && s == nil:
			c.at(need.At, source.Errorf(source.CodeUnknownName, "stage %q is a member of this group", need.V))
		case inside:
			c.at(need.At,
				doesNotFit("stage %q is a member of the same group, and members start together",
					need.V).Help("take one of them out of the group, or let it start later with `delay`"))
		case !known && !c.raw.Unread():
			c.at(need.At, source.Errorf(source.CodeUnknownName, "no stage is named %q", need.V).
				Among(source.Nearest(need.V, others), others))
		case never[need.V]:
			c.at(need.At, source.Warnf(source.CodeUnknownName,
				"stage %q never runs; nothing waits for it", need.V))
		}
	}
}

func hasID(s *language.Stage, id string) bool { return s != nil && s.ID != nil && s.ID.V == id }

// nested words the mistake of a group in a group, which the schema sees as a key that a stage does
// not have.
func nested(shape source.Diagnostics) source.Diagnostics {
	inner := map[string]bool{}
	for i, d := range shape {
		if d.Code == source.CodeUnknownKey && strings.HasPrefix(d.Path, "/stages/") &&
			strings.HasSuffix(d.Path, "/parallel") && strings.Count(d.Path, "/parallel") == 2 {
			inner[strings.TrimSuffix(d.Path, "/parallel")] = true
			shape[i].Summary = "a group cannot be nested in another group"
			shape[i].Detail = "its stages can be in the outer one, each with a `delay` of its own"
			shape[i].Allowed, shape[i].Nearest = nil, ""
		}
	}
	return slices.DeleteFunc(shape,
		func(d source.Diagnostic) bool { return d.Code == source.CodeMissing && inner[d.Path] })
}

// needsOf lists the stages that each stage waits for, in the order of flat: those that it and its
// checkGroup wrote, without stages that never run; else the entry before.
func needsOf(p *language.Plan) [][]Need {
	_, never := p.StageIDs()
	all := make([][]Need, len(p.Flat))
	var before, entry []string // ids of the entry before, and of this one
	for i, s := range p.Flat {
		if i > 0 && s.Index != p.Flat[i-1].Index && s.ID.V != p.Flat[i-1].ID.V && len(entry) > 0 {
			before, entry = entry, nil // neither of one group nor points of one matrix
		}
		if s.Never() {
			continue
		}
		if !slices.Contains(entry, s.ID.V) {
			entry = append(entry, s.ID.V)
		}
		written := slices.Clone(s.Needs)
		if s.Group != nil {
			written = append(written, s.Group.Needs...)
		}
		for _, n := range written {
			if !never[n.V] && !slices.ContainsFunc(all[i], func(other Need) bool { return other.ID == n.V }) {
				all[i] = append(all[i], Need{ID: n.V, Pos: n.At.Pos()})
			}
		}
		if s.Needs != nil || s.Group != nil && s.Group.Needs != nil {
			continue
		}
		for _, id := range before {
			all[i] = append(all[i], Need{ID: id, Implied: true, Pos: s.At.Pos()})
		}
	}
	return all
}
