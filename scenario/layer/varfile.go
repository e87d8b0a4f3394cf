package layer

import (
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/scenario/source"
)

// file reads a --var-file: a map from the names of variables to scalars, as YAML or JSON. A later
// file wins.
func (vs *Variables) file(given map[string]*argument, names []string, file string, i int) {
	data, err := ReadSome(file)
	if err != nil {
		vs.Diags = append(vs.Diags, source.Errorf(
			source.CodeFile, "--var-file %q cannot be read: %v", file, Cause(err),
		).
			AtKey("", source.Pos{File: "--var-file", Line: i + 1, Column: 1}, file))
		return
	}
	root, diags := source.Parse(file, data)
	if root == nil {
		for i := range diags { // such a message may hold a word of the file
			diags[i].Summary, diags[i].Detail = fmt.Sprintf("--var-file %q cannot be read as YAML", file), ""
			diags[i].Hidden = true
		}
	}
	vs.Diags = append(vs.Diags, diags...)
	if root != nil && root.Kind != source.Map {
		vs.Diags = append(vs.Diags, source.Errorf(
			source.CodeType, "a file of variables is a map from names to values",
		).At("", root.Pos, 0))
	}
	for _, e := range entriesOf(root) {
		var d *source.Diagnostic
		switch {
		case !slices.Contains(names, e.Key):
			d = source.Errorf(source.CodeVarUnknown, "the plan has no variable %q", e.Key).
				Among(source.Nearest(e.Key, names), names)
		case e.Value.Kind == source.Null:
			d = source.Errorf(source.CodeNull, "`%s` has no value", e.Key).
				Help("Give it one, or leave the key out.")
		case e.Value.Kind != source.Scalar:
			d = source.Errorf(source.CodeType, "variable %q wants a scalar", e.Key)
		default:
			given[e.Key] = &argument{e.Value.Text, "--var-file " + file, e.Value.Pos}
			continue
		}
		vs.Diags = append(vs.Diags, d.AtKey("", e.KeyPos, e.Key))
	}
}
