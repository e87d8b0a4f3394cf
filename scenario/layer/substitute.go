package layer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Substitution tells what became of the nodes whose text held variables, and of stages with a matrix,
// which are there once for each point.
type Substitution struct {
	Idle   source.Diagnostics // warnings of values that nothing uses
	texts  map[*source.Node]*text
	points map[*source.Node]*Point // by the stage's node
	// The place of a stage in the plan, whatever the matrices above make of the list
	paths map[*source.Node]string
	moved [][2]string // paths of stages in the list that matrices made, and in the plan
}

// text is one that held variables.
type text struct {
	language.Replacement
	used []*Variable // what it is made of
}

func newSubstitution() *Substitution {
	return &Substitution{
		texts: map[*source.Node]*text{}, points: map[*source.Node]*Point{}, paths: map[*source.Node]string{},
	}
}

// Of implements language.Replaced.
func (s *Substitution) Of(n *source.Node) language.Replacement {
	if t := s.texts[n]; t != nil {
		return t.Replacement
	}
	return language.Replacement{Original: n}
}

// UsedIn lists the variables that a text is made of.
func (s *Substitution) UsedIn(n *source.Node) []*Variable {
	if t := s.texts[n]; t != nil {
		return t.used
	}
	return nil
}

// PointOf is the point of its matrix that a stage is; nil: the stage has none.
func (s *Substitution) PointOf(stage *source.Node) *Point { return s.points[stage] }

// ItemPath is the path of an item of a list: of a stage the one in the plan.
func (s *Substitution) ItemPath(item *source.Node, path string, i int) string {
	if p, ok := s.paths[item]; ok {
		return p
	}
	return path + "/" + strconv.Itoa(i)
}

// InPlan turns a path of the expanded tree into one of the plan.
func (s *Substitution) InPlan(path string) string {
	for _, m := range s.moved { // members come before their group
		if rest, ok := strings.CutPrefix(path, m[0]); ok && (rest == "" || rest[0] == '/') {
			return m[1] + rest
		}
	}
	return path
}

// substituter replaces ${name} in the scalars of a plan.
//
//	text      = *( "$${" | reference | character )     ; "$${" is a literal "${"
//	reference = "${" name "}"
//
// A scalar that is one reference has the variable's type; a reference inside a text is text.
// Expressions keep their references: there they are typed operands.
type substituter struct {
	*Substitution
	vars  *Variables
	diags source.Diagnostics
	scope *Point          // of the stage at hand; nil: it has no matrix
	peers []*Point        // all of its points
	slos  map[string]bool // names that slos mention
}

// tree gives n with its references replaced; n itself stays as it is. t is the type that n fills,
// unknown where the language knows none: there unknown references are left to the mistake that is
// reported anyway.
func (s *substituter) tree(n *source.Node, t language.Type, path string) *source.Node {
	switch n.Kind {
	case source.Map:
		return withValues(n, func(key string, v *source.Node) *source.Node {
			child := path + source.JoinPointer(key)
			switch inner := t.Key(key); {
			case child == "/vars":
				return v
			case inner.IsStages() && v.Kind == source.List:
				return s.stageList(v, inner, child, child)
			case child == "/defaults" || child == "/slos": // a stage that uses them may have a matrix
				return s.within(&Point{Open: true}, v, inner, child)
			default:
				return s.tree(v, inner, child)
			}
		})
	case source.List:
		return withItems(n, func(i int, item *source.Node) *source.Node {
			return s.tree(item, t.Item(), path+"/"+strconv.Itoa(i))
		})
	case source.Scalar:
		switch {
		case !strings.Contains(n.Text, "${"):
		case t.TakesExpression():
			s.expression(n, 0, path)
		case t.TakesResult() && language.FromStage(n.Text):
			s.expression(n, len("${"), path)
		default:
			return s.scalar(n, t, path)
		}
	case source.Null:
	}
	return n
}

// mark marks the variables that a tree mentions as used. It is part of no plan now, but may be
// tomorrow: an overlay took it out, or it is a profile that was not chosen.
func (s *substituter) mark(n *source.Node) {
	for _, e := range n.Entries {
		s.mark(e.Value)
	}
	for _, item := range n.Items {
		s.mark(item)
	}
	for _, name := range References(n.Text) {
		if v := s.vars.Find(name); v != nil {
			v.used = true
		}
	}
}

// strangers reports names in a tree that no variable has.
func (s *substituter) strangers(n *source.Node, path string) {
	for _, e := range n.Entries {
		s.strangers(e.Value, path+source.JoinPointer(e.Key))
	}
	for i, item := range n.Items {
		s.strangers(item, path+"/"+strconv.Itoa(i))
	}
	for at, name := range References(n.Text) {
		if name != "" && !ofMatrix(name) && s.vars.Find(name) == nil {
			s.unknown(name, n, at, path)
		}
	}
}

// expression marks the variables that an expression mentions as used. It begins at byte from of n.
// What else is wrong with a reference the compiler of expressions says.
func (s *substituter) expression(n *source.Node, from int, path string) {
	for at, name := range References(n.Text[from:]) {
		at[0], at[1] = at[0]+from, at[1]+from
		v := s.find(name)
		switch {
		case name == "":
		case v == nil:
			s.unknown(name, n, at, path)
		default:
			v.used = true
		}
		if v != nil && v.Secret {
			s.report(source.Errorf(
				source.CodeDoesNotFit, "secret variable %q cannot be used in an expression", v.Name,
			).Help("an expression is shown with its values"), n, at, path)
		}
	}
}

