package main

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
	for _, m := range root {
		switch m.name {
		case "properties":
			profiles = append(profiles, member{m.name, object{{"profiles", properties.get("profiles")}}})
		case "$schema", "$id", "$defs":
			profiles = append(profiles, m)
		}
	}
	return small(plan), small(profiles)
}

// small is what a schema says in less.
func small(root object) object {
	small := object{}
	for _, m := range prune(root).(object) {
		switch m.name {
		case "$schema":
			m.value = "http://json-schema.org/draft-07/schema#"
		case "$defs":
			continue
		}
		small = append(small, m)
	}
	defs := prune(root.get("$defs")).(object)
	needed := map[string]bool{}
	reach(small, defs, needed)
	kept := object{}
	for _, d := range defs {
		if needed[d.name] {
			kept = append(kept, d)
		}
	}
	return append(small, member{"$defs", kept})
}

// reach marks the definitions that v refers to, and those that they refer to.
func reach(v any, defs object, needed map[string]bool) {
	visit(v, func(o object) {
		target, _ := o.get("$ref").(string)
		if target == "" || needed[target[len(defsPrefix):]] {
			return
		}
		name := target[len(defsPrefix):]
		needed[name] = true
		reach(defs.get(name), defs, needed)
	})
}

// prune copies a schema without what does not decide anything.
func prune(v any) any {
	switch v := v.(type) {
	case []object:
		var out []object
		for _, o := range v {
			out = append(out, prune(o).(object))
		}
		return out
	case object:
		var out object
		for _, m := range v {
			switch {
			case remark(m.name):
			case m.name == "$ref":
				out = append(out, reference(m, v))
			case m.name == "properties", m.name == "$defs":
				out = append(out, member{m.name, pruneEach(m.value.(object))})
			default:
				out = append(out, member{m.name, prune(m.value)})
			}
		}
		return out
	}
	return v
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

// pruneEach prunes the schemas in a map whose names are not keywords.
func pruneEach(schemas object) object {
	out := object{}
	for _, m := range schemas {
		out = append(out, member{m.name, prune(m.value)})
	}
	return out
}
