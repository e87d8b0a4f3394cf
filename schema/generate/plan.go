package main

import (
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
)

const id = "https://sluice-bench.github.io/schema/plan/v1.json"

// definitions are everything under $defs but the overlays.
func (g generator) definitions() object {
	defs := object{{"variable", object{
		{"title", "variable"},
		{"description", "One variable, or an expression over earlier results, in place of a value."},
		{"examples", []any{"${limit}"}},
		{"type", "string"},
		{"pattern", `^` + variable + `$`},
	}}}
	for _, f := range language.Forms() {
		if f.Kinds != nil {
			defs = append(defs, member{f.Name, scalarDef(f)})
		}
	}
	for _, t := range language.Structs() {
		if name := tagOf(t, "union"); name != "" {
			defs = append(defs, member{name, g.forms(t)})
		}
		if name := tagOf(t, "def"); name != "" {
			defs = append(defs, member{name, special(name, closed(titleOfMap(t), g.keys(t)...))})
		}
	}
	return append(defs, member{"profile_variable", g.profileVariable()})
}

// planSchema is the whole schema.
func (g generator) planSchema() object {
	defs := g.definitions()
	defs = append(defs, g.overlays(defs)...)
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", id},
		{"$comment", "Generated from scenario/language."},
	}
	root = append(
		root,
		closed("sluice plan", g.planKeys()...).with(member{
			"description", "A benchmark plan for inference servers.",
		})...,
	)
	root = append(root, loadRequired()...)
	return append(root, member{"$defs", defs})
}

// loadRequired says that a stage needs a load unless `defaults` has one.
func loadRequired() object {
	return parse(`{
  if: {type: object, not: {
    required: [defaults], properties: {defaults: {type: object, required: [load]}}}},
  then: {properties: {stages: {items: {
    title: stage,
    if: {type: object, not: {required: [parallel]}},
    then: {title: stage, required: [load]}}}}}}`).(object)
}

// textLike is text of a form, or text with variables in it.
func textLike(pattern string) object {
	withVariables := `^(.*` + variable + `.*|` + pattern + `)$`
	return object{{"title", "text"}, {"type", "string"}, {"pattern", withVariables}}
}

func list(spaced string) []any {
	var l []any
	for w := range strings.FieldsSeq(spaced) {
		l = append(l, w)
	}
	return l
}
