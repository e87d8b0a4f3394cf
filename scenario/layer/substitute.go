package layer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Substitution replaces ${name} in the scalars of a plan and remembers what it did to which node.
//
//	text      = *( "$${" | reference | character )     ; "$${" is a literal "${"
//	reference = "${" name "}"
//
// A scalar that is one reference has the variable's type; a reference inside a text is text.
// Expressions keep their references: there they are typed operands.
type Substitution struct {
	vars     *Variables
	diags    source.Diagnostics
	original map[*source.Node]*source.Node // what a new node was made from
	from     map[*source.Node]string       // where a whole value came from, for messages
	// How the resolved plan writes a text: *** for a secret, ${matrix.x} for what differs by point
	shown map[*source.Node]string
	empty map[*source.Node]bool        // texts that hold an empty secret
	unset map[*source.Node]bool        // texts that hold a variable without a value
	used  map[*source.Node][]*Variable // what a text is made of
	*stages
}

func newSubstitution(vars *Variables) *Substitution {
	return &Substitution{
		vars: vars, original: map[*source.Node]*source.Node{}, from: map[*source.Node]string{},
		shown: map[*source.Node]string{}, empty: map[*source.Node]bool{}, unset: map[*source.Node]bool{},
		used: map[*source.Node][]*Variable{}, stages: newStages(),
	}
}

// tree gives n with its references replaced; n itself stays as it is. t is the type that n fills,
// unknown where the language knows none: there unknown references are left to the mistake that is
// reported anyway.
func (s *Substitution) tree(n *source.Node, t language.Type, path string) *source.Node {
	switch n.Kind {
	case source.Map:
		c := *n
		c.Entries = nil
		for _, e := range n.Entries {
			child := path + source.JoinPointer(e.Key)
			switch inner := t.Key(e.Key); {
			case child == "/vars":
			case inner.IsStages() && e.Value.Kind == source.List:
				e.Value = s.stageList(e.Value, inner, child, child)
			case child == "/defaults" || child == "/slos": // a stage that uses them may have a matrix
				e.Value = s.within(&Point{Open: true}, e.Value, inner, child)
			default:
				e.Value = s.tree(e.Value, inner, child)
			}
			c.Entries = append(c.Entries, e)
		}
		return &c
	case source.List:
		c := *n
		c.Items = nil
		for i, item := range n.Items {
			c.Items = append(c.Items, s.tree(item, t.Item(), path+"/"+strconv.Itoa(i)))
		}
		return &c
	case source.Scalar:
		if !strings.Contains(n.Text, "${") {
			return n
		}
		if t.TakesExpression() {
			s.expression(n, 0, path)
			return n
		}
		if t.TakesResult() && language.FromStage(n.Text) {
			s.expression(n, len("${"), path)
			return n
		}
		return s.scalar(n, t, path)
	case source.Null:
	}
	return n
}

// mark marks the variables that a tree mentions as used: what an overlay took out of the plan may
// stand in it tomorrow.
func (s *Substitution) mark(n *source.Node) {
	for _, e := range n.Entries {
		s.mark(e.Value)
	}
	for _, item := range n.Items {
		s.mark(item)
	}
	for _, text := range ReferenceForm.FindAllString(n.Text, -1) {
		if m := NameInside.FindStringSubmatch(text); m != nil {
			if v := s.vars.Find(m[1]); v != nil {
				v.used = true
			}
		}
	}
}

// mentions marks the variables that a tree mentions as used; it is part of no plan yet, a profile that
// nobody chose.
func (s *Substitution) mentions(n *source.Node, path string) {
	for _, e := range n.Entries {
		s.mentions(e.Value, path+source.JoinPointer(e.Key))
	}
	for i, item := range n.Items {
		s.mentions(item, path+"/"+strconv.Itoa(i))
	}
	for _, at := range ReferenceForm.FindAllStringIndex(n.Text, -1) {
		m := NameInside.FindStringSubmatch(n.Text[at[0]:at[1]])
		if m == nil || strings.HasPrefix(m[1], "matrix.") {
			continue
		}
		if v := s.vars.Find(m[1]); v != nil {
			v.used = true
			continue
		}
		s.unknown(m[1], n.AsText(path).At(utf8.RuneCountInString(n.Text[:at[0]])), at[1]-at[0], path)
	}
}

