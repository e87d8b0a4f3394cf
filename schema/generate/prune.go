package main

import (
	"slices"
	"strings"
)

// The validator's set-up time grows with the schema (0.3 s for the whole one, most of it for
// $dynamicAnchor, which only draft 2020-12 has), and a plan should start in milliseconds. So the
// program checks plans with a copy that says the same in less: without what only people and editors
// read, as draft-07, whose keywords mean the same as far as they are used here and whose metaschema,
// which the copy is held against at each start, is one document instead of seven. Profiles, whose
// schema is as large as all the rest, are a copy of their own, which is only read for plans that have
// some. Beside $ref draft-07 sees nothing, so a $ref with neighbours moves into an allOf. Every place
// in the copy but the $ref itself is at the same pointer in the original.

// pruned are the schemas that plans without their profiles are checked with, and the profiles alone.
func pruned(root object) (plan, profiles object) {
	properties := root.get("properties").(object)
	plan = root.with(member{"properties", properties.with(member{"profiles", object{}})})
	profiles = root.only("$schema", "$id", "properties", "$defs").
		with(member{"properties", properties.only("profiles")})
	return small(plan), small(profiles)
}

// small returns a smaller schema that decides the same.
func small(root object) object {
	defs := root.get("$defs").(object).values(prune)
	root = prune(root.without("$defs")).with(member{"$schema", "http://json-schema.org/draft-07/schema#"})
	return append(root, member{"$defs", reached(root, defs)})
}

// reached are the definitions that a schema leads to.
func reached(root, defs object) object {
	needed := map[string]bool{}
	var reach func(v any)
	reach = func(v any) {
		visit(v, func(o object) {
			target, _ := o.get("$ref").(string)
			if name := strings.TrimPrefix(target, defsPrefix); name != "" && !needed[name] {
				needed[name] = true
				reach(defs.get(name))
			}
		})
	}
	reach(root)
	return slices.DeleteFunc(slices.Clone(defs), func(d member) bool { return !needed[d.name] })
}

// prune copies a schema without what does not decide anything.
func prune(schema object) object {
	var out object
	for _, m := range schema {
		switch {
		case remark(m.name):
			continue
		case m.name == "$ref":
			m = reference(m, schema)
		case m.name == "properties":
			m.value = m.value.(object).values(prune)
		default:
			m.value = each(m.value, prune)
		}
		out = append(out, m)
	}
	return out
}

// reference is the member ref of a schema as draft-07 has to say it.
func reference(ref member, schema object) member {
	if schema.get("allOf") != nil {
		panic("a schema has both $ref and allOf: the copy cannot hold two allOf")
	}
	for _, m := range schema {
		if m.name != "$ref" && !remark(m.name) {
			return member{"allOf", []object{{ref}}}
		}
	}
	return ref
}

// remark says whether a keyword decides nothing.
func remark(name string) bool {
	switch name {
	case "title", "description", "default", "examples", "$comment":
		return true
	}
	return false
}
