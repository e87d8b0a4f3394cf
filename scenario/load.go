package scenario

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

// Overrides are what the command line and the environment change in a plan. The zero value changes nothing.
type Overrides struct {
	Vars []string                    // "name=value", of --var
	Sets []string                    // "path=value", of --set
	Env  func(string) (string, bool) // os.LookupEnv; nil: no environment
}

// LoadFile reads the plan in file. It returns every mistake it finds, not only the first; with any error among them the
// plan is nil. Warnings are in both results.
//
// What comes from the command line has the file "--set" or "--var", the number of the argument as its line, and the
// place in the argument as its column.
func LoadFile(file string, o Overrides) (*Plan, source.Diagnostics) {
	data, err := readSome(file)
	if err != nil {
		return nil, source.Diagnostics{{
			Severity: source.Error, Code: codeFile, Summary: fmt.Sprintf("plan %q cannot be read: %v", file, cause(err)),
			Pos: source.Pos{File: file, Line: 1, Column: 1},
		}}
	}
	return Parse(file, data, o)
}

// readSome reads a file up to a little more than a plan may have, so that source can say that it is too large.
func readSome(file string) ([]byte, error) {
	f, err := os.Open(file)
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
	if root == nil || slices.ContainsFunc(diags, leavesHole) {
		return nil, diags
	}
	if root.Kind != source.Map {
		return nil, append(diags, source.Diagnostic{
			Severity: source.Error, Code: codeType, Summary: "a plan is a map of keys, such as version, target and stages", Pos: root.Pos,
		})
	}
	r := reading{file: file, dir: filepath.Dir(file), root: root, diags: diags}
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
	root      *source.Node // after --set
	resolved  *source.Node // after variables and defaults
	vars      *variables
	subs      *substitution
	raw       rawPlan
	diags     source.Diagnostics
}

func (r *reading) read(o Overrides) *Plan {
	r.resolve(o)
	r.decode()
	r.diags = append(r.diags, r.vars.diags...)
	r.diags = append(r.diags, r.conditions()...)
	if !r.diags.HasErrors() { // a mistake may hide the place that uses a variable
		r.diags = append(r.diags, r.vars.unused()...)
	}
	r.diags = r.tidy()
	if r.diags.HasErrors() {
		return nil
	}
	return r.plan()
}

// resolve applies everything from outside and merges the defaults, all on nodes.
func (r *reading) resolve(o Overrides) {
	r.diags = append(r.diags, applySets(r.root, o.Sets)...)
	r.vars = resolveVariables(r.root, o)
	r.subs = newSubstitution(r.vars)
	r.resolved = mergeDefaults(r.subs.tree(r.root, reflect.TypeFor[rawPlan](), ""))
	r.diags = append(r.diags, r.subs.diags...)
}

// decode checks the shape, then the meaning. What one step has reported the next ones leave alone.
func (r *reading) decode() {
	d := newDecoder(nil, r.subs)
	c := &checker{decoder: d, raw: &r.raw, dir: r.dir, modelless: map[*rawTarget]bool{}, used: map[string]bool{}}
	d.learn(r.diags)
	shape := slices.DeleteFunc(schema.Validate(r.resolved), func(s source.Diagnostic) bool { return d.spots[s.Pos] })
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

// tidy sorts the diagnostics, leaves out repetitions (a default is read once for each stage) and hides secrets.
func (r *reading) tidy() source.Diagnostics {
	type key struct {
		pos           source.Pos
		code, summary string
	}
	seen := map[key]bool{}
	var all source.Diagnostics
	for _, d := range r.diags.Sorted() {
		if d.Pos == (source.Pos{}) {
			d.Pos = source.Pos{File: r.file, Line: 1, Column: 1}
		}
		k := key{d.Pos, d.Code, d.Summary}
		if seen[k] {
			continue
		}
		seen[k] = true
		d.Summary, d.Detail, d.Nearest = r.mask(d.Summary), r.mask(d.Detail), r.mask(d.Nearest)
		all = append(all, d)
	}
	return all
}

func (r *reading) mask(s string) string { return maskAll(s, r.vars.secrets()) }

// cause is an error of the file system without the path, which the message names already.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
