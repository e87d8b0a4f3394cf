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

// counted bounds one value of a quantity: requests in flight begin at 1, a rate is only above 0.
func counted(t reflect.Type, value object) object {
	if base(t) == "Quantity" && unit(t) == "int" {
		return value.with(member{"minimum", 1})
	}
	return value
}

// group is an entry of a list that is a map of one kind with a key, and of another one without it.
func group(key string) object {
	return object{
		{"title", "stage"},
		{"if", object{{"not", object{{"type", "object"}, {"required", []string{key}}}}}},
		{"then", ref("stage_map")},
		{"else", ref("group")},
	}
}

// special adds to the definition of a map what depends on the values of several keys.
func special(name string, schema object) object {
	if name != "target" {
		return schema
	}
	// A target needs a url unless its server is loaded into the client.
	inside := object{
		{"required", []string{"backend"}},
		{"properties", object{{"backend", object{{"enum", []any{"triton_inprocess"}}}}}},
	}
	return append(
		schema, member{"if", inside},
		member{"else", object{{"title", "target"}, {"required", []string{"url"}}}},
	)
}

// matrix is any axes with their values; what is added to their points, and what is taken out of them.
func matrix() object {
	points := listOf(object{{"title", "map"}, {"type", "object"}})
	m := closed("map of list",
		key{
			name: "include", schema: points, example: []any{object{{"batch", 8}, {"limit", "80ms"}}},
			description: "Values for the points that have the others here, or points of their own.",
		},
		key{
			name: "exclude", schema: points, example: []any{object{{"batch", 8}}},
			description: "Points that are left out: those that have all of these values.",
		},
	)
	return m.with(member{"additionalProperties", object{{"type", "array"}}})
}

// planKeys are the keys of a plan.
func (g generator) planKeys() []key { return g.keys(reflect.TypeFor[language.Plan]()) }

// profileVariable is the schema of a variable in a profile.
func profileVariable() object {
	return closed("map",
		key{name: "default", schema: ref("any"), example: "50ms", description: "The value when nothing sets it."},
		key{
			name: "env", schema: ref("text"), example: "PROD_TOKEN",
			description: "Environment variable that sets it.",
		},
		key{
			name: "required", schema: ref("bool"), example: true,
			description: "The value must come from outside: a default does not count, and empty text is missing.",
		},
	)
}
