package layer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

const axisPrefix = "matrix."

// ofMatrix reports whether the name is that of a value of a point.
func ofMatrix(name string) bool { return strings.HasPrefix(name, axisPrefix) }

func axisOf(name string) string { return strings.TrimPrefix(name, axisPrefix) }

// find is the variable or the point's value of a name. Where the points are not known yet, any may be
// meant: its value is then not usable.
func (s *substituter) find(name string) *Variable {
	switch {
	case name == "":
		return nil
	case !ofMatrix(name):
		return s.vars.Find(name)
	case s.scope == nil:
		return nil
	case s.scope.Open:
		return &Variable{Var: Var{Name: name}, Known: true}
	}
	return s.scope.Find(name)
}

// within replaces the references of a tree at a point.
func (s *substituter) within(p *Point, n *source.Node, t language.Type, path string) *source.Node {
	before := s.scope
	defer func() { s.scope = before }()
	s.scope = p
	return s.tree(n, t, path)
}

// stageList replaces the references of a list of stages, of which those with a matrix become several.
// path is that of the list in the plan, to that in the tree which is made.
func (s *substituter) stageList(list *source.Node, t language.Type, path, to string) *source.Node {
	c := *list
	c.Items = make([]*source.Node, 0, len(list.Items))
	put := func(n *source.Node, at string) {
		s.paths[n] = at
		s.moved = append(s.moved, [2]string{to + "/" + strconv.Itoa(len(c.Items)), at})
		c.Items = append(c.Items, n)
	}
	for i, item := range list.Items {
		at := path + "/" + strconv.Itoa(i)
		e := item.Entry("matrix")
		if e == nil || e.Value.Kind == source.Null {
			put(s.group(item, t.Item(), at, to+"/"+strconv.Itoa(len(c.Items))), at)
			continue
		}
		for _, n := range s.expanded(item, e, t.Item(), at) {
			put(n, at)
		}
	}
	return &c
}

// group replaces the references of a stage without a matrix, or of a group, whose members may have one.
func (s *substituter) group(item *source.Node, t language.Type, path, to string) *source.Node {
	members := item.Get("parallel")
	if members == nil || members.Kind != source.List {
		return s.tree(item, t, path)
	}
	c := *s.tree(without(item, "parallel"), t, path)
	e := *item.Entry("parallel")
	e.Value = s.stageList(members, language.TypeOf[[]*language.Stage](), path+"/parallel", to+"/parallel")
	c.Entries = append(c.Entries, e)
	return &c
}

// readSLOs notes which values of matrices the slos mention: a stage that uses one may need them.
func (s *substituter) readSLOs(n *source.Node) {
	for _, name := range References(n.Text) {
		s.slos[name] = true
	}
	for _, e := range n.Entries {
		s.readSLOs(e.Value)
	}
	for _, item := range n.Items {
		s.readSLOs(item)
	}
}

// expanded gives a stage for each point of its matrix.
func (s *substituter) expanded(
	item *source.Node, e *source.Entry, t language.Type, path string,
) []*source.Node {
	if id := item.Entry("id"); id != nil && strings.Contains(id.Value.Text, "${matrix.") {
		s.diags = append(s.diags, source.Errorf(source.CodeMatrix, "the points of a stage share its id").
			Help("write the id alone; results are named by id and point").
			At(path+"/id", id.Value.Pos, 0))
	}
	rules := s.tree(e.Value, language.TypeOf[language.Opaque](), path+"/matrix")
	s.peers = s.pointsOf(rules, path+"/matrix")
	var all []*source.Node
	for _, p := range s.peers {
		c := *s.within(p, without(item, "matrix"), t, path)
		own := *e
		own.Value = rules
		c.Entries = append(c.Entries, own)
		s.points[&c] = p
		all = append(all, &c)
	}
	s.idleAxes(e)
	s.peers = nil
	return all
}

// idleAxes warns of values that nothing in the stage uses.
func (s *substituter) idleAxes(e *source.Entry) {
	for _, axis := range e.Value.Entries {
		if axis.Key == "include" || axis.Key == "exclude" || s.peers[0].Open || s.slos[axisPrefix+axis.Key] {
			continue
		}
		used := slices.ContainsFunc(s.peers,
			func(p *Point) bool { v := p.Find(axisPrefix + axis.Key); return v != nil && v.used })
		if !used {
			s.Idle = append(s.Idle, source.Warnf(source.CodeVarUnused,
				"the stage uses ${matrix.%s} nowhere: its points differ in name only",
				axis.Key).Help("use it, or write `repeat` to measure the same thing several times").
				AtKey("", axis.KeyPos, axis.Key))
		}
	}
}

// unknownAxis says what is wrong with a reference to an axis.
func (s *substituter) unknownAxis(d *source.Diagnostic, axis string) {
	if s.scope == nil {
		d.Summary = fmt.Sprintf("${matrix.%s} is used outside of a stage with a matrix", axis)
		d.Detail = "it is the value of an axis in the stage that has it"
		return
	}
	for _, p := range s.peers {
		if p.Find(axisPrefix+axis) != nil {
			d.Summary = fmt.Sprintf("the point %s has no value for ${matrix.%s}", s.scope.id(), axis)
			d.Among("", nil).Help("give every point one, with `include`")
			return
		}
		for _, name := range p.Names() {
			if !slices.Contains(d.Allowed, name) {
				d.Allowed = append(d.Allowed, name)
			}
		}
	}
	d.Summary, d.Nearest = fmt.Sprintf("the matrix has no axis %q", axis), source.Nearest(axis, d.Allowed)
}
