package layer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxPoints limits the points of a matrix.
const maxPoints = 256

// Pair is one entry of a map whose order is fixed.
type Pair struct{ Key, Value string }

// Point is one point of a matrix: what tells it from the others, and all of its values. They are read
// as variables with the name matrix.AXIS.
type Point struct {
	At []Pair // axes, the first outermost; of an added point all its values
	Values
	First bool // of its stage
	Open  bool // not known: the matrix is broken, or the place is shared by many stages
}

// set gives the point a value, or another one.
func (p *Point) set(axis string, n *source.Node) {
	v := &Variable{
		Var:   Var{Name: axisPrefix + axis, Type: typeOfForm(n), Text: n.Text, From: "matrix", Pos: n.Pos},
		Known: true, declared: true, plain: n, At: n.Pos,
	}
	if at := slices.IndexFunc(p.Values, func(o *Variable) bool { return o.Name == v.Name }); at >= 0 {
		p.Values[at] = v
		return
	}
	p.Values = append(p.Values, v)
}

// id is the point as the ids of nodes have it.
func (p *Point) id() string {
	var parts []string
	for _, a := range p.At {
		parts = append(parts, a.Key+"="+a.Value)
	}
	return strings.Join(parts, ",")
}

// matrix expands the matrix of one stage:
//
//	matrix  = { axis ": [" value { "," value } "]" }
//	          [ "include: [" values { "," values } "]" ] [ "exclude: [" values … "]" ]
//	values  = "{" axis ": " value { "," axis ": " value } "}"
//
// exclude comes first: it removes the points that have all its values. Then each include adds its
// other values to the points that have its values of axes; where none has, it is a point of its own.
type matrix struct {
	subs   *substituter
	path   string
	axes   []string
	values [][]*source.Node // by axis
	points []*Point
	failed bool
}

// pointsOf gives the points of a stage's matrix; one that is open when it is broken, which is reported.
func (s *substituter) pointsOf(n *source.Node, path string) []*Point {
	m := matrix{subs: s, path: path}
	if n.Kind == source.Map {
		m.expand(n)
	} else {
		m.failed = true // its kind is reported
	}
	if m.failed {
		return []*Point{{Open: true, First: true}}
	}
	m.points[0].First = true
	return m.points
}

func (m *matrix) expand(n *source.Node) {
	count := 1
	for _, e := range n.Entries {
		if e.Key == "include" || e.Key == "exclude" {
			continue
		}
		m.axis(e)
		count = min(count*max(len(e.Value.Items), 1), maxPoints+1)
	}
	if count > maxPoints {
		m.refuse(n, "", "leave out values, or split the stage",
			"the matrix has more than %d points", maxPoints)
	}
	if m.failed {
		return
	}
	if len(m.axes) > 0 {
		m.points = m.product()
	}
	m.exclude(n.Get("exclude"))
	m.include(n.Get("include"))
	switch {
	case m.failed:
	case len(m.points) == 0 && len(m.axes) > 0:
		m.refuse(n, "", "", "exclude leaves no point of the matrix")
	case len(m.points) == 0:
		m.refuse(n, "", "write an axis and its values: {batch: [1, 8]}", "the matrix has no axis")
	case len(m.points) > maxPoints:
		m.refuse(n, "", "", "the matrix has %d points; at most %d are allowed", len(m.points), maxPoints)
	}
}

// axis checks one axis and its values.
func (m *matrix) axis(e source.Entry) {
	path := "/" + e.Key
	switch {
	case !language.AxisForm.MatchString(e.Key):
		m.refuseKey(e, path, badAxis(e.Key))
	case e.Value.Kind != source.List:
		m.failed = true // reported by the schema
	case len(e.Value.Items) == 0:
		m.refuseKey(e, path, source.Errorf(source.CodeMatrix, "axis %q has no values", e.Key))
	}
	seen := map[string]source.Pos{}
	for i, v := range e.Value.Items {
		item := fmt.Sprintf("%s/%d", path, i)
		if !m.value(v, item, true) {
			continue
		}
		if before, twice := seen[v.Text]; twice {
			m.refuse(v, item, "", "axis %q has the value %q twice; the first is at %s", e.Key, v.Text,
				source.Short(before))
		}
		seen[v.Text] = v.Pos
	}
	m.axes = append(m.axes, e.Key)
	m.values = append(m.values, e.Value.Items)
}

func badAxis(name string) *source.Diagnostic {
	return source.Errorf(source.CodeMatrix, "axis name %q is not allowed", name).
		Help("use letters, digits and _, first a letter or _")
}

