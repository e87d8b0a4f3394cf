package scenario

import (
	"fmt"
	"reflect"
	"slices"
)

// flatten lists the stages with the members of groups in their places, each with its group.
func (p *rawPlan) flatten() {
	for i, e := range p.Stages {
		switch {
		case e.Stage != nil:
			e.Stage.index = i
			p.flat = append(p.flat, e.Stage)
		case e.Group != nil:
			for _, s := range e.Group.Parallel {
				s.group, s.index = e.Group, i
				if s.When == nil && e.Group.When != nil {
					s.When = e.Group.When
				}
				p.flat = append(p.flat, s)
			}
		}
	}
}

// never reports whether the stage is as if absent.
func (s *rawStage) never() bool { return s.When != nil && s.When.V == "never" }

// requests are the kinds of request of a stage: those of its mix, else its own.
func (s *rawStage) requests() []rawRequest {
	if s.Mix == nil {
		return []rawRequest{s.Play.Request}
	}
	var all []rawRequest
	for _, e := range s.Mix.items() {
		all = append(all, e.Value.Request)
	}
	return all
}

// searches reports whether the load is looked for.
func (l *rawLoad) searches() bool {
	return l != nil && (l.Concurrency != nil && l.Concurrency.Search != nil || l.Rate != nil && l.Rate.Search != nil)
}

// stageIDs lists the ids of the stages in document order, and says of each whether it never runs.
func (p *rawPlan) stageIDs() (ids []string, never map[string]bool) {
	never = map[string]bool{}
	for _, s := range p.flat {
		if s.ID == nil {
			continue
		}
		if _, point := never[s.ID.V]; !point { // else it is one of a matrix
			ids = append(ids, s.ID.V)
		}
		never[s.ID.V] = s.never()
	}
	return ids, never
}

// unread reports whether the ids of some stages could not be read, so that an id that is not found may be theirs.
func (p *rawPlan) unread() bool {
	list := p.At.node.Get("stages")
	unread := list == nil || len(list.Items) != len(p.Stages) ||
		slices.ContainsFunc(p.flat, func(s *rawStage) bool { return s.ID == nil })
	for _, e := range p.Stages {
		if g := e.Group; g != nil {
			members := g.At.node.Get("parallel")
			unread = unread || members == nil || len(members.Items) != len(g.Parallel)
		}
	}
	return unread
}

// id is the assertion's stable name: as written, else by its place.
func (a *rawAssertion) id(owner string, index int) string {
	if a.ID != nil {
		return a.ID.V
	}
	return fmt.Sprintf("%s/%d", owner, index+1)
}

// usedBy is a copy of an slo's assertion as a stage uses it: what the use writes beside the name wins. An id gets the
// stage's name before it, because several stages may use the slo.
func (a *rawAssertion) usedBy(use *rawAssertion, owner string) *rawAssertion {
	copied := *a
	if a.ID != nil {
		copied.ID = &val[string]{owner + "/" + a.ID.V, a.ID.at}
	}
	copied.SLO, copied.fromSLO, copied.usedAt = nil, use.SLO.V, use.SLO.at.pos()
	from, to := reflect.ValueOf(use).Elem(), reflect.ValueOf(&copied).Elem()
	for _, f := range fields(from.Type()) {
		if v := from.FieldByIndex(f.index); f.key != "slo" && f.key != "that" && !v.IsNil() {
			to.FieldByIndex(f.index).Set(v)
		}
	}
	return &copied
}
