package scenario

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
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

// LoadFile reads the plan in file. It returns every mistake it finds, not only the first; with any error among them the
// plan is nil. Warnings are in both results.
//
// What comes from the command line has the file "--set", "--var", "--var-file" or "--profile", the number of the argument
// as its line, and the place in the argument as its column; or the file "--baseline" alone.
func LoadFile(file string, o Overrides) (*Plan, source.Diagnostics) {
	data, err := readSome(file)
	if err != nil {
		d := source.Diagnostic{
			Severity: source.Error, Code: codeFile, Summary: fmt.Sprintf("plan %q cannot be read: %v", file, cause(err)),
			Pos: source.Pos{File: file, Line: 1, Column: 1},
		}
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			d.Summary = fmt.Sprintf("%q is a folder, and no plan", file)
			d.Detail, d.Allowed = "Name the plans in it.", plansIn(file)
			if len(d.Allowed) == 0 {
				d.Detail = "It holds no plan."
			}
		}
		return nil, source.Diagnostics{d}
	}
	return Parse(file, data, o)
}

// readSome reads a file up to a little more than a plan may have, so that source can say that it is too large.
func readSome(file string) ([]byte, error) {
	f, err := regular.Open(file, math.MaxInt64-1)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 2<<20))
}

// Parse is LoadFile for a plan that is in memory. file is its name in messages and the place that its paths are
// relative to.
func Parse(file string, data []byte, o Overrides) (*Plan, source.Diagnostics) {
	root, diags := source.Parse(file, data)
	if !isPlan(root, data) {
		return nil, source.Diagnostics{notAPlan(file, diags)}
	}
	if root == nil || slices.ContainsFunc(diags, leavesHole) {
		return nil, diags
	}
	r := reading{file: file, dir: filepath.Dir(file), layers: newLayers(), diags: diags, overrides: o, text: data}
	r.root = r.extend(root, []string{file})
	plan := r.read(o)
	return plan, r.diags
}

// leavesHole reports whether a mistake in the YAML means that keys or values are missing from the tree.
func leavesHole(d source.Diagnostic) bool {
	switch d.Code {
	case "merge-key", "alias-loop", "too-deep", "too-many-aliases":
		return true
	}
	return false
}

// reading is one plan on its way from nodes to a Plan.
type reading struct {
	file, dir string
	text      []byte // of the file
	overrides Overrides
	layers    *layers
	uppers    []upper        // what was laid over something
	covered   []*source.Node // trees that something was laid over
	profiles  *source.Node   // all of them; nil: none
	root      *source.Node   // after extends, profiles and --set
	resolved  *source.Node   // after defaults and variables
	vars      *variables
	subs      *substitution
	raw       rawPlan
	diags     source.Diagnostics
	later     source.Diagnostics // what cannot be run that the schema cannot see
}

func (r *reading) read(o Overrides) *Plan {
	if !r.resolve(o) {
		r.diags = r.tidy()
		return nil
	}
	r.decode()
	r.diags = append(r.diags, r.vars.diags...)
	r.diags = append(r.diags, r.conditions()...)
	if !r.diags.HasErrors() { // a mistake may hide the place that uses a variable
		r.diags = append(r.diags, r.vars.unused()...)
		r.diags = append(r.diags, r.subs.idle...)
	}
	if r.diags.HasErrors() {
		r.diags = append(r.diags, r.later...)
	}
	r.diags = r.tidy()
	if r.diags.HasErrors() {
		return nil
	}
	return r.plan()
}

// FlagBaseline is the file of positions that mean --baseline.
const FlagBaseline = "--baseline"

// compareWith puts the stored result that the command line names in the place of the plan's baseline. Its path is relative
// to where the command is run, not to the plan.
func (r *reading) compareWith(file string) {
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

// resolve applies everything from outside and merges the defaults, all on nodes. False: the plan is too large to go on with.
func (r *reading) resolve(o Overrides) bool {
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
	r.resolved = r.subs.tree(merged, reflect.TypeFor[rawPlan](), "")
	for _, n := range r.covered {
		r.subs.mark(n)
	}
	for _, e := range entriesOf(r.profiles) {
		r.subs.mentions(e.Value, "/profiles"+source.JoinPointer(e.Key))
	}
	r.diags = append(r.diags, r.subs.diags...)
	return true
}

// decode checks the shape, then the meaning. What one step has reported the next ones leave alone.
func (r *reading) decode() {
	d := newDecoder(nil, r.subs)
	c := &checker{decoder: d, raw: &r.raw, planFile: r.file, modelless: map[*rawTarget]bool{}, used: map[string]bool{}}
	d.learn(r.diags)
	shape := slices.DeleteFunc(r.shape(), func(s source.Diagnostic) bool {
		return d.spots[s.Pos] || r.subs.unset[r.resolved.At(s.Path)] // its own mistake is reported
	})
	d.learn(shape)
	c.nulls(r.resolved, "")
	d.learn(d.diags)
	d.structure(reflect.ValueOf(&r.raw).Elem(), r.resolved, "")
	d.learn(d.diags)
	c.expand()
	fill(reflect.ValueOf(&r.raw))
	c.plan()
	r.diags = append(r.diags, shape...)
	r.diags = append(r.diags, d.diags...)
	if !r.diags.HasErrors() && !r.vars.diags.HasErrors() {
		d.diags = nil
		c.effects()
		r.diags = append(r.diags, d.diags...)
	}
}

// shape checks the tree against the schema, together with all profiles. What a profile brought into the plan is said once.
func (r *reading) shape() source.Diagnostics {
	whole := *r.resolved
	if e := r.profiles; e != nil {
		whole.Entries = append(slices.Clone(whole.Entries), source.Entry{Key: "profiles", KeyPos: e.Pos, Value: e})
	}
	found, later := schema.Check(&whole)
	found, r.later = nested(found), later
	for i := range r.later {
		r.later[i].Path = r.subs.inPlan(r.later[i].Path)
	}
	inPlan := map[source.Pos]bool{}
	ofProfile := func(d source.Diagnostic) bool { return strings.HasPrefix(d.Path, "/profiles") }
	for i, d := range found {
		found[i].Path = r.subs.inPlan(d.Path)
		inPlan[d.Pos] = inPlan[d.Pos] || !ofProfile(d)
	}
	return slices.DeleteFunc(found, func(d source.Diagnostic) bool { return ofProfile(d) && inPlan[d.Pos] })
}

// tidy sorts the diagnostics, leaves out repetitions (a default is read once for each stage) and hides secrets.
func (r *reading) tidy() source.Diagnostics {
	type key struct {
		pos           source.Pos
		code, summary string
	}
	seen := map[key]bool{}
	var all source.Diagnostics
	for _, d := range r.diags.Sorted() {
		if r.layers.partial && fromBase(d.Code) {
			continue
		}
		if d.Pos == (source.Pos{}) {
			d.Pos = source.Pos{File: r.file, Line: 1, Column: 1}
		}
		k := key{d.Pos, d.Code, d.Summary}
		if seen[k] {
			continue
		}
		seen[k] = true
		d.Hidden = d.Hidden || r.overrides.mayBeSecret(d)
		all = append(all, d)
	}
	return conceal(all, r.vars.secrets(), func(file string) []byte {
		if file == r.file {
			return r.text
		}
		return r.overrides.Source(file)
	})
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

// cause is an error of the file system without the path, which the message names already.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