// value checks a value. named: it is part of the id of a node.
func (m *matrix) value(n *source.Node, path string, named bool) bool {
	switch {
	case n.Kind != source.Scalar:
		m.refuse(n, path, "", "a value of an axis is a scalar")
	case m.subs.Of(n).Unset:
		m.failed = true // the variable in it is reported
	case !named:
		return true
	case m.subs.Of(n).Differs:
		m.refuse(n, path, "", "a value of an axis cannot be secret: it is part of the names of results")
	case n.Text == "" || strings.ContainsAny(n.Text, `,[]"`) ||
		strings.ContainsFunc(n.Text, unicode.IsControl):
		m.refuse(n, path, "it is part of the names of results, so it holds none of , [ ] \" and is not empty",
			"%q cannot be the value of an axis", n.Text)
	default:
		return true
	}
	return false
}

// product lists all combinations, the first axis outermost.
func (m *matrix) product() []*Point {
	all := []*Point{{}}
	for i, axis := range m.axes {
		var next []*Point
		for _, p := range all {
			for _, v := range m.values[i] {
				at := append(slices.Clone(p.At), Pair{axis, v.Text})
				q := &Point{At: at, Values: slices.Clone(p.Values)}
				q.set(axis, v)
				next = append(next, q)
			}
		}
		all = next
	}
	return all
}

// entries are the maps of include or exclude, checked.
func (m *matrix) entries(list *source.Node, key string) []*source.Node {
	if list == nil {
		return nil
	}
	if list.Kind != source.List {
		m.failed = true // reported by the schema
		return nil
	}
	var all []*source.Node
	for i, n := range list.Items {
		path := fmt.Sprintf("/%s/%d", key, i)
		if n.Kind != source.Map || len(n.Entries) == 0 {
			m.refuse(n, path, "such as {batch: 8}", "an item of %s is a map of values", key)
			continue
		}
		ok := true
		for _, e := range n.Entries {
			child, known := path+source.JoinPointer(e.Key), slices.Contains(m.axes, e.Key)
			ok = m.value(e.Value, child, known) && ok
			if key == "exclude" && !known {
				m.refuseKey(e, child, source.Errorf(source.CodeMatrix, "the matrix has no axis %q", e.Key).
					Among(source.Nearest(e.Key, m.axes), m.axes))
				ok = false
			} else if !language.AxisForm.MatchString(e.Key) {
				m.refuseKey(e, path, badAxis(e.Key))
				ok = false
			}
		}
		if ok {
			all = append(all, n)
		}
	}
	return all
}

// has reports whether the point has the values of axes that an entry names.
func (m *matrix) has(p *Point, n *source.Node) bool {
	for _, e := range n.Entries {
		if slices.Contains(m.axes, e.Key) && p.Find(axisPrefix+e.Key).Text != e.Value.Text {
			return false
		}
	}
	return true
}

func (m *matrix) exclude(list *source.Node) {
	for _, n := range m.entries(list, "exclude") {
		before := len(m.points)
		m.points = slices.DeleteFunc(m.points, func(p *Point) bool { return m.has(p, n) })
		if len(m.points) == before {
			m.refuse(n, "/exclude", "", "this exclude matches no point")
		}
	}
}

func (m *matrix) include(list *source.Node) {
	made := len(m.points)
	for _, n := range m.entries(list, "include") {
		extends := false
		for _, p := range m.points[:made] {
			if !m.has(p, n) {
				continue
			}
			extends = true
			for _, e := range n.Entries {
				if !slices.Contains(m.axes, e.Key) {
					p.set(e.Key, e.Value)
				}
			}
		}
		news := slices.ContainsFunc(n.Entries,
			func(e source.Entry) bool { return !slices.Contains(m.axes, e.Key) })
		switch {
		case extends && !news:
			m.refuse(n, "/include", "", "this include adds nothing: the point is there already")
		case !extends:
			m.add(n)
		}
	}
}

// add makes a point of an include.
func (m *matrix) add(n *source.Node) {
	p := &Point{}
	for _, axis := range m.axes {
		if v := n.Get(axis); v != nil {
			p.At = append(p.At, Pair{axis, v.Text})
		}
	}
	for _, e := range n.Entries {
		if !m.value(e.Value, "/include"+source.JoinPointer(e.Key), true) {
			return
		}
		p.set(e.Key, e.Value)
		if !slices.Contains(m.axes, e.Key) {
			p.At = append(p.At, Pair{e.Key, e.Value.Text})
		}
	}
	if slices.ContainsFunc(m.points, func(o *Point) bool { return o.id() == p.id() }) {
		m.refuse(n, "/include", "", "duplicate point %s", p.id())
		return
	}
	m.points = append(m.points, p)
}

// refuse reports a mistake about a value; path is below the matrix.
func (m *matrix) refuse(n *source.Node, path, help, format string, args ...any) {
	m.failed = true
	width := language.WidthOf(n, m.subs.Of(n).Original)
	m.subs.diags = append(m.subs.diags,
		source.Errorf(source.CodeMatrix, format, args...).Help(help).At(m.path+path, n.Pos, width))
}

// refuseKey reports a mistake about a key.
func (m *matrix) refuseKey(e source.Entry, path string, d *source.Diagnostic) {
	m.failed = true
	m.subs.diags = append(m.subs.diags, d.AtKey(m.path+path, e.KeyPos, e.Key))
}
