package scenario

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Overrides are what the command line and the environment change in a plan. The zero value changes nothing.
//
// Precedence, weakest first: extends, the plan, Profiles in order, Sets; for a variable: its default so far, Env, VarFiles
// in order, Vars.
type Overrides struct {
	Profiles []string                    // names, of --profile
	Vars     []string                    // "name=value", of --var
	VarFiles []string                    // YAML or JSON maps from name to value, of --var-file
	Sets     []string                    // "path=value", of --set
	Baseline string                      // a stored result in place of the plan's baseline, of --baseline; "": the plan's
	Env      func(string) (string, bool) // os.LookupEnv; nil: no environment
}

// document is a plan on its way from the files that it is written in to one tree.
type document struct {
	file, dir string
	text      []byte // of the file
	overrides Overrides
	layers    *layers
	uppers    []upper        // trees that were laid over others
	covered   []*source.Node // trees that something was laid over
	profiles  *source.Node   // all of them; nil: none
	root      *source.Node   // after extends, profiles and --set
	resolved  *source.Node   // after defaults and variables
	vars      *variables
	subs      *substitution
	diags     source.Diagnostics
}

// readDocument reads the text of a plan, and the plans that it extends. Without a document the diagnostics say why.
func readDocument(file string, data []byte, o Overrides) (*document, source.Diagnostics) {
	root, diags := source.Parse(file, data)
	if !isPlan(root, data) {
		return nil, source.Diagnostics{notAPlan(file, diags)}
	}
	if root == nil || slices.ContainsFunc(diags, leavesHole) {
		return nil, diags
	}
	r := &document{file: file, dir: filepath.Dir(file), layers: newLayers(), diags: diags, overrides: o, text: data}
	r.root = r.extend(root, []string{file})
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

// resolve applies everything from outside and merges the defaults, all on nodes. False: the plan is too large to go on with.
func (r *document) resolve() bool {
	o := r.overrides
	r.profile(o.Profiles)
	r.diags = append(r.diags, applySets(r.root, o.Sets)...)
	r.compareWith(o.Baseline)
	merged := r.layers.mergeMixes(r.layers.removed(r.layers.mergeDefaults(r.root)))
	for _, u := range r.uppers {
		r.layers.idle(u.tree, u.path)
	}
	r.diags = append(r.diags, r.layers.diags...)
	r.root = r.layers.removed(r.root)
	r.vars = resolveVariables(r.root, o, r.layers.from)
	r.subs = newSubstitution(r.vars)
	if large := tooLarge(merged); large != nil {
		r.diags = append(r.diags, large...)
		return false
	}
	r.subs.readSLOs(r.root.Get("slos"))
	r.resolved = r.subs.tree(merged, typeOf[rawPlan](), "")
	for _, n := range r.covered {
		r.subs.mark(n)
	}
	for _, e := range entriesOf(r.profiles) {
		r.subs.mentions(e.Value, "/profiles"+source.JoinPointer(e.Key))
	}
	r.diags = append(r.diags, r.subs.diags...)
	return true
}

// FlagBaseline is the file of positions that mean --baseline.
const FlagBaseline = "--baseline"

// compareWith puts the stored result that the command line names in the place of the plan's baseline. Its path is relative
// to where the command is run, not to the plan.
func (r *document) compareWith(file string) {
	if file == "" {
		return
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	at := source.Pos{File: FlagBaseline}
	named := &source.Node{Kind: source.Scalar, Tag: "!!str", Quoted: true, Text: file, Pos: at}
	in, key := r.root, "baseline"
	if b := in.Get(key); b != nil && b.Kind == source.Map {
		in, key = b, "file"
	}
	if e := in.Entry(key); e != nil {
		e.Value = named
		return
	}
	in.Entries = append(in.Entries, source.Entry{Key: key, KeyPos: at, Value: named})
}

// mayBeSecret reports whether what stands at a mistake may be the value of a secret that is not known as one: a file of
// variables, or a --var with a wrong name.
func (o Overrides) mayBeSecret(d source.Diagnostic) bool {
	return slices.Contains(o.VarFiles, d.Pos.File) || d.Pos.File == "--var" && d.Code == codeVarUnknown
}

// Source is the text that a position names: a file, or what was said on the command line, an argument a line.
func (o Overrides) Source(file string) []byte {
	switch file {
	case "--set":
		return []byte(strings.Join(o.Sets, "\n"))
	case "--var":
		return []byte(strings.Join(o.Vars, "\n"))
	case "--var-file":
		return []byte(strings.Join(o.VarFiles, "\n"))
	case "--profile":
		return []byte(strings.Join(o.Profiles, "\n"))
	}
	data, err := readSome(file)
	if err != nil {
		return nil
	}
	return data
}

// textOf is the text that a position of this document names.
func (r *document) textOf(file string) []byte {
	if file == r.file {
		return r.text
	}
	return r.overrides.Source(file)
}

// overlays names what was merged, weakest first.
func (r *document) overlays() []string { return r.layers.names }

// isPartial reports whether a plan that this one extends could not be read.
func (r *document) isPartial() bool { return r.layers.partial }