// A reference to a variable, ${NAME}, and a text that is nothing but one. $${ is an escape.
var (
	ReferenceForm = regexp.MustCompile(`\$?\$\{[^}]*\}?`)
	NameInside    = regexp.MustCompile(`^\$\{ *((?:matrix\.)?[A-Za-z_][A-Za-z0-9_]*) *\}$`)
)

// expression marks the variables that an expression mentions as used. It begins at byte from of n.
func (s *Substitution) expression(n *source.Node, from int, path string) {
	text := n.AsText(path)
	for _, at := range ReferenceForm.FindAllStringIndex(n.Text[from:], -1) {
		at[0], at[1] = at[0]+from, at[1]+from
		m := NameInside.FindStringSubmatch(n.Text[at[0]:at[1]])
		if m == nil {
			continue // the compiler of expressions says what is wrong with it
		}
		pos := text.At(utf8.RuneCountInString(n.Text[:at[0]]))
		v := s.find(m[1])
		if v == nil {
			s.unknown(m[1], pos, at[1]-at[0], path)
			continue
		}
		v.used = true
		if v.Secret {
			s.diags = append(s.diags, source.Errorf(
				source.CodeDoesNotFit, "secret variable %q cannot stand in an expression", v.Name,
			).Help("an expression is shown with its values").
				At(path, pos, at[1]-at[0]))
		}
	}
}

// scalar replaces the references of one text.
func (s *Substitution) scalar(n *source.Node, t language.Type, path string) *source.Node {
	if strings.HasPrefix(path, "/slos/") && strings.Contains(n.Text, "${matrix.") {
		s.diags = append(s.diags, source.Errorf(
			source.CodeDoesNotFit,
			"the value of an axis can stand only in the expressions of an slo",
		).
			At(path, n.Pos, 0))
	}
	if m := NameInside.FindStringSubmatch(n.Text); m != nil {
		return s.whole(n, m[1], t, path)
	}
	fresh := &source.Node{Kind: source.Scalar, Tag: "!!str", Quoted: true, Pos: n.Pos}
	s.original[fresh] = n
	var text, shown strings.Builder
	last, differs := 0, false
	literal := func(part string) {
		text.WriteString(part)
		shown.WriteString(Escape(part))
	}
	for _, at := range ReferenceForm.FindAllStringIndex(n.Text, -1) {
		literal(n.Text[last:at[0]])
		last = at[1]
		v, part := s.reference(fresh, n, at, path)
		if v == nil {
			literal(part)
			continue
		}
		text.WriteString(v.Text)
		shown.WriteString(v.shown())
		differs = differs || v.Secret || v.ofMatrix()
	}
	literal(n.Text[last:])
	fresh.Text = text.String()
	if differs {
		s.shown[fresh] = shown.String()
	}
	return fresh
}

// reference gives the variable of one reference inside a text; nil: the text that stands for it.
func (s *Substitution) reference(fresh, n *source.Node, at []int, path string) (v *Variable, part string) {
	text := n.Text[at[0]:at[1]]
	if literal, ok := strings.CutPrefix(text, "$"); ok && strings.HasPrefix(literal, "${") {
		return nil, literal
	}
	pos := n.AsText(path).At(utf8.RuneCountInString(n.Text[:at[0]]))
	width := utf8.RuneCountInString(text)
	m := NameInside.FindStringSubmatch(text)
	if m == nil {
		s.unset[fresh] = true
		s.malformed(text, pos, width, path)
		return nil, text
	}
	if v = s.find(m[1]); v == nil {
		s.unset[fresh] = true
		s.unknown(m[1], pos, width, path)
		return nil, text
	}
	s.use(v, fresh)
	if !v.usable() {
		s.unset[fresh] = true
		return nil, text
	}
	return v, ""
}

// Escape keeps a literal ${ from becoming a reference when the plan is read again.
func Escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// use notes that a text holds a variable.
func (s *Substitution) use(v *Variable, in *source.Node) {
	v.used = true
	s.used[in] = append(s.used[in], v)
	s.empty[in] = s.empty[in] || v.Secret && v.Text == "" && v.usable()
}

// IsSecret reports whether a text holds a secret.
func (s *Substitution) IsSecret(n *source.Node) bool {
	return slices.ContainsFunc(s.used[n], func(v *Variable) bool { return v.Secret })
}

// WrittenAs gives the node as the plan writes it, which is n where nothing was replaced.
func (s *Substitution) WrittenAs(n *source.Node) *source.Node { return cmp.Or(s.original[n], n) }

