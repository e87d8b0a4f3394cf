package scenario

import (
	"slices"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

func checkDataset(c *checker, ds *language.Dataset) {
	checkSource(c, ds)
	checkDist(c, ds.StringLength)
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
	checkDist(c, g.Length)
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
				Help("give the size that requests have; -1 stands only in a model's configuration"))
		}
	}
}
