package main

import (
	"reflect"

	"github.com/sluice-bench/sluice/scenario/language"
)

// texts is the schema of a scalar whose field has a tag `is` that the schema can show; nil: it is that
// of its type.
func texts(is, leaf string) object {
	switch is + " " + leaf {
	case "name text":
		return textLike(language.NamePattern)
	case "id text":
		return textLike(language.IDPattern)
	case "dims text":
		return textLike(`[0-9]+(, *[0-9]+)*`)
	case "version int":
		return object{{"title", "int"}, {"enum", []any{1}}}
	case "version text":
		return object{{"title", "int or text"}, {"type", []string{"integer", "string"}}}
	}
	return nil
}

// group is an entry of a list that is a map of one kind with a key, and of another one without it.
func group(key string) object {
	return append(parse("{title: stage, if: {not: {type: object, required: ["+key+"]}}}").(object),
		member{"then", ref("stage_map")}, member{"else", ref("group")})
}

// special adds to the definition of a map what depends on the values of several keys.
func special(name string, schema object) object {
	if name != "target" {
		return schema
	}
	// A target needs a url unless its server is loaded into the client.
	return append(schema, parse(`{
  if: {required: [backend], properties: {backend: {enum: [triton_inprocess]}}},
  else: {title: target, required: [url]}}`).(object)...)
}

// matrix is any axes with their values; what is added to their points, and what is taken out of them.
func matrix() object {
	points := listOf(object{{"title", "map"}, {"type", "object"}})
	m := closed("map of list",
		key{
			name: "include", schema: points, example: parse("[{batch: 8, limit: 80ms}]"),
			description: "Values for the points that have the others here, or points of their own.",
		},
		key{
			name: "exclude", schema: points, example: parse("[{batch: 8}]"),
			description: "Points that are left out: those that have all of these values.",
		},
	)
	return m.with(member{"additionalProperties", object{{"type", "array"}}})
}

// planKeys are the keys of a plan.
func (g generator) planKeys() []key { return g.keys(reflect.TypeFor[language.Plan]()) }

// profileVariable is the schema of a variable in a profile.
func (g generator) profileVariable() object {
	var keys []key
	for _, k := range g.keys(reflect.TypeFor[language.Var]()) {
		switch k.name {
		case "default", "env", "required":
			k.dflt = nil // what is not written stays as it is
			keys = append(keys, k)
		}
	}
	return closed("map", keys...)
}