// GaveAll names what gave the whole value, for messages; "": nothing.
func (s *Substitution) GaveAll(n *source.Node) string { return s.from[n] }

// IsUnset reports whether a text holds a variable without a value.
func (s *Substitution) IsUnset(n *source.Node) bool { return s.unset[n] }

// IsEmpty reports whether a text holds an empty secret.
func (s *Substitution) IsEmpty(n *source.Node) bool { return s.empty[n] }

// ShownAs gives the text that the resolved plan shows for a text that holds a secret or differs by
// point.
func (s *Substitution) ShownAs(n *source.Node) (text string, differs bool) {
	text, differs = s.shown[n]
	return text, differs
}

// UsedIn lists the variables that a text is made of.
func (s *Substitution) UsedIn(n *source.Node) []*Variable { return s.used[n] }

// PointOf is the point of its matrix that a stage is; nil: the stage has none.
func (s *Substitution) PointOf(stage *source.Node) *Point { return s.points[stage] }

// shown is the variable's value as the resolved plan writes it inside a text.
func (v *Variable) shown() string {
	switch {
	case v.Secret:
		return Masked
	case v.ofMatrix():
		return "${" + v.Name + "}"
	}
	return Escape(v.Text)
}

// whole replaces a scalar that is one reference by a scalar of the variable's type.
func (s *Substitution) whole(n *source.Node, name string, t language.Type, path string) *source.Node {
	fresh := &source.Node{Kind: source.Scalar, Tag: "!!str", Quoted: true, Pos: n.Pos, Text: n.Text}
	s.original[fresh] = n
	v := s.find(name)
	if v == nil {
		s.unset[fresh] = true
		s.unknown(name, n.AsText(path).Pos, utf8.RuneCountInString(n.Text), path)
		return fresh
	}
	if !v.usable() {
		s.use(v, fresh)
		s.unset[fresh] = true
		return fresh
	}
	if plain := source.Plain(v.Text, n.Pos); plain.Kind == source.Scalar && plainly(v, t) {
		fresh = plain
		s.original[fresh] = n
	}
	s.use(v, fresh)
	fresh.Text = v.Text
	s.from[fresh] = fmt.Sprintf("variable %q (%s)", v.Name, v.From)
	if v.ofMatrix() {
		s.from[fresh] = fmt.Sprintf("axis %q of the matrix", v.axis())
	}
	if v.Secret || v.ofMatrix() {
		s.shown[fresh] = v.shown()
	}
	return fresh
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

func (s *Substitution) unknown(name string, pos source.Pos, width int, path string) {
	d := source.Diagnostic{
		Severity: source.Error, Code: source.CodeVarUnknown, Path: path, Pos: pos, Width: width,
	}
	if axis, is := strings.CutPrefix(name, "matrix."); is {
		s.unknownAxis(&d, axis)
	} else {
		missing := expression.NoVariable(name, s.vars.Names())
		d.Summary, d.Allowed, d.Nearest = missing.Summary, missing.Allowed, missing.Nearest
		d.Detail = cmp.Or(missing.Detail, "declare it under `vars`")
	}
	s.diags = append(s.diags, d)
}

// malformed reports a ${…} that is no name.
func (s *Substitution) malformed(text string, pos source.Pos, width int, path string) {
	d := source.Diagnostic{
		Severity: source.Error, Code: source.CodeVarSyntax, Path: path, Pos: pos, Width: width,
	}
	switch {
	case !strings.HasSuffix(text, "}"):
		d.Summary, d.Detail = fmt.Sprintf("%q has no closing }", text), "write ${NAME}, or $${ for a literal ${"
	case strings.Contains(text, "stage("):
		d.Code, d.Summary = source.CodeDoesNotFit, "a value from an earlier stage is not allowed here"
		d.Detail = "it can be all of a load's rate or concurrency, the `to` of a ramp's step, and a search's " +
			"`from` and `to`"
	case strings.Contains(text, ":"):
		d.Summary, d.Detail = fmt.Sprintf("%q is no variable",
			text), "a default is given under `vars`: NAME: {default: …}"
	default:
		missing := expression.NoVariable(strings.Trim(text, "${} "), s.vars.Names())
		d.Summary, d.Nearest = fmt.Sprintf("%q is no variable", text), missing.Nearest
		d.Detail = cmp.Or(missing.Detail, "write ${NAME}, or $${ for a literal ${")
	}
	s.diags = append(s.diags, d)
}
