package scenario

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// checker holds what all checks of a plan's meaning share: its shape was decoded. They work on what was
// written and leave out what is absent because of a mistake that is already reported.
type checker struct {
	*reading
	*language.Decoder
	used map[string]bool // slos, by name
}

// checkPlan runs all checks but those of effects.
func checkPlan(c *checker) {
	for _, p := range c.Paths {
		if m := c.open(p); m != nil {
			c.Report(p.At.Node, p.At.Path, m)
		}
	}
	for _, t := range targetsOf(c.raw) {
		checkTarget(c, t.Value)
	}
	for _, ds := range datasetsOf(c.raw) {
		checkDataset(c, ds.Value)
	}
	checkStages(c)
	for _, a := range c.raw.Assert {
		checkAssertion(c, a, 0)
	}
	for _, s := range c.raw.SLOs.Items() {
		for _, a := range *s.Value {
			checkAssertion(c, a, 0) // where it is used it is looked at with the length of the stage
		}
	}
	checkBaseline(c)
	checkOutput(c)
}

// outOfRange, doesNotFit and missing return the three mistakes that most checks find, not placed yet.
func outOfRange(format string, args ...any) *source.Diagnostic {
	return source.Errorf(source.CodeRange, format, args...)
}

func doesNotFit(format string, args ...any) *source.Diagnostic {
	return source.Errorf(source.CodeDoesNotFit, format, args...)
}

func missing(format string, args ...any) *source.Diagnostic {
	return source.Errorf(source.CodeMissing, format, args...)
}

// targetsOf returns the targets by name; `target` is one named main.
func targetsOf(p *language.Plan) []language.Item[language.Target] {
	return asMap(p.Targets, p.Target).Items()
}

// datasetsOf returns the datasets by name; `data` is one named main.
func datasetsOf(p *language.Plan) []language.Item[language.Dataset] {
	return asMap(p.Datasets, p.Data).Items()
}

// at reports a mistake about a value; nil: there is none.
func (c *checker) at(p language.Place, m *source.Diagnostic) {
	if m != nil && p.Node != nil && !c.Known[p.Path] {
		c.Report(p.Node, p.Path, m)
	}
}

// under reports a mistake about a key of a map, at the key if it is there, else at the map.
func (c *checker) under(p language.Place, key string, m *source.Diagnostic) {
	e := p.Node.Entry(key)
	if e == nil {
		c.at(p, m)
		return
	}
	c.Diags = append(c.Diags, m.AtKey(p.Path+source.JoinPointer(key), e.KeyPos, key))
}

// warn reports what a plan may say but hardly means, at a key of a map.
func (c *checker) warn(p language.Place, key, code, summary, detail string) {
	c.under(p, key, source.Warnf(code, "%s", summary).Help(detail))
}

// open says why a file or folder cannot be opened; nil: it can.
func (c *checker) open(p language.NamedPath) *source.Diagnostic {
	m := source.Errorf(source.CodeFile, "").Help("paths are relative to the folder of the plan")
	dir := layer.FolderOf(c.File, p.At.Node)
	if dir != filepath.Dir(c.File) {
		m.Detail = "paths are relative to the folder of the file that holds them, here " + p.At.Node.Pos.File
	}
	full := layer.ResolvePath(dir, string(p.V))
	info, err := os.Stat(full) // before it is opened: a pipe may never be
	switch {
	case err != nil:
	case info.IsDir() && p.Kind == "file":
		m.Summary = fmt.Sprintf("%q is a folder, not a file", p.V)
		return m
	case p.Kind == "folder" && !info.IsDir():
		m.Summary = fmt.Sprintf("%q is a file, not a folder", p.V)
		return m
	case info.IsDir():
		_, err = os.ReadDir(full)
	default:
		var f *regular.File
		if f, err = regular.Open(full, math.MaxInt64-1); err == nil {
			err = f.Close()
		}
	}
	if err == nil {
		return nil
	}
	m.Summary = fmt.Sprintf("%s %q cannot be opened: %v", p.Kind, p.V, layer.Cause(err))
	return m
}

func checkOutput(c *checker) {
	o := c.raw.Output
	if o == nil {
		return
	}
	for _, p := range o.Percentiles {
		if p.V >= 0.5 && p.V < 1 {
			c.at(p.At, outOfRange("percentile %s is below 1", p.At.Node.Text).
				Help("percentiles count from 0 to 100").
				Among(fmt.Sprint(language.Round(float64(p.V)*100)), nil))
		}
	}
}

// checkBaseline warns of a stored result that is not there: what the assertions are then, the plan says.
// One that the command line names must be there; it may be a folder of results.
func checkBaseline(c *checker) {
	b := c.raw.Baseline
	if b == nil || b.File == nil {
		return
	}
	if n := b.File.At.Node; n != nil && n.Pos.File == layer.FlagBaseline {
		if _, err := os.Stat(n.Text); err != nil {
			c.at(
				b.File.At,
				source.Errorf(source.CodeFile, "%s %q cannot be opened: %v", layer.FlagBaseline, n.Text,
					layer.Cause(err)).
					Help("a result named on the command line must be there: name its result.json, or "+
						"a folder of results"),
			)
		}
		return
	}
	m := c.open(language.NamedPath{Val: b.File, Kind: "file"})
	if m == nil {
		return
	}
	if _, err := os.Stat(layer.Locate(c.File, b.File.At.Node, string(b.File.V))); err == nil {
		return // who reads it says what is wrong with it
	}
	m.Severity = source.Warning
	before := len(c.Diags)
	c.at(b.File.At, m)
	for i := range c.Diags[before:] {
		c.Diags[before+i].Detail = "assertions with `baseline` will be " + map[bool]string{
			true: "skipped", false: "inconclusive",
		}[b.IfMissing.Or("") == "skip"]
	}
}

// checkNulls reports every null: it removes a key in an overlay, and means nothing in a plan.
func checkNulls(c *checker, n *source.Node, path string) {
	switch n.Kind {
	case source.Null:
		if c.Known[path] {
			return
		}
		c.Report(n, path, source.Errorf(source.CodeNull, "%s", language.LastKey(path)+" has no value").
			Help("write a value, or remove the key; \"\" is the empty text"))
	case source.Map:
		for _, e := range n.Entries {
			checkNulls(c, e.Value, path+source.JoinPointer(e.Key))
		}
	case source.List:
		for i, item := range n.Items {
			checkNulls(c, item, c.Subs.ItemPath(item, path, i))
		}
	case source.Scalar:
	}
}
