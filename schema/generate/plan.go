package main

import (
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
)

const id = "https://sluice-bench.github.io/schema/plan/v1.json"

// definition is an entry of $defs. build makes its schema when all titles are known.
type definition struct {
	name, title string
	build       func() object
}

// definitions lists everything under $defs but the overlays.
func (g generator) definitions() []definition {
	defs := []definition{{"variable", "variable", func() object {
		return object{
			{"title", "variable"},
			{"description", "One variable, or an expression over earlier results, in place of a value."},
			{"examples", []any{"${limit}"}},
			{"type", "string"},
			{"pattern", `^` + variable + `$`},
		}
	}}}
	for _, s := range language.Forms() {
		if s.Kinds != nil {
			defs = append(defs, definition{s.Name, s.Title, func() object { return scalarDef(s) }})
		}
	}
	defs = append(defs, g.defs()...)
	return append(defs, definition{"profile_variable", "map", profileVariable})
}

// planSchema is the whole schema.
func (g generator) planSchema() object {
	marks := later()
	defs := object{}
	for _, d := range g.definitions() {
		defs = append(defs, member{d.name, marks.on(d.name, d.build())})
	}
	defs = append(defs, g.overlays(marks, defs)...)
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", id},
		{"$comment", "Generated from scenario/language; notBuilt marks what this version cannot run."},
	}
	root = append(
		root,
		marks.on("plan", closed("sluice plan", g.planKeys()...)).with(member{
			"description", "A benchmark plan for inference servers.",
		})...,
	)
	root = append(root, loadRequired()...)
	return append(root, member{"$defs", defs})
}

// loadRequired says that a stage needs a load unless `defaults` has one.
func loadRequired() object {
	given := object{{"required", []string{"defaults"}}, {"properties", object{
		{"defaults", object{{"type", "object"}, {"required", []string{"load"}}}},
	}}}
	stage := object{
		{"title", "stage"},
		{"if", object{{"type", "object"}, {"not", object{{"required", []string{"parallel"}}}}}},
		{"then", object{{"title", "stage"}, {"required", []string{"load"}}}},
	}
	return object{
		{"if", object{{"type", "object"}, {"not", given}}},
		{"then", object{{"properties", object{{"stages", object{{"items", stage}}}}}}},
	}
}

// textLike is text of a form, or text with variables in it.
func textLike(pattern string) object {
	return object{{"title", "text"}, {"type", "string"}, {"pattern", `^(.*` + variable + `.*|` + pattern + `)$`}}
}

func list(spaced string) []any {
	var l []any
	for w := range strings.FieldsSeq(spaced) {
		l = append(l, w)
	}
	return l
}
