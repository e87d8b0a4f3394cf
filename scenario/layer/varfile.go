package layer

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
)

// file reads a --var-file: a map from the names of variables to scalars, as YAML or JSON. A later
// file wins.
func (vs *Variables) file(given map[string]*argument, names []string, file string, i int) {
	place := source.Pos{File: "--var-file", Line: i + 1, Column: 1}
	data, err := ReadSome(file)
	if err != nil {
		vs.Diags = append(vs.Diags, source.Errorf(
			source.CodeFile, "--var-file %q cannot be read: %v", file, Cause(err),
		).
			AtKey("", place, file))
		return
	}
	root, diags := source.Parse(file, data)
	for i := range diags { // such a message may hold a word of the file
		if root != nil {
			break
		}
		diags[i].Summary, diags[i].Detail, diags[i].Hidden = fmt.Sprintf("--var-file %q cannot be read as YAML",
			file), "", true
	}
	vs.Diags = append(vs.Diags, diags...)
	switch {
	case root == nil:
		return
	case root.Kind != source.Map:
		vs.Diags = append(vs.Diags, source.Errorf(
			source.CodeType, "a file of variables is a map from names to values",
		).
			At("", root.Pos, 0))
		return
	}
	for _, e := range root.Entries {
		d := source.Diagnostic{
			Severity: source.Error, Code: source.CodeVarUnknown, Pos: e.KeyPos,
			Width: utf8.RuneCountInString(e.Key),
		}
		switch {
		case !slices.Contains(names, e.Key):
			d.Summary, d.Allowed, d.Nearest = fmt.Sprintf("the plan has no variable %q",
				e.Key), names, source.Nearest(e.Key, names)
		case e.Value.Kind == source.Null:
			d.Code, d.Summary, d.Detail = source.CodeNull, fmt.Sprintf("`%s` has no value",
				e.Key), "Give it one, or leave the key out."
		case e.Value.Kind != source.Scalar:
			d.Code, d.Summary = source.CodeType, fmt.Sprintf("variable %q wants a scalar", e.Key)
		default:
			given[e.Key] = &argument{e.Value.Text, "--var-file " + file, e.Value.Pos}
			continue
		}
		vs.Diags = append(vs.Diags, d)
	}
}
