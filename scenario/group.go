package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// A group of stages is one entry of `stages`; here its members are told apart from it and from each other.

// groups checks the groups of a plan.
func (c *checker) groups() {
	for _, e := range c.raw.Stages {
		if g := e.Group; g != nil {
			c.group(g)
		}
	}
	for _, s := range c.raw.flat {
		if u := s.Play.Until; u != nil && u.Word != nil && u.Word.V == "others" && s.Play.Load.searches() {
			c.at(u.Word.at, &source.Diagnostic{
				Code: codeDoesNotFit, Summary: "a search does not last until the others have ended: it ends by itself", Detail: "say with `for` how long each trial lasts",
			})
		}
		if u := s.Play.Until; s.group == nil && u != nil && u.Word != nil && u.Word.V == "others" {
			c.at(u.Word.at, &source.Diagnostic{
				Code: codeDoesNotFit, Summary: "`until: others` stands in a group only", Detail: "put the stage into `parallel`, or say how long it lasts with `for`",
			})
		}
	}
}

func (c *checker) group(g *rawGroup) {
	if len(g.Parallel) == 0 && g.At.node.Get("parallel") != nil {
		if !c.doubtful(g.At.path + "/parallel") {
			c.under(g.At, "parallel", &source.Diagnostic{Code: codeMissing, Summary: "the group has no stages"})
		}
		return
	}
	ends := false // some member does not wait for the others
	for _, s := range g.Parallel {
		u := s.Play.Until
		ends = ends || s.never() || c.doubtful(s.At.path) || u == nil || u.Word == nil || u.Word.V != "others"
	}
	if !ends {
		c.under(g.At, "parallel", &source.Diagnostic{Code: codeDoesNotFit, Summary: "every member of the group lasts until the others have ended", Detail: "say of one how long it lasts"})
	}
	c.checkNeeds(g.Needs, nil, g)
}

// checkNeeds checks the names that a stage, or a group when s is nil, waits for.
func (c *checker) checkNeeds(needs []*val[string], s *rawStage, g *rawGroup) {
	if len(needs) == 0 {
		return
	}
	ids, never := c.raw.stageIDs()
	c.unique(needs, "need")
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { // neither itself nor what starts with it
		return s != nil && s.ID != nil && s.ID.V == id ||
			g != nil && slices.ContainsFunc(g.Parallel, func(m *rawStage) bool { return m.ID != nil && m.ID.V == id })
	})
	for _, need := range needs {
		inside := g != nil && slices.ContainsFunc(g.Parallel, func(m *rawStage) bool { return m.ID != nil && m.ID.V == need.V })
		switch {
		case s != nil && s.ID != nil && need.V == s.ID.V:
			c.at(need.at, &source.Diagnostic{Code: codeUnknownName, Summary: fmt.Sprintf("stage %q needs itself", need.V)})
		case inside && s == nil:
			c.at(need.at, &source.Diagnostic{Code: codeUnknownName, Summary: fmt.Sprintf("stage %q is a member of this group", need.V)})
		case inside:
			c.at(need.at, &source.Diagnostic{
				Code: codeDoesNotFit, Summary: fmt.Sprintf("stage %q is a member of the same group, and members start together", need.V),
				Detail: "take one of them out of the group, or let it start later with `delay`",
			})
		case !known(never, need.V) && !c.raw.unread():
			c.at(need.at, &source.Diagnostic{
				Code: codeUnknownName, Summary: fmt.Sprintf("no stage is named %q", need.V), Allowed: ids, Nearest: source.Nearest(need.V, ids),
			})
		case never[need.V]:
			before := len(c.diags)
			c.at(need.at, &source.Diagnostic{Code: codeUnknownName, Summary: fmt.Sprintf("stage %q never runs; nothing waits for it", need.V)})
			for i := range c.diags[before:] {
				c.diags[before+i].Severity = source.Warning
			}
		}
	}
}

// nested words the mistake of a group in a group, which the schema sees as a key that a stage does not have.
func nested(shape source.Diagnostics) source.Diagnostics {
	inner := map[string]bool{}
	for i, d := range shape {
		if d.Code == codeUnknownKey && strings.HasPrefix(d.Path, "/stages/") && strings.HasSuffix(d.Path, "/parallel") && strings.Count(d.Path, "/parallel") == 2 {
			inner[strings.TrimSuffix(d.Path, "/parallel")] = true
			shape[i].Summary, shape[i].Detail = "a group cannot stand in another group", "its stages can stand in the outer one, each with a `delay` of its own"
			shape[i].Allowed, shape[i].Nearest = nil, ""
		}
	}
	return slices.DeleteFunc(shape, func(d source.Diagnostic) bool { return d.Code == codeMissing && inner[d.Path] })
}

// needsOf lists the stages that each stage waits for, in the order of flat: those that it and its group wrote, without stages
// that never run; else the entry before.
func needsOf(p *rawPlan) [][]Need {
	_, never := p.stageIDs()
	all := make([][]Need, len(p.flat))
	var before, entry []string // ids of the entry before, and of this one
	for i, s := range p.flat {
		if i > 0 && !beside(s, p.flat[i-1]) && len(entry) > 0 {
			before, entry = entry, nil
		}
		if s.never() {
			continue
		}
		if !slices.Contains(entry, s.ID.V) {
			entry = append(entry, s.ID.V)
		}
		written := slices.Clone(s.Needs)
		if s.group != nil {
			written = append(written, s.group.Needs...)
		}
		for _, n := range written {
			if !never[n.V] && !slices.ContainsFunc(all[i], func(other Need) bool { return other.ID == n.V }) {
				all[i] = append(all[i], Need{ID: n.V, Pos: n.at.pos()})
			}
		}
		if s.Needs != nil || s.group != nil && s.group.Needs != nil {
			continue
		}
		for _, id := range before {
			all[i] = append(all[i], Need{ID: id, Implied: true, Pos: s.At.pos()})
		}
	}
	return all
}

// beside reports whether two stages are of one entry: members of a group, or points of one matrix.
func beside(s, other *rawStage) bool {
	return s.index == other.index || s.ID.V == other.ID.V
}

// delayOf is the time after which a stage starts once its entry could.
func delayOf(s *rawStage) time.Duration {
	if s.group == nil {
		return s.Play.Delay.V
	}
	return s.Play.Delay.V + s.group.Delay.V
}
