package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
)

// masked is shown in the place of a secret.
const masked = "***"

// variable is a declared variable with its final value.
type variable struct {
	Var
	keyPos   source.Pos
	path     string
	known    bool // it has a value
	required bool // a default is none, and empty text neither
	env      string
	declared bool // its type was written, or follows from a default
	used     bool
	plain    *source.Node // as the plan writes it; nil: the value comes from outside
	at       source.Pos   // of the value
	wrong    string       // the value of a variable whose mistake is reported
}

// Var is a variable with its final value. In an expression ${name} stands for Text as one literal of Type. The Text of a
// secret is ***; no expression may mention one.
type Var struct {
	Name   string
	Type   string // text int number bool duration rate ratio size power
	Text   string
	Secret bool
	From   string // "default", "extends FILE", "profile NAME", "--set", "env NAME", "--var-file FILE", "--var"
	Pos    source.Pos
}

// variables are the declared variables in document order.
type variables struct {
	all   []*variable
	diags source.Diagnostics
}

func (vs *variables) find(name string) *variable {
	for _, v := range vs.all {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func (vs *variables) names() []string {
	var names []string
	for _, v := range vs.all {
		names = append(names, v.Name)
	}
	return names
}

// resolveVariables gives every variable its value: default, then the environment, then --var-file, then --var. from names
// the layers that defaults stand in.
func resolveVariables(root *source.Node, o Overrides, from map[*source.Node]string) *variables {
	vs := &variables{}
	node := root.Get("vars")
	if node == nil || node.Kind != source.Map {
		node = &source.Node{Kind: source.Map}
	}
	var names []string
	for _, e := range node.Entries {
		names = append(names, e.Key)
	}
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

// argument is a value from the command line, and where it stands there.
type argument struct {
	text, from string
	pos        source.Pos
}

// arguments reads those of --var; the last one of a name wins.
func (vs *variables) arguments(given map[string]*argument, names, args []string) {
	for i, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		pos := source.Pos{File: "--var", Line: i + 1, Column: 1}
		d := source.Diagnostic{Severity: source.Error, Code: codeVarUnknown, Pos: pos, Width: utf8.RuneCountInString(name)}
		switch {
		case !found:
			d.Summary, d.Detail = fmt.Sprintf("--var %q has no value", name), "write --var NAME=VALUE"
		case !slices.Contains(names, name):
			d.Summary, d.Allowed, d.Nearest = fmt.Sprintf("--var %s: the plan has no such variable", name), names, source.Nearest(name, names)
		default:
			pos.Column += utf8.RuneCountInString(name) + 1
			given[name] = &argument{value, "--var", pos}
			continue
		}
		vs.diags = append(vs.diags, d)
	}
}

// resolve finds the value of one variable.
func (vs *variables) resolve(e source.Entry, given *argument, env func(string) (string, bool), from map[*source.Node]string) {
	v := &variable{Var: Var{Name: e.Key, Type: "text", Pos: e.Value.Pos}, keyPos: e.KeyPos, path: "/vars" + source.JoinPointer(e.Key)}
	vs.all = append(vs.all, v)
	raw, ok := decodeVar(e.Value, v.path, newSubstitution(nil))
	if !ok {
		v.known = true // what it is cannot be said; its own mistake is reported by the decoder
		return
	}
	v.Secret, v.required = raw.Secret.or(false), raw.Required.or(false)
	v.env = raw.Env.or("")
	v.setType(raw)
	v.at = v.Pos
	if raw.Default != nil && !v.required {
		v.plain = raw.Default.at.node
		v.Text, v.From, v.known, v.at = v.plain.Text, cmp.Or(from[v.plain], "default"), true, v.plain.Pos
		if v.at.File == "--set" {
			v.From = "--set"
		}
	}
	if raw.Env != nil && env != nil {
		if text, ok := env(raw.Env.V); ok {
			v.Text, v.From, v.known, v.at, v.plain = text, "env "+raw.Env.V, true, raw.Env.at.node.Pos, nil
		}
	}
	if given != nil {
		v.Text, v.From, v.known, v.at, v.plain = given.text, given.from, true, given.pos, nil
	}
	if v.plain != nil && strings.Contains(v.Text, "${") {
		vs.report(v, codeVarSyntax, v.at, fmt.Sprintf("the default of %q holds another variable", v.Name), "write its value, or use both where they are needed")
		v.broken()
		return
	}
	if v.required && v.Text == "" {
		v.known = false
	}
	vs.check(v)
}

// setType takes the type that was written, else that of the default's form, else text.
func (v *variable) setType(raw rawVar) {
	switch {
	case raw.Type != nil:
		v.Type, v.declared = raw.Type.V, true
	case raw.Default != nil:
		v.Type, v.declared = typeOfForm(raw.Default.at.node), true
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
	for _, name := range [...]string{"duration", "rate", "ratio", "size", "power"} {
		if _, wrong := readAs(name, n); wrong == nil {
			return name
		}
	}
	return "text"
}

// hasUnit reports whether a text can only be meant as a quantity; "50ms" is one with and without quotes, "4" is not.
func hasUnit(s string) bool { return s != "" && !isDecimal(s) }

// check reports a value that is not of the variable's type. The value of a secret is never shown.
func (vs *variables) check(v *variable) {
	if !v.known {
		return
	}
	n := v.plain
	if n == nil {
		n = source.Plain(v.Text, v.at)
	}
	_, wrong := readAs(v.Type, n)
	if wrong == nil {
		return
	}
	summary := fmt.Sprintf("variable %q (from %s): %s", v.Name, v.From, wrong.Summary)
	if v.Secret {
		summary = fmt.Sprintf("variable %q (from %s) is no %s", v.Name, v.From, v.Type)
	}
	vs.report(v, codeValue, v.at, summary, wrong.Detail)
	if !v.Secret {
		vs.diags[len(vs.diags)-1].Nearest = wrong.Nearest
	}
	v.known, v.Type = true, "text"
	v.broken()
}

// broken marks a variable whose mistake is reported, so that its uses are left alone.
func (v *variable) broken() { v.wrong, v.Text, v.declared, v.From = v.Text, "", false, "" }

// given is the text that the variable was given, also where it is no value of the type.
func (v *variable) given() string { return cmp.Or(v.Text, v.wrong) }

// usable reports whether the variable's uses can be replaced.
func (v *variable) usable() bool { return v.known && v.From != "" }

func (vs *variables) report(v *variable, code string, at source.Pos, summary, detail string) {
	vs.diags = append(vs.diags, source.Diagnostic{
		Severity: source.Error, Code: code, Summary: summary, Detail: detail, Path: v.path, Pos: at,
	})
}

// reportMissing lists all variables without a value in one error.
func (vs *variables) reportMissing() {
	var names, ways []string
	required := false
	var first *variable
	for _, v := range vs.all {
		if v.known {
			continue
		}
		if first == nil {
			first = v
		}
		names = append(names, v.Name)
		way := fmt.Sprintf("--var %s=…", v.Name)
		if v.env != "" {
			way += " or set " + v.env
		}
		ways = append(ways, way)
		required = required || v.required
	}
	if first == nil {
		return
	}
	noun := "variable"
	if len(names) > 1 {
		noun = "variables"
	}
	detail := "give " + strings.Join(ways, ", ") + ", or write a default"
	if required {
		detail = "give " + strings.Join(ways, ", ") + "; where it is required a default does not count, and empty text is missing"
	}
	vs.diags = append(vs.diags, source.Diagnostic{
		Severity: source.Error, Code: codeVarMissing, Path: first.path, Pos: first.keyPos, Width: utf8.RuneCountInString(first.Name),
		Summary: fmt.Sprintf("no value for %s %s", noun, quoteAll(names, "and")),
		Detail:  detail,
	})
}

// unused warns of variables that nothing mentions.
func (vs *variables) unused() source.Diagnostics {
	var diags source.Diagnostics
	for _, v := range vs.all {
		if v.used {
			continue
		}
		diags = append(diags, source.Diagnostic{
			Severity: source.Warning, Code: codeVarUnused, Summary: fmt.Sprintf("variable %q is not used", v.Name), Path: v.path,
			Pos: v.keyPos, Width: utf8.RuneCountInString(v.Name),
		})
	}
	return diags
}
