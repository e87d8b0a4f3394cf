package scenario

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// checker says what is wrong with the meaning of a plan whose shape was decoded. It works on what was written and
// leaves out what is absent because of a mistake that is already reported.
type checker struct {
	*decoder
	raw       *rawPlan
	values    *substitution
	planFile  string
	modelless map[*rawTarget]bool // targets whose lack of a model is reported
	used      map[string]bool     // slos, by name
	statuses  []*statusUse        // lists of codes in `expect`
}

// plan runs all checks.
func (c *checker) plan() {
	c.version()
	checkNames(c, "target", c.raw.Targets)
	checkNames(c, "dataset", c.raw.Datasets)
	checkNames(c, "slo", c.raw.SLOs)
	for _, t := range c.targets() {
		c.target(t.Value)
	}
	for _, ds := range c.datasets() {
		c.dataset(ds.Value)
	}
	c.stages()
	for _, a := range c.raw.Assert {
		c.assertion(a, 0)
	}
	for _, s := range c.raw.SLOs.items() {
		for _, a := range *s.Value {
			c.assertion(a, 0) // where it is used it is looked at with the length of the stage
		}
	}
	c.baseline()
	c.output()
}

func (c *checker) version() {
	if v := c.raw.Version; v != nil && v.V != 1 {
		c.at(v.at, &source.Diagnostic{
			Code: codeVersion, Summary: fmt.Sprintf("version %d of the plan language is not known", v.V), Allowed: []string{"1"},
		})
	}
}

// targets are the targets by name; `target` is one named main.
func (c *checker) targets() []item[rawTarget] {
	if c.raw.Target != nil {
		return []item[rawTarget]{{"main", c.raw.Target.At.pos(), c.raw.Target}}
	}
	return c.raw.Targets.items()
}

// datasets are the datasets by name; `data` is one named main.
func (c *checker) datasets() []item[rawDataset] {
	if c.raw.Data != nil {
		return []item[rawDataset]{{"main", c.raw.Data.At.pos(), c.raw.Data}}
	}
	return c.raw.Datasets.items()
}

// checkNames checks the names that the plan chose for the entries of a map.
func checkNames[T any](c *checker, what string, m *dict[T]) {
	for _, e := range m.items() {
		if keyForm.MatchString(e.Key) || c.doubtful(m.At.path+source.JoinPointer(e.Key)) {
			continue
		}
		c.under(m.At, e.Key, invalid("use letters, digits, '.', _ and -, first a letter, a digit or _", "%s name %q is not allowed", what, e.Key))
	}
	if m != nil && len(m.Entries) == 0 && !c.doubtful(m.At.path) {
		c.at(m.At, &source.Diagnostic{Code: codeMissing, Summary: fmt.Sprintf("%s holds no %s", lastKey(m.At.path), what)})
	}
}

// at reports a mistake about a value.
func (c *checker) at(p place, m *source.Diagnostic) {
	if p.node == nil || c.known[p.path] {
		return
	}
	c.mistake(p.node, p.path, m)
}

// under reports a mistake about a key of a map, at the key if it is there, else at the map.
func (c *checker) under(p place, key string, m *source.Diagnostic) {
	e := p.node.Entry(key)
	if e == nil {
		c.at(p, m)
		return
	}
	c.diags = append(c.diags, source.Diagnostic{
		Severity: source.Error, Code: m.Code, Summary: m.Summary, Detail: m.Detail, Path: p.path + source.JoinPointer(key),
		Pos: e.KeyPos, Width: utf8.RuneCountInString(key), Allowed: m.Allowed, Nearest: m.Nearest,
	})
}

// warn reports what a plan may say but hardly means, at a key of a map.
func (c *checker) warn(p place, key, code, summary, detail string) {
	before := len(c.diags)
	c.under(p, key, &source.Diagnostic{Code: code, Summary: summary, Detail: detail})
	for i := range c.diags[before:] {
		c.diags[before+i].Severity = source.Warning
	}
}

// file checks that a file named by the plan is there.
func (c *checker) file(p *val[path]) {
	if p == nil || p.at.implied || p.at.node == nil {
		return
	}
	if m := c.opens(p, false); m != nil {
		c.at(p.at, m)
	}
}

// folder checks that a folder named by the plan is there.
func (c *checker) folder(p *val[path]) {
	if p == nil || p.at.implied || p.at.node == nil {
		return
	}
	if m := c.opens(p, true); m != nil {
		c.at(p.at, m)
	}
}

