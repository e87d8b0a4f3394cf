package layer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Masked is shown in the place of a secret.
const Masked = "***"

// Variable is a declared variable with its final value.
type Variable struct {
	Var
	KeyPos   source.Pos
	Path     string
	Known    bool // it has a value
	required bool // a default is none, and empty text neither
	env      string
	declared bool // its type was written, or follows from a default
	used     bool
	plain    *source.Node // as the plan writes it; nil: the value comes from outside
	At       source.Pos   // of the value
	wrong    string       // the value of a variable whose mistake is reported
}

// Var is a variable with its final value. In an expression ${name} means Text as one literal of
// Type. The Text of a secret is ***; no expression may mention one.
type Var struct {
	Name   string
	Type   string // text int number bool duration rate ratio size power
	Text   string
	Secret bool
	// From is "default", "extends FILE", "profile NAME", "--set", "env NAME", "--var-file FILE" or "--var".
	From string
	Pos  source.Pos
}

// Values are variables, or the values of a point.
type Values []*Variable

// Variables are the declared variables in document order.
type Variables struct {
	Values
	Diags source.Diagnostics
}

// Find returns the value with that name; nil: there is none.
func (vs Values) Find(name string) *Variable {
	for _, v := range vs {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Names lists the names in order of declaration, those of axes without "matrix.".
func (vs Values) Names() (names []string) {
	for _, v := range vs {
		names = append(names, axisOf(v.Name))
	}
	return names
}

// resolveVariables gives every variable its value: default, then the environment, then --var-file,
// then --var. from names the layers that defaults come from.
func resolveVariables(root *source.Node, o Overrides, from map[*source.Node]string) *Variables {
	vs := &Variables{}
	node := root.Get("vars")
	if node == nil || node.Kind != source.Map {
		node = &source.Node{Kind: source.Map}
	}
	names := keysOf(node)
	given := map[string]*argument{}
	for i, file := range o.VarFiles {
		vs.file(given, names, file, i)
	}
	vs.arguments(given, names, o.Vars)
	for _, e := range node.Entries {
		vs.resolve(e, given[e.Key], o.Env, from)
	}
	vs.reportMissing()
	return vs
}

// argument is a value of a variable and its place: on the command line, unless none is given there.
type argument struct {
	text, from string
	pos        source.Pos
}

// arguments reads those of --var; the last one of a name wins.
func (vs *Variables) arguments(given map[string]*argument, names, args []string) {
	for i, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		pos := source.Pos{File: "--var", Line: i + 1, Column: 1}
		d := source.Errorf(source.CodeVarUnknown, "--var %s: the plan has no such variable", name)
		switch {
		case !found:
			d.Summary = fmt.Sprintf("--var %q has no value", name)
			d.Detail = "write --var NAME=VALUE"
		case !slices.Contains(names, name):
			d.Among(source.Nearest(name, names), names)
		default:
			pos.Column += utf8.RuneCountInString(name) + 1
			given[name] = &argument{value, "--var", pos}
			continue
		}
		vs.Diags = append(vs.Diags, d.AtKey("", pos, name))
	}
}

// resolve finds the value of one variable.
func (vs *Variables) resolve(
	e source.Entry, given *argument, env func(string) (string, bool), from map[*source.Node]string,
) {
	v := &Variable{
		Var: Var{Name: e.Key, Type: "text", Pos: e.Value.Pos}, KeyPos: e.KeyPos,
		Path: "/vars" + source.JoinPointer(e.Key),
	}
	vs.Values = append(vs.Values, v)
	raw, ok := language.DecodeVar(e.Value, v.Path, newSubstitution())
	if !ok {
		v.Known = true // its value is unknown; its own mistake is reported by the decoder
		return
	}
	v.Secret, v.required = raw.Secret.Or(false), raw.Required.Or(false)
	v.env = raw.Env.Or("")
	v.setType(raw)
	if given == nil && raw.Env != nil && env != nil {
		if text, ok := env(raw.Env.V); ok {
			given = &argument{text, "env " + raw.Env.V, raw.Env.At.Node.Pos}
		}
	}
	if given == nil && raw.Default != nil && !v.required {
		n := raw.Default.At.Node
		v.plain, given = n, &argument{n.Text, cmp.Or(from[n], "default"), n.Pos}
		if n.Pos.File == "--set" {
			given.from = "--set"
		}
	}
	v.At = v.Pos
	if given != nil {
		v.Text, v.From, v.At, v.Known = given.text, given.from, given.pos, true
	}
	if v.plain != nil && strings.Contains(v.Text, "${") {
		vs.report(
			v, source.CodeVarSyntax, v.At,
			fmt.Sprintf("the default of %q holds another variable", v.Name),
			"write its value, or use both where they are needed",
		)
		v.broken()
		return
	}
	if v.required && v.Text == "" {
		v.Known = false
	}
	vs.check(v)
}

// setType takes the type that was written, else that of the default's form, else text.
func (v *Variable) setType(raw language.Var) {
	switch {
	case raw.Type != nil:
		v.Type, v.declared = raw.Type.V, true
	case raw.Default != nil:
		v.Type, v.declared = typeOfForm(raw.Default.At.Node), true
	}
}

// typeOfForm is the type that a default has by the way it is written.
func typeOfForm(n *source.Node) string {
	switch n.Tag {
	case "!!int":
		return "int"
	case "!!float":
		return "number"
	case "!!bool":
		return "bool"
	}
	if n.Quoted && !hasUnit(n.Text) || n.Block {
		return "text"
	}
	for _, name := range [...]string{"duration", "rate", "ratio", "size", "power", "energy"} {
		if _, wrong := language.ReadAs(name, n); wrong == nil {
			return name
		}
	}
	return "text"
}

// hasUnit reports whether a text can only be meant as a quantity; "50ms" is one with and without
// quotes, "4" is not.
func hasUnit(s string) bool { return s != "" && !language.IsDecimal(s) }

// check reports a value that is not of the variable's type. The value of a secret is never shown.
func (vs *Variables) check(v *Variable) {
	if !v.Known {
		return
	}
	n := v.plain
	if n == nil {
		n = source.Plain(v.Text, v.At)
	}
	_, wrong := language.ReadAs(v.Type, n)
	if wrong == nil {
		return
	}
	summary := fmt.Sprintf("variable %q (from %s): %s", v.Name, v.From, wrong.Summary)
	if v.Secret {
		summary = fmt.Sprintf("variable %q (from %s) is no %s", v.Name, v.From, v.Type)
	}
	vs.report(v, source.CodeValue, v.At, summary, wrong.Detail)
	if !v.Secret {
		vs.Diags[len(vs.Diags)-1].Nearest = wrong.Nearest
	}
	v.Known, v.Type = true, "text"
	v.broken()
}

// broken marks a variable whose mistake is reported, so that its uses are left alone.
func (v *Variable) broken() { v.wrong, v.Text, v.declared, v.From = v.Text, "", false, "" }

// Given is the text that the variable was given, also where it is no value of the type.
func (v *Variable) Given() string { return cmp.Or(v.Text, v.wrong) }

// shown is the variable's value as the resolved plan writes it inside a text.
func (v *Variable) shown() string {
	switch {
	case v.Secret:
		return Masked
	case ofMatrix(v.Name):
		return "${" + v.Name + "}"
	}
	return Escape(v.Text)
}

// differs reports whether the resolved plan writes another text than the variable's.
func (v *Variable) differs() bool { return v.Secret || ofMatrix(v.Name) }

// usable reports whether the variable's uses can be replaced.
func (v *Variable) usable() bool { return v.Known && v.From != "" }

func (vs *Variables) report(v *Variable, code string, at source.Pos, summary, detail string) {
	vs.Diags = append(vs.Diags, source.Errorf(code, "%s", summary).Help(detail).
		At(v.Path, at, 0))
}

// reportMissing lists all variables without a value in one error.
func (vs *Variables) reportMissing() {
	var names, ways []string
	required := false
	for _, v := range vs.Values {
		if v.Known {
			continue
		}
		names = append(names, v.Name)
		way := fmt.Sprintf("--var %s=…", v.Name)
		if v.env != "" {
			way += " or set " + v.env
		}
		ways = append(ways, way)
		required = required || v.required
	}
	if names == nil {
		return
	}
	first, noun := vs.Find(names[0]), "variable"
	if len(names) > 1 {
		noun = "variables"
	}
	detail := "give " + strings.Join(ways, ", ") + ", or write a default"
	if required {
		detail = "give " + strings.Join(ways,
			", ") + "; where it is required a default does not count, and empty text is missing"
	}
	vs.Diags = append(vs.Diags, source.Errorf(
		source.CodeVarMissing, "no value for %s %s", noun, source.QuoteAll(names, "and"),
	).Help(detail).
		AtKey(first.Path, first.KeyPos, first.Name))
}

// Unused warns of variables that nothing mentions.
func (vs *Variables) Unused() source.Diagnostics {
	var diags source.Diagnostics
	for _, v := range vs.Values {
		if v.used {
			continue
		}
		diags = append(diags, source.Warnf(source.CodeVarUnused, "variable %q is not used", v.Name).
			AtKey(v.Path, v.KeyPos, v.Name))
	}
	return diags
}
