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
	r := reading{Document: doc, raw: &language.Plan{}}
	return r.read(), r.Diags
}

// reading is one plan on its way from a document to a Plan.
type reading struct {
	*layer.Document
	raw *language.Plan
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
	r.tidy()
	if r.Diags.HasErrors() {
		return nil
	}
	return r.plan()
}

// decode checks the shape, then the meaning. What one step has reported the next ones leave alone.
func (r *reading) decode() {
	d := language.NewDecoder(r.Subs)
	c := &checker{r, d, map[string]bool{}}
	d.Learn(r.Diags)
	shape := slices.DeleteFunc(r.shape(), func(s source.Diagnostic) bool {
		return d.Spots[s.Pos] || r.Subs.Of(r.Resolved.At(s.Path)).Unset // its own mistake is reported
	})
	d.Learn(shape)
	checkNulls(c, r.Resolved, "")
	d.Learn(d.Diags)
	d.DecodePlan(r.raw, r.Resolved)
	d.Learn(d.Diags)
	c.expand()
	language.FillDefaults(r.raw)
	checkPlan(c)
	r.Diags = append(r.Diags, shape...)
	r.Diags = append(r.Diags, d.Diags...)
	if !r.Diags.HasErrors() && !r.Vars.Diags.HasErrors() {
		d.Diags = nil
		checkSize(c)
		checkEffects(c)
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
	found := nested(schema.Check(&whole))
	inPlan := map[source.Pos]bool{}
	ofProfile := func(d source.Diagnostic) bool { return strings.HasPrefix(d.Path, "/profiles") }
	for i, d := range found {
		found[i].Path = r.Subs.InPlan(d.Path)
		inPlan[d.Pos] = inPlan[d.Pos] || !ofProfile(d)
	}
	return slices.DeleteFunc(found, func(d source.Diagnostic) bool { return ofProfile(d) && inPlan[d.Pos] })
}

// tidy sorts the diagnostics and hides secrets.
func (r *reading) tidy() {
	all := slices.DeleteFunc(r.Diags, func(d source.Diagnostic) bool { return r.MayBeInBase(d.Code) })
	for i := range all {
		d := &all[i]
		if d.Pos == (source.Pos{}) {
			d.Pos = source.Pos{File: r.File, Line: 1, Column: 1}
		}
		d.Hidden = d.Hidden || r.Overrides.MayBeSecret(*d)
	}
	r.Diags = conceal(all.Sorted(), secretsOf(r.Vars), r.TextOf)
}
