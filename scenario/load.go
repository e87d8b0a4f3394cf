package scenario

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

// LoadFile reads the plan in file. It returns every mistake it finds, not only the first; with any
// error among them the plan is nil. Warnings are in both results.
//
// What comes from the command line has the file "--set", "--var", "--var-file" or "--profile", the
// number of the argument as its line, and the place in the argument as its column; or the file
// "--baseline" alone.
func LoadFile(file string, o Overrides) (*Plan, source.Diagnostics) {
	data, err := layer.ReadSome(file)
	if err != nil {
		d := source.Errorf(source.CodeFile, "plan %q cannot be read: %v", file, layer.Cause(err)).
			At("", source.Pos{File: file, Line: 1, Column: 1}, 0)
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			d.Summary = fmt.Sprintf("%q is a folder, and no plan", file)
			d.Detail, d.Allowed = "Name the plans in it.", layer.PlansIn(file)
			if len(d.Allowed) == 0 {
				d.Detail = "It holds no plan."
			}
		}
		return nil, source.Diagnostics{d}
	}
	return Parse(file, data, o)
}

// Parse is LoadFile for a plan that is in memory. file is its name in messages and the place that its
// paths are relative to.
func Parse(file string, data []byte, o Overrides) (*Plan, source.Diagnostics) {
	doc, diags := layer.ReadDocument(file, data, o)
	if doc == nil {
		return nil, diags
	}
	r := reading{Document: doc}
	return r.read(), r.Diags
}

// reading is one plan on its way from a document to a Plan.
type reading struct {
	*layer.Document
	raw   language.Plan
	later source.Diagnostics // what cannot be run that the schema cannot see
}

func (r *reading) read() *Plan {
	merged := r.Merge()
	if large := tooLarge(merged); large != nil {
		r.Diags = append(r.Diags, large...)
		r.tidy()
		return nil
	}
	r.Substitute(merged)
	r.decode()
	r.Diags = append(r.Diags, r.Vars.Diags...)
	r.Diags = append(r.Diags, warnShort(r.Vars)...)
	r.Diags = append(r.Diags, r.conditions()...)
	if !r.Diags.HasErrors() { // a mistake may hide the place that uses a variable
		r.Diags = append(r.Diags, r.Vars.Unused()...)
		r.Diags = append(r.Diags, r.Subs.Idle...)
	}
	if r.Diags.HasErrors() {
		r.Diags = append(r.Diags, r.later...)
	}
	r.tidy()
	if r.Diags.HasErrors() {
		return nil
	}
	return r.plan()
}

// decode checks the shape, then the meaning. What one step has reported the next ones leave alone.
func (r *reading) decode() {
	d := language.NewDecoder(nil, r.Subs)
	c := &checker{Decoder: d, raw: &r.raw, values: r.Subs, planFile: r.File}
	x := &expander{checker: c, used: map[string]bool{}}
	d.Learn(r.Diags)
	shape := slices.DeleteFunc(r.shape(), func(s source.Diagnostic) bool {
		return d.Spots[s.Pos] || r.Subs.IsUnset(r.Resolved.At(s.Path)) // its own mistake is reported
	})
	d.Learn(shape)
	checkNulls(c, r.Resolved, "")
	d.Learn(d.Diags)
	d.DecodePlan(&r.raw, r.Resolved)
	d.Learn(d.Diags)
	x.expand()
	language.FillDefaults(&r.raw)
	checkPlan(c)
	r.Diags = append(r.Diags, shape...)
	r.Diags = append(r.Diags, d.Diags...)
	if !r.Diags.HasErrors() && !r.Vars.Diags.HasErrors() {
		d.Diags = nil
		checkEffects(c, x.used)
		r.Diags = append(r.Diags, d.Diags...)
	}
}

// shape checks the tree against the schema, together with all profiles. What a profile brought into
// the plan is reported once.
func (r *reading) shape() source.Diagnostics {
	whole := *r.Resolved
	if e := r.Profiles; e != nil {
		whole.Entries = append(slices.Clone(whole.Entries),
			source.Entry{Key: "profiles", KeyPos: e.Pos, Value: e})
	}
	found, later := schema.Check(&whole)
	found, r.later = nested(found), later
	for i := range r.later {
		r.later[i].Path = r.Subs.InPlan(r.later[i].Path)
	}
	inPlan := map[source.Pos]bool{}
	ofProfile := func(d source.Diagnostic) bool { return strings.HasPrefix(d.Path, "/profiles") }
	for i, d := range found {
		found[i].Path = r.Subs.InPlan(d.Path)
		inPlan[d.Pos] = inPlan[d.Pos] || !ofProfile(d)
	}
	return slices.DeleteFunc(found, func(d source.Diagnostic) bool { return ofProfile(d) && inPlan[d.Pos] })
}

// tidy sorts the diagnostics, leaves out repetitions (a default is read once for each stage) and hides
// secrets.
func (r *reading) tidy() {
	type key struct {
		pos           source.Pos
		code, summary string
	}
	seen := map[key]bool{}
	var all source.Diagnostics
	for _, d := range r.Diags.Sorted() {
		if r.MayBeInBase(d.Code) {
			continue
		}
		if d.Pos == (source.Pos{}) {
			d.Pos = source.Pos{File: r.File, Line: 1, Column: 1}
		}
		k := key{d.Pos, d.Code, d.Summary}
		if seen[k] {
			continue
		}
		seen[k] = true
		d.Hidden = d.Hidden || r.Overrides.MayBeSecret(d)
		all = append(all, d)
	}
	r.Diags = conceal(all, secretsOf(r.Vars), r.TextOf)
}

// Built keeps those of some names that this version can run: keys of the map at a path of the schema,
// or words of the key there.
func Built(path string, names []string) []string {
	p, _ := schema.Lookup(path)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.Contains(p.Keys, name) && !slices.Contains(p.Allowed, name)
	})
}
