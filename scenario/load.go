package scenario

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

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

// Parse is LoadFile for a plan that is in memory. file is its name in messages and the place that its paths are
// relative to.
func Parse(file string, data []byte, o Overrides) (*Plan, source.Diagnostics) {
	doc, diags := readDocument(file, data, o)
	if doc == nil {
		return nil, diags
	}
	r := reading{document: doc}
	return r.read(), r.diags
}

// reading is one plan on its way from a document to a Plan.
type reading struct {
	*document
	raw   rawPlan
	later source.Diagnostics // what cannot be run that the schema cannot see
}

func (r *reading) read() *Plan {
	if !r.resolve() {
		r.diags = r.tidy()
		return nil
	}
	r.decode()
	r.diags = append(r.diags, r.vars.diags...)
	r.diags = append(r.diags, warnShort(r.vars)...)
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

// decode checks the shape, then the meaning. What one step has reported the next ones leave alone.
func (r *reading) decode() {
	d := newDecoder(nil, r.subs)
	c := &checker{decoder: d, raw: &r.raw, values: r.subs, planFile: r.file, modelless: map[*rawTarget]bool{}, used: map[string]bool{}}
	d.learn(r.diags)
	shape := slices.DeleteFunc(r.shape(), func(s source.Diagnostic) bool {
		return d.spots[s.Pos] || r.subs.isUnset(r.resolved.At(s.Path)) // its own mistake is reported
	})
	d.learn(shape)
	c.nulls(r.resolved, "")
	d.learn(d.diags)
	d.decodePlan(&r.raw, r.resolved)
	d.learn(d.diags)
	c.expand()
	fillDefaults(&r.raw)
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
		if r.mayBeInBase(d.Code) {
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
	return conceal(all, secretsOf(r.vars), r.textOf)
}
