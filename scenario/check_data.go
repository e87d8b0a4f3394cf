package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

func checkDataset(c *checker, ds *language.Dataset) {
	checkSource(c, ds)
	checkLength(c, ds.StringLength, 0)
	if ds.Generate == nil {
		return
	}
	for _, g := range ds.Generate.Inputs.Items() {
		checkGenerator(c, g.Value)
	}
}

// checkLength checks a distribution of lengths: none may be below the shortest or fill the memory.
func checkLength(c *checker, d *language.Dist[int64, language.Number], shortest int64) {
	const longest = 1 << 24
	checkDist(c, d)
	if d == nil {
		return
	}
	wrong := outOfRange("a length must be from %d to %d", shortest, longest)
	if v := d.Constant; v != nil && (v.V < shortest || v.V > longest) {
		c.at(v.At, wrong)
	}
	for _, v := range []*language.Val[language.Number]{d.Spread.Mean, d.Spread.Min, d.Spread.Max} {
		if v != nil && (v.V < language.Number(shortest) || v.V > longest) {
			c.at(v.At, wrong)
		}
	}
}

// checkGenerator checks how one input is drawn: length, one_of, file, or else a distribution.
func checkGenerator(c *checker, g *language.Generator) {
	if g.At.Node == nil {
		return
	}
	c.file(g.File)
	checkLength(c, g.Length, 0)
	if g.At.Node.Kind != source.Map {
		if g.Constant == nil && len(language.Flatten(g.List)) == 0 && !c.Doubtful(g.At.Path) {
			c.at(g.At, missing("%s", language.LastKey(g.At.Path)+" has no elements"))
		}
		return
	}
	others := slices.DeleteFunc(slices.Clone(g.At.Node.Entries), func(e source.Entry) bool {
		return !slices.Contains([]string{"mean", "std", "min", "max", "shape", "values"}, e.Key)
	})
	switch own := g.Own(); {
	case own == "":
		checkSpread(c, g.At, g.Spread)
	case len(others) > 0:
		c.under(g.At, others[0].Key, doesNotFit("%q does not fit %q", others[0].Key, own).
			Help("keep one of them"))
	default:
		empty(c, g.At, "one_of", g.OneOf, "one_of is empty")
	}
}

func checkShapes(c *checker, shapes *language.Dict[language.Shape]) {
	for _, e := range shapes.Items() {
		if e.Value.At.Node == nil || c.Doubtful(e.Value.At.Path) {
			continue
		}
		dims, wrong := e.Value.Sizes()
		if wrong != nil {
			c.at(e.Value.At, wrong)
			continue
		}
		for i, n := range dims {
			if n >= 0 && n <= 1<<40 {
				continue
			}
			at := e.Value.At
			if e.Value.Text == nil {
				at = e.Value.Dims[i].At
			}
			c.at(at, outOfRange("dimension %d of %q is %d", i+1, e.Key, n).
				Help("give the size that requests have; -1 is for a model's configuration only"))
		}
	}
}

// checkSource checks where the rows of a dataset come from, generated ones aside.
func checkSource(c *checker, ds *language.Dataset) {
	for _, f := range ds.File.All() {
		c.file(f)
	}
	if ds.File != nil && ds.File.One == nil && len(ds.File.Many) == 0 && !c.Doubtful(ds.File.At.Path) {
		c.at(ds.File.At, missing("file names no file"))
	}
	c.folder(ds.Dir)
	checkBodies(c, ds.Bodies)
	empty(c, ds.At, "rows", ds.Rows, "rows is empty")
	empty(c, ds.At, "command", ds.Command, "command names no program")
	for _, e := range ds.Columns.Items() {
		if m := columnField(e.Key); m != nil {
			c.under(ds.Columns.At, e.Key, m)
		}
	}
	if p := ds.Prompts; p != nil {
		checkPrompts(c, p)
	}
}

// checkBodies checks that a pattern finds files.
func checkBodies(c *checker, pattern *language.Val[string]) {
	if pattern == nil {
		return
	}
	found, err := filepath.Glob(layer.Locate(c.planFile, pattern.At.Node, pattern.V))
	switch {
	case err != nil:
		c.at(pattern.At, source.Errorf(source.CodeValue, "%q is no pattern of files", pattern.V).
			Help("* is any text, ? any character, [a-z] one of them"))
	case len(found) == 0:
		c.at(pattern.At, source.Errorf(source.CodeFile, "no file matches %q", pattern.V).
			Help("paths are relative to the folder of the plan"))
	}
}

// columnField says what is wrong with a field that a column is read as; nil: nothing.
func columnField(name string) *source.Diagnostic {
	fields := strings.Fields("prompt messages input output_tokens image session_id delay timestamp id")
	for _, open := range [...]string{"parameters.", "inputs.", "outputs."} {
		if rest, ok := strings.CutPrefix(name, open); ok && rest != "" {
			return nil
		}
	}
	m := language.OneWord(name, "columns", fields)
	if m != nil {
		m.Summary, m.Detail = fmt.Sprintf("%q is no field of a row",
			name), "or parameters.NAME, inputs.NAME, outputs.NAME"
	}
	return m
}

// checkPrompts checks synthetic text.
func checkPrompts(c *checker, p *language.Prompts) {
	for _, d := range [...]*language.Dist[int64, language.Number]{p.InputTokens, p.OutputTokens, p.Turns} {
		checkLength(c, d, 0)
	}
	checkDist(c, p.Delay)
	c.file(p.Corpus)
	if i := p.Images; i != nil {
		checkDist(c, i.Width)
		checkDist(c, i.Height)
	}
	if a := p.Audio; a != nil {
		checkDist(c, a.Seconds)
	}
	if p.ExactOutput.Or(false) && p.OutputTokens == nil && c.Absent(p.At, "output_tokens") {
		c.under(
			p.At, "exact_output",
			missing("\"exact_output\" needs \"output_tokens\" beside it"),
		)
	}
}