// scalar replaces the references of one text.
func (s *substituter) scalar(n *source.Node, t language.Type, path string) *source.Node {
	if strings.HasPrefix(path, "/slos/") && strings.Contains(n.Text, "${matrix.") {
		s.diags = append(s.diags, source.Errorf(source.CodeDoesNotFit,
			"the value of an axis can be used only in the expressions of an slo").At(path, n.Pos, 0))
	}
	if name := nameIn(n.Text); name != "" {
		return s.whole(n, name, t, path)
	}
	made := &source.Node{Kind: source.Scalar, Tag: "!!str", Quoted: true, Pos: n.Pos}
	now := &text{Replacement: language.Replacement{Original: n}}
	s.texts[made] = now
	var plain, shown strings.Builder
	last := 0
	literal := func(part string) {
		plain.WriteString(part)
		shown.WriteString(Escape(part))
	}
	for at, name := range References(n.Text) {
		literal(n.Text[last:at[0]])
		last = at[1]
		v, part := s.reference(now, name, n, at, path)
		if v == nil {
			literal(part)
			continue
		}
		plain.WriteString(v.Text)
		shown.WriteString(v.shown())
		now.Differs = now.Differs || v.differs()
	}
	literal(n.Text[last:])
	made.Text = plain.String()
	if now.Differs {
		now.Shown = shown.String()
	}
	return made
}

// reference gives the variable of one reference inside a text; nil: the text in its place.
func (s *substituter) reference(
	in *text, name string, n *source.Node, at []int, path string,
) (v *Variable, part string) {
	part = n.Text[at[0]:at[1]]
	if literal, ok := strings.CutPrefix(part, "$"); ok && strings.HasPrefix(literal, "${") {
		return nil, literal
	}
	if v = s.find(name); v != nil {
		in.use(v)
		if v.usable() {
			return v, ""
		}
	} else if name != "" {
		s.unknown(name, n, at, path)
	} else {
		s.malformed(part, n, at, path)
	}
	in.Unset = true
	return nil, part
}

// use notes that a text holds a variable.
func (t *text) use(v *Variable) {
	v.used = true
	t.used = append(t.used, v)
	t.Secret = t.Secret || v.Secret
	t.Empty = t.Empty || v.Secret && v.Text == "" && v.usable()
}

// whole replaces a scalar that is one reference by a scalar of the variable's type.
func (s *substituter) whole(n *source.Node, name string, t language.Type, path string) *source.Node {
	made := &source.Node{Kind: source.Scalar, Tag: "!!str", Quoted: true, Pos: n.Pos, Text: n.Text}
	now := &text{Replacement: language.Replacement{Original: n}}
	v := s.find(name)
	if v != nil && v.usable() {
		if plain := source.Plain(v.Text, n.Pos); plain.Kind == source.Scalar && plainly(v, t) {
			made = plain
		}
		made.Text = v.Text
		now.From = fmt.Sprintf("variable %q (%s)", v.Name, v.From)
		if ofMatrix(v.Name) {
			now.From = fmt.Sprintf("axis %q of the matrix", axisOf(v.Name))
		}
		if now.Differs = v.differs(); now.Differs {
			now.Shown = v.shown()
		}
	} else {
		now.Unset = true
	}
	s.texts[made] = now
	if v == nil {
		s.unknown(name, n, []int{0, len(n.Text)}, path)
	} else {
		now.use(v)
	}
	return made
}

// plainly reports whether a variable's text counts as if it were written in its place without quotes.
// One without a declared type takes the type of its place.
func plainly(v *Variable, t language.Type) bool {
	switch v.Type {
	case "int", "number", "bool":
		return true
	case "text":
		return !v.declared && !t.TakesText()
	}
	return false
}

// report places a mistake at a part of a scalar.
func (s *substituter) report(d *source.Diagnostic, n *source.Node, at []int, path string) {
	pos := n.AsText(path).At(utf8.RuneCountInString(n.Text[:at[0]]))
	s.diags = append(s.diags, d.AtKey(path, pos, n.Text[at[0]:at[1]]))
}

// unknown reports a name that no variable has, and no axis.
func (s *substituter) unknown(name string, n *source.Node, at []int, path string) {
	d := source.Errorf(source.CodeVarUnknown, "")
	if ofMatrix(name) {
		s.unknownAxis(d, axisOf(name))
	} else {
		d = expression.NoVariable(name, s.vars.Names()).Diagnostic
		d.Detail = cmp.Or(d.Detail, "declare it under `vars`")
	}
	s.report(d, n, at, path)
}

// malformed reports a ${…} that is no name.
func (s *substituter) malformed(part string, n *source.Node, at []int, path string) {
	d := source.Errorf(source.CodeVarSyntax, "%q is no variable", part)
	switch {
	case !strings.HasSuffix(part, "}"):
		d = source.Errorf(source.CodeVarSyntax, "%q has no closing }", part).
			Help("write ${NAME}, or $${ for a literal ${")
	case strings.Contains(part, "stage("):
		d = source.Errorf(source.CodeDoesNotFit, "a value from an earlier stage is not allowed here").
			Help("it can be all of a load's rate or concurrency, the `to` of a ramp's step, and a search's " +
				"`from` and `to`")
	case strings.Contains(part, ":"):
		d.Detail = "a default is given under `vars`: NAME: {default: …}"
	default:
		missing := expression.NoVariable(strings.Trim(part, "${} "), s.vars.Names())
		d.Nearest = missing.Nearest
		d.Detail = cmp.Or(missing.Detail, "write ${NAME}, or $${ for a literal ${")
	}
	s.report(d, n, at, path)
}