// opens says why a file or folder cannot be opened; nil: it can.
func (c *checker) opens(p *val[path], folder bool) *source.Diagnostic {
	name, m := string(p.V), &source.Diagnostic{Code: codeFile, Detail: "paths are relative to the folder of the plan"}
	dir := folderOf(c.planFile, p.at.node)
	if dir != filepath.Dir(c.planFile) {
		m.Detail = "paths are relative to the folder of the file that holds them, here " + p.at.node.Pos.File
	}
	info, err := os.Stat(resolvePath(dir, name)) // before it is opened: a pipe may never be
	isDir := err == nil && info.IsDir()
	switch {
	case err == nil && folder && !isDir:
		m.Summary = fmt.Sprintf("%q is a file, not a folder", name)
		return m
	case isDir && !folder:
		m.Summary = fmt.Sprintf("%q is a folder, not a file", name)
		return m
	case isDir:
		_, err = os.ReadDir(resolvePath(dir, name))
	case err == nil:
		var f *regular.File
		if f, err = regular.Open(resolvePath(dir, name), math.MaxInt64-1); err == nil {
			err = f.Close()
		}
	}
	if err == nil {
		return nil
	}
	m.Summary = fmt.Sprintf("file %q cannot be opened: %v", name, cause(err))
	if folder {
		m.Summary = fmt.Sprintf("folder %q cannot be opened: %v", name, cause(err))
	}
	return m
}

func (c *checker) output() {
	o := c.raw.Output
	if o == nil {
		return
	}
	c.unique(o.Formats, "format")
	seen := map[number]bool{}
	for _, p := range o.Percentiles {
		switch {
		case p.V <= 0 || p.V > 100:
			c.at(p.at, &source.Diagnostic{Code: codeRange, Summary: fmt.Sprintf("percentile %s is not above 0 and at most 100", p.at.node.Text)})
		case p.V >= 0.5 && p.V < 1:
			c.at(p.at, &source.Diagnostic{
				Code: codeRange, Summary: fmt.Sprintf("percentile %s is below 1", p.at.node.Text), Nearest: fmt.Sprint(round(float64(p.V) * 100)),
				Detail: "percentiles count from 0 to 100",
			})
		case seen[p.V]:
			c.at(p.at, &source.Diagnostic{Code: codeDuplicate, Summary: fmt.Sprintf("duplicate percentile %s", p.at.node.Text)})
		}
		seen[p.V] = true
	}
}

// baseline warns of a stored result that is not there: what the assertions are then, the plan says. One that the command
// line names must be there; it may be a folder of results.
func (c *checker) baseline() {
	b := c.raw.Baseline
	if b == nil || b.File == nil {
		return
	}
	if n := b.File.at.node; n != nil && n.Pos.File == FlagBaseline {
		if _, err := os.Stat(n.Text); err != nil {
			c.at(b.File.at, &source.Diagnostic{
				Code: codeFile, Summary: fmt.Sprintf("%s %q cannot be opened: %v", FlagBaseline, n.Text, cause(err)),
				Detail: "a result named on the command line must be there: name its result.json, or a folder of results",
			})
		}
		return
	}
	if p := b.File; p.at.node != nil && !p.at.implied {
		if _, err := os.Stat(resolvePath(folderOf(c.planFile, p.at.node), string(p.V))); err == nil {
			return // who reads it says what is wrong with it
		}
	}
	before := len(c.diags)
	c.file(b.File)
	for i := range c.diags[before:] {
		d := &c.diags[before+i]
		if d.Code == codeFile {
			d.Severity = source.Warning
			d.Detail = "assertions with `baseline` will be " + map[bool]string{true: "skipped", false: "inconclusive"}[b.IfMissing.or("") == "skip"]
		}
	}
}

// unique reports words that stand twice in a list.
func (c *checker) unique(words []*val[string], what string) {
	seen := map[string]bool{}
	for _, w := range words {
		if seen[w.V] {
			c.at(w.at, &source.Diagnostic{Code: codeDuplicate, Summary: fmt.Sprintf("duplicate %s %q", what, w.V)})
		}
		seen[w.V] = true
	}
}

// nulls reports every null: it removes a key in an overlay, and means nothing in a plan.
func (c *checker) nulls(n *source.Node, path string) {
	switch n.Kind {
	case source.Null:
		if c.known[path] {
			return
		}
		c.mistake(n, path, &source.Diagnostic{
			Code: codeNull, Summary: lastKey(path) + " has no value", Detail: "write a value, or remove the key; \"\" is the empty text",
		})
	case source.Map:
		for _, e := range n.Entries {
			c.nulls(e.Value, path+source.JoinPointer(e.Key))
		}
	case source.List:
		for i, item := range n.Items {
			c.nulls(item, c.subs.itemPath(item, path, i))
		}
	case source.Scalar:
	}
}
