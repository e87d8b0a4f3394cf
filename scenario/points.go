package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
)

// stages is what substitution knows of the stages of a plan: a stage with a matrix becomes one for each point.
type stages struct {
	scope  *point                  // of the stage at hand; nil: it has no matrix
	peers  []*point                // all of its points
	points map[*source.Node]*point // by the stage's node
	paths  map[*source.Node]string // where a stage stands in the plan, whatever the matrices above make of the list
	moved  [][2]string             // paths of stages in the list that matrices made, and in the plan
	slos   map[string]bool         // values that slos mention
	idle   source.Diagnostics      // warnings of values that nothing uses
}

func newStages() *stages {
	return &stages{points: map[*source.Node]*point{}, paths: map[*source.Node]string{}, slos: map[string]bool{}}
}

// ofMatrix reports whether the variable is a value of a point.
func (v *variable) ofMatrix() bool { return strings.HasPrefix(v.Name, "matrix.") }

func (v *variable) axis() string { return strings.TrimPrefix(v.Name, "matrix.") }

// find is the variable or the point's value of a name. Where the points are not known yet, any may be meant: its value
// is then not usable.
func (s *substitution) find(name string) *variable {
	if !strings.HasPrefix(name, "matrix.") {
		return s.vars.find(name)
	}
	switch {
	case s.scope == nil:
		return nil
	case s.scope.open:
		return &variable{Var: Var{Name: name}, known: true}
	}
	return s.scope.find(name)
}

// within replaces the references of a tree that stands at a point.
func (s *substitution) within(p *point, n *source.Node, t Type, path string) *source.Node {
	before := s.scope
	defer func() { s.scope = before }()
	s.scope = p
	return s.tree(n, t, path)
}

// stageList replaces the references of a list of stages, of which those with a matrix become several. path is that of the
// list in the plan, to that in the tree which is made.
func (s *substitution) stageList(list *source.Node, t Type, path, to string) *source.Node {
	c := *list
	c.Items = nil
	put := func(n *source.Node, at string) {
		s.paths[n] = at
		s.moved = append(s.moved, [2]string{to + "/" + strconv.Itoa(len(c.Items)), at})
		c.Items = append(c.Items, n)
	}
	for i, item := range list.Items {
		at := path + "/" + strconv.Itoa(i)
		e := item.Entry("matrix")
		if e == nil || e.Value.Kind == source.Null {
			put(s.group(item, t.item(), at, to+"/"+strconv.Itoa(len(c.Items))), at)
			continue
		}
		for _, n := range s.expanded(item, e, t.item(), at) {
			put(n, at)
		}
	}
	return &c
}

// group replaces the references of a stage without a matrix, or of a group, whose members may have one.
func (s *substitution) group(item *source.Node, t Type, path, to string) *source.Node {
	members := item.Get("parallel")
	if members == nil || members.Kind != source.List {
		return s.tree(item, t, path)
	}
	c := *s.tree(without(item, "parallel"), t, path)
	e := *item.Entry("parallel")
	e.Value = s.stageList(members, typeOf[[]*rawStage](), path+"/parallel", to+"/parallel")
	c.Entries = append(c.Entries, e)
	return &c
}

// readSLOs notes which values of matrices the slos mention: a stage that uses one may need them.
func (s *substitution) readSLOs(n *source.Node) {
	if n == nil {
		return
	}
	for _, at := range referenceForm.FindAllString(n.Text, -1) {
		if m := nameInside.FindStringSubmatch(at); m != nil {
			s.slos[m[1]] = true
		}
	}
	for _, e := range n.Entries {
		s.readSLOs(e.Value)
	}
	for _, item := range n.Items {
		s.readSLOs(item)
	}
}

// itemPath is the path of an item of a list: of a stage the one in the plan.
func (s *stages) itemPath(item *source.Node, path string, i int) string {
	if p, ok := s.paths[item]; ok {
		return p
	}
	return path + "/" + strconv.Itoa(i)
}

// inPlan turns a path of the expanded tree into one of the plan.
func (s *stages) inPlan(path string) string {
	for _, m := range s.moved { // members come before their group
		if rest, ok := strings.CutPrefix(path, m[0]); ok && (rest == "" || rest[0] == '/') {
			return m[1] + rest
		}
	}
	return path
}

// expanded gives a stage for each point of its matrix.
func (s *substitution) expanded(item *source.Node, e *source.Entry, t Type, path string) []*source.Node {
	if id := item.Entry("id"); id != nil && strings.Contains(id.Value.Text, "${matrix.") {
		s.diags = append(s.diags, source.Diagnostic{
			Severity: source.Error, Code: codeMatrix, Summary: "the points of a stage share its id", Path: path + "/id", Pos: id.Value.Pos,
			Detail: "write the id alone; results are named by id and point",
		})
	}
	rules := s.tree(e.Value, typeOf[opaque](), path+"/matrix")
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
func (s *substitution) idleAxes(e *source.Entry) {
	for _, axis := range e.Value.Entries {
		if axis.Key == "include" || axis.Key == "exclude" || s.peers[0].open || s.slos["matrix."+axis.Key] {
			continue
		}
		used := slices.ContainsFunc(s.peers, func(p *point) bool { v := p.find("matrix." + axis.Key); return v != nil && v.used })
		if !used {
			s.idle = append(s.idle, source.Diagnostic{
				Severity: source.Warning, Code: codeVarUnused, Summary: fmt.Sprintf("the stage uses ${matrix.%s} nowhere: its points differ in name only", axis.Key),
				Pos: axis.KeyPos, Width: utf8.RuneCountInString(axis.Key), Detail: "use it, or write `repeat` to measure the same thing several times",
			})
		}
	}
}

// unknownAxis says what is wrong with a reference to an axis.
func (s *substitution) unknownAxis(d *source.Diagnostic, axis string) {
	if s.scope == nil {
		d.Summary, d.Detail = fmt.Sprintf("${matrix.%s} stands outside of a stage with a matrix", axis), "it is the value of an axis in the stage that has it"
		return
	}
	elsewhere := slices.ContainsFunc(s.peers, func(p *point) bool { return p.find("matrix."+axis) != nil })
	if elsewhere {
		d.Summary, d.Detail = fmt.Sprintf("the point %s has no value for ${matrix.%s}", s.scope.id(), axis), "give every point one, with `include`"
		return
	}
	for _, p := range s.peers {
		for _, name := range p.names() {
			if !slices.Contains(d.Allowed, name) {
				d.Allowed = append(d.Allowed, name)
			}
		}
	}
	d.Summary, d.Nearest = fmt.Sprintf("the matrix has no axis %q", axis), source.Nearest(axis, d.Allowed)
}
