package main

// The validator's set-up time grows with the schema (0.3 s for the whole one, most of it for $dynamicAnchor, which only
// draft 2020-12 has), and a plan should start in milliseconds. So the program checks plans with a copy that says the same
// in less: without what only people and editors read, without what is refused as a whole anyway, as draft 2019-09, whose
// keywords mean the same as far as they are used here. Every place in the copy is at the same pointer in the original.

// pruned is the schema that plans are checked with.
func pruned(root object) object {
	small := object{}
	for _, m := range prune(root).(object) {
		switch m.name {
		case "$schema":
			m.value = "https://json-schema.org/draft/2019-09/schema"
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
		if v.get("notBuilt") == true {
			return object{{"notBuilt", true}}
		}
		var out object
		for _, m := range v {
			switch m.name {
			case "properties", "$defs":
				out = append(out, member{m.name, pruneEach(m.value.(object))})
			case "title", "description", "default", "examples", "$comment":
			default:
				out = append(out, member{m.name, prune(m.value)})
			}
		}
		return out
	}
	return v
}

// pruneEach prunes the schemas in a map whose names are not keywords.
func pruneEach(schemas object) object {
	out := object{}
	for _, m := range schemas {
		out = append(out, member{m.name, prune(m.value)})
	}
	return out
}
