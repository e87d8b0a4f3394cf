package scenario

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

func (r *reading) dataset(name string, d *language.Dataset) *Dataset {
	ds := &Dataset{
		Name: name, Pos: d.At.Pos(), Format: r.format(d), Order: d.Order.V, AtEnd: d.AtEnd.V,
		TimeUnit: unitOf(d.TimeUnit),
		Source:   d.Source(),
	}
	if d.TimeUnit != nil {
		ds.TimeUnitPos = d.TimeUnit.At.Pos()
	}
	if d.StringLength != nil {
		ds.StringLength = *newDist(d.StringLength)
	}
	r.sourceOf(ds, d)
	if d.Generate == nil {
		return ds
	}
	ds.Count = int(d.Count.V)
	ds.Generate = &Generate{Default: "random"}
	if d.Generate.Word != nil {
		ds.Generate.Default = d.Generate.Word.V
	}
	for _, e := range d.Generate.Inputs.Items() {
		ds.Generate.Inputs = append(ds.Generate.Inputs, r.generator(e.Key, e.Value))
	}
	return ds
}

// sourceOf takes over where the rows of a dataset come from, generated ones aside.
func (r *reading) sourceOf(ds *Dataset, d *language.Dataset) {
	for _, f := range d.File.All() {
		ds.Files = append(ds.Files, r.path(f))
	}
	if d.Dir != nil {
		dir := r.path(d.Dir)
		ds.Dir = &dir
	}
	if d.Bodies != nil {
		found, _ := filepath.Glob(
			layer.ResolvePath(layer.FolderOf(r.File, d.Bodies.At.Node), d.Bodies.V),
		) // checked before
		slices.Sort(found)
		for _, name := range found {
			ds.Files = append(ds.Files, Path{name, d.Bodies.At.Pos()})
		}
	}
	for _, row := range d.Rows {
		text, _ := json.Marshal(row.At.Node.JSON()) // numbers, texts, bools, lists and maps: it cannot fail
		ds.Rows = append(ds.Rows, Row{row.At.Pos(), string(text)})
	}
	for _, e := range d.Columns.Items() {
		ds.Columns = append(ds.Columns, Column{e.Key, e.Value.V, e.Value.At.Pos()})
	}
}

// format is the form of a dataset's files, as written. A file whose extension stands for a form that
// cannot be read yet is noted.
func (r *reading) format(d *language.Dataset) string {
	if d.Format != nil {
		return d.Format.V
	}
	for _, f := range d.File.All() {
		format := map[string]string{
			".textproto": "textproto", ".pbtxt": "textproto",
		}[strings.ToLower(filepath.Ext(string(f.V)))]
		if format == "" {
			continue
		}
		if key, ok := schema.Lookup("data.format"); ok && !slices.Contains(key.Allowed, format) {
			r.later = append(r.later, source.Errorf(source.CodeNotBuilt, "this version cannot read `%s` files yet",
				format).
				Among("", key.Allowed).
				AtKey(f.At.Path, f.At.Pos(), f.At.Node.Text))
		}
		return format
	}
	return ""
}

func (r *reading) generator(input string, g *language.Generator) Generator {
	out := Generator{Input: input, Pos: g.At.Pos(), Alphabet: g.Alphabet.Or("")}
	switch {
	case g.Constant != nil && (g.Constant.V == "random" || g.Constant.V == "zero"):
		out.Word = g.Constant.V.(string)
	case g.Constant != nil:
		out.Constant = []any{g.Constant.V}
	case g.List != nil:
		out.Constant = language.Flatten(g.List)
	case g.Length != nil:
		out.Length = newDist(g.Length)
	case g.OneOf != nil:
		for _, v := range g.OneOf {
			out.OneOf = append(out.OneOf, v.V)
		}
	case g.File != nil:
		file := r.path(g.File)
		out.File = &file
	default:
		out.Dist = newSpread(g.Spread)
	}
	return out
}
