package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

func checkDataset(c *checker, ds *language.Dataset) {
	checkBodies(c, ds.Bodies)
	for _, e := range ds.Columns.Items() {
		if m := columnField(e.Key); m != nil {
			c.under(ds.Columns.At, e.Key, m)
		}
	}
	checkCounters(c, ds.Counters)
	if p := ds.Prompts; p != nil {
		checkPrompts(c, p)
	}
	checkLength(c, ds.StringLength, 0)
	if ds.Generate == nil {
		return
	}
	for _, g := range ds.Generate.Inputs.Items() {
		checkGenerator(c, g.Value)
	}
}

// mostCounters is that of a request.
const mostCounters = 32

func checkCounters(c *checker, counters *language.Dict[language.Counter]) {
	for i, e := range counters.Items() {
		from, to := e.Value.From.Or(0), e.Value.To
		if to != nil && to.V < from {
			c.at(to.At, outOfRange("`to` is %d, and the counter begins at %d", to.V, from))
		}
		if i == mostCounters {
			c.under(counters.At, e.Key, outOfRange("a request has at most %d counters", mostCounters))
		}
	}
}

// checkLength checks a distribution of lengths: none may be below the shortest or fill the memory.
func checkLength(c *checker, d *language.Dist[int64, language.Number], shortest int64) {
	checkWithin(c, d, "a length", language.Number(shortest), 1<<24)
}

// checkWithin checks a distribution whose numbers must be from least to most.
func checkWithin[C int64 | language.Number](
	c *checker, d *language.Dist[C, language.Number], what string, least, most language.Number,
) {
	checkDist(c, d)
	if d == nil {
		return
	}
	bound := func(n language.Number) string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }
	wrong := outOfRange("%s must be from %s to %s", what, bound(least), bound(most))
	if v := d.Constant; v != nil && !(language.Number(v.V) >= least && language.Number(v.V) <= most) {
		c.at(v.At, wrong)
	}
	for _, v := range []*language.Val[language.Number]{d.Spread.Mean, d.Spread.Min, d.Spread.Max} {
		if v != nil && !(v.V >= least && v.V <= most) {
			c.at(v.At, wrong)
		}
	}
}

// checkGenerator checks how one input is drawn: length, one_of, file, or else a distribution.
func checkGenerator(c *checker, g *language.Generator) {
	if g.At.Node == nil {
		return
	}
	checkLength(c, g.Length, 0)
	if g.At.Node.Kind != source.Map {
		if g.Constant == nil && len(language.Flatten(g.List)) == 0 && !c.Doubtful(g.At.Path) {
			c.at(g.At, missing("%s", language.LastKey(g.At.Path)+" has no elements"))
		}
		return
	}
	others := slices.DeleteFunc(slices.Clone(g.At.Node.Entries), func(e source.Entry) bool {
		return !slices.Contains(numbers[:], e.Key) && e.Key != "shape" && e.Key != "values"
	})
	switch own := g.Own(); {
	case own == "":
		checkSpread(c, g.At, g.Spread)
	case len(others) > 0:
		c.under(g.At, others[0].Key, doesNotFit("%q does not fit %q", others[0].Key, own).
			Help("keep one of them"))
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

// checkBodies checks that a pattern finds files.
func checkBodies(c *checker, pattern *language.Val[string]) {
	if pattern == nil {
		return
	}
	found, err := filepath.Glob(layer.Locate(c.File, pattern.At.Node, pattern.V))
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
	for _, d := range [...]*language.Dist[int64, language.Number]{p.InputTokens, p.OutputTokens} {
		checkLength(c, d, 0)
	}
	checkLength(c, p.Turns, 1)
	for _, l := range p.Lengths {
		checkLength(c, l.Input, 0)
		checkLength(c, l.Output, 0)
		if w := l.Weight; w != nil && w.At.Node != nil && !(w.V > 0) {
			c.at(w.At, outOfRange("a weight must be above 0"))
		}
	}
	for _, key := range [...]string{"input_tokens", "output_tokens"} {
		if p.Lengths != nil && p.At.Node.Entry(key) != nil {
			c.under(p.At, key, doesNotFit("%q and \"lengths\" do not fit together", key).Help("keep one of them"))
		}
	}
	checkDist(c, p.Delay)
	if i := p.Images; i != nil {
		checkWithin(c, i.Width, "a width", 1, MaxEdge)
		checkWithin(c, i.Height, "a height", 1, MaxEdge)
	}
	if a := p.Audio; a != nil {
		checkWithin(c, a.Seconds, "a length in seconds", MinSeconds, MaxSeconds)
	}
}
