// Package layer makes one document of all that a plan is written in: the plans that it extends, its
// profiles, the command line, `defaults`, mixes, matrices and variables. It works on nodes, and what
// it knows of keys it asks package language. Each value of the document knows where it came from.
//
// It is not: a check of what the document says (package scenario), a reader of values (package
// language).
//
// Read document.go first, then in the order in which layers come: extends.go, merge.go,
// merge_stages.go, sets.go, variables.go, varfile.go, substitute.go, points.go with matrix.go, and
// origin.go.
package layer

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Overrides are what the command line and the environment change in a plan. The zero value changes
// nothing.
//
// Precedence, weakest first: extends, the plan, Profiles in order, Sets; for a variable: its default
// so far, Env, VarFiles in order, Vars.
type Overrides struct {
	Profiles []string                    // names, of --profile
	Vars     []string                    // "name=value", of --var
	VarFiles []string                    // YAML or JSON maps from name to value, of --var-file
	Sets     []string                    // "path=value", of --set
	Baseline string                      // a stored result, of --baseline; "": the plan's
	Env      func(string) (string, bool) // os.LookupEnv; nil: no environment
}

// Document is a plan on its way from the files that it is written in to one tree.
type Document struct {
	File, Dir string // as named by the user, and its folder
	Overrides Overrides
	Profiles  *source.Node // all of them; nil: none
	Root      *source.Node // after extends, profiles and --set
	Resolved  *source.Node // after defaults and variables
	Vars      *Variables
	Subs      *Substitution
	Diags     source.Diagnostics

	text   []byte // of the file
	layers *layers
}

// ReadDocument reads the text of a plan, and the plans that it extends. Without a document the
// diagnostics say why.
func ReadDocument(file string, data []byte, o Overrides) (*Document, source.Diagnostics) {
	root, diags := source.Parse(file, data)
	if !isPlan(root, data) {
		return nil, source.Diagnostics{notAPlan(file, diags)}
	}
	if root == nil || slices.ContainsFunc(diags, leavesHole) {
		return nil, diags
	}
	r := &Document{
		File: file, Dir: filepath.Dir(file), layers: newLayers(), Diags: diags, Overrides: o,
		text: data,
	}
	r.Root = r.layers.extend(root, []string{file})
	return r, nil
}

// leavesHole reports whether a mistake in the YAML means that keys or values are missing from the tree.
func leavesHole(d source.Diagnostic) bool {
	switch d.Code {
	case "merge-key", "alias-loop", "too-deep", "too-many-aliases":
		return true
	}
	return false
}

// Merge applies profiles and the command line and merges the defaults, all on nodes. Variables are
// still in the tree that it returns.
func (r *Document) Merge() *source.Node {
	o := r.Overrides
	r.Profiles = r.Root.Get("profiles")
	r.Root = r.layers.profile(r.Root, o.Profiles)
	r.Diags = append(r.Diags, applySets(r.Root, o.Sets)...)
	compareWith(r.Root, o.Baseline)
	merged := r.layers.mergeMixes(r.layers.removed(r.layers.mergeDefaults(r.Root)))
	for _, u := range r.layers.uppers {
		r.layers.idle(u.tree, u.path)
	}
	r.Diags = append(r.Diags, r.layers.diags...)
	r.Root = r.layers.removed(r.Root)
	r.Vars = resolveVariables(r.Root, o, r.layers.from)
	return merged
}

// Substitute replaces the variables of a merged tree.
func (r *Document) Substitute(merged *source.Node) {
	r.Subs = newSubstitution()
	s := &substituter{Substitution: r.Subs, vars: r.Vars, slos: map[string]bool{}}
	if slos := r.Root.Get("slos"); slos != nil {
		s.readSLOs(slos)
	}
	r.Resolved = s.tree(merged, language.TypeOf[language.Plan](), "")
	for _, n := range r.layers.covered {
		s.mark(n)
	}
	for _, e := range entriesOf(r.Profiles) {
		s.mark(e.Value)
		s.strangers(e.Value, "/profiles"+source.JoinPointer(e.Key))
	}
	r.Diags = append(r.Diags, s.diags...)
}

// FlagBaseline is the file of positions that mean --baseline.
const FlagBaseline = "--baseline"

// compareWith puts the stored result that the command line names in the place of the plan's baseline.
// Its path is relative to where the command is run, not to the plan.
func compareWith(root *source.Node, file string) {
	if file == "" {
		return
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	at := source.Pos{File: FlagBaseline}
	named := &source.Node{Kind: source.Scalar, Tag: "!!str", Quoted: true, Text: file, Pos: at}
	in, key := root, "baseline"
	if b := in.Get(key); b != nil && b.Kind == source.Map {
		in, key = b, "file"
	}
	if e := in.Entry(key); e != nil {
		e.Value = named
		return
	}
	in.Entries = append(in.Entries, source.Entry{Key: key, KeyPos: at, Value: named})
}

// MayBeSecret reports whether the text at a mistake may be the value of a secret that is not known
// as one: a file of variables, or a --var with a wrong name.
func (o Overrides) MayBeSecret(d source.Diagnostic) bool {
	return slices.Contains(o.VarFiles, d.Pos.File) || d.Pos.File == "--var" && d.Code == source.CodeVarUnknown
}

// Source returns the text that a position names: a file, or the arguments of the command line, an
// argument a line.
func (o Overrides) Source(file string) []byte {
	arguments := map[string][]string{
		"--set": o.Sets, "--var": o.Vars, "--var-file": o.VarFiles, "--profile": o.Profiles,
	}
	if list, is := arguments[file]; is {
		return []byte(strings.Join(list, "\n"))
	}
	data, err := ReadSome(file)
	if err != nil {
		return nil
	}
	return data
}

// TextOf is the text that a position of this document names.
func (r *Document) TextOf(file string) []byte {
	if file == r.File {
		return r.text
	}
	return r.Overrides.Source(file)
}

// Overlays names what was merged, weakest first.
func (r *Document) Overlays() []string { return r.layers.names }

// IsPartial reports whether a plan that this one extends could not be read.
func (r *Document) IsPartial() bool { return r.layers.partial }
