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

func (b *builder) dataset(name string, d *language.Dataset) *Dataset {
	ds := &Dataset{Name: name, Source: d.Source()}
	b.copy(ds, d)
	ds.Format = b.format(d)
	for _, f := range d.File.All() {
		ds.Files = append(ds.Files, b.path(f))
	}
	if d.Bodies != nil {
		found, _ := filepath.Glob(
			layer.ResolvePath(layer.FolderOf(b.File, d.Bodies.At.Node), d.Bodies.V),
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
	if d.Generate != nil {
		ds.Generate = &Generate{Default: d.Generate.Word.Or("random")}
		for _, e := range d.Generate.Inputs.Items() {
			ds.Generate.Inputs = append(ds.Generate.Inputs, b.generator(e.Key, e.Value))
		}
	}
	return ds
}

// format is the form of a dataset's files, as written. A file whose extension stands for a form that
// cannot be read yet is noted.
func (b *builder) format(d *language.Dataset) string {
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
			b.later = append(b.later, source.Errorf(source.CodeNotBuilt, "this version cannot read `%s` files yet",
				format).
				Among("", key.Allowed).
				AtKey(f.At.Path, f.At.Pos(), f.At.Node.Text))
		}
		return format
	}
	return ""
}

func (b *builder) generator(input string, g *language.Generator) Generator {
	out := Generator{Input: input}
	b.copy(&out, g)
	switch {
	case g.Constant != nil && (g.Constant.V == "random" || g.Constant.V == "zero"):
		out.Word = g.Constant.V.(string)
	case g.Constant != nil:
		out.Constant = []any{g.Constant.V}
	case g.List != nil:
		out.Constant = language.Flatten(g.List)
	case g.Own() == "":
		out.Dist = newSpread(g.Spread)
	}
	return out
}
