package main

import (
	"fmt"
	"slices"
	"strings"
)

// published is the schema for editors: the language without what this version cannot run. Keys and
// words that are marked notBuilt are removed, and definitions that only they refer to.
func published(root object) object {
	out := withoutUnbuilt(root).(object)
	defs := out.get("$defs").(object)
	needed := map[string]bool{}
	reach(slices.DeleteFunc(slices.Clone(out), func(m member) bool { return m.name == "$defs" }), defs, needed)
	defs = slices.DeleteFunc(slices.Clone(defs), func(d member) bool { return !needed[d.name] })
	return out.with(member{"$comment", "Generated from scenario/language."}, member{"$defs", defs})
}

// withoutUnbuilt copies a schema without the properties and words that are marked.
func withoutUnbuilt(v any) any {
	switch v := v.(type) {
	case []object:
		var out []object
		for _, o := range v {
			out = append(out, withoutUnbuilt(o).(object))
		}
		return out
	case object:
		words, _ := v.get("notBuilt").([]string)
		var out object
		for _, m := range v {
			switch {
			case m.name == "notBuilt":
				continue
			case m.name == "default", m.name == "examples":
			case m.name == "properties":
				m.value = builtProperties(m.value.(object))
			case m.name == "enum" && words != nil:
				m.value = slices.DeleteFunc(slices.Clone(m.value.([]any)),
					func(w any) bool { return slices.Contains(words, fmt.Sprint(w)) })
			case m.name == "pattern" && words != nil:
				m.value = withoutUnits(m.value.(string), words)
			case (m.name == "else" || m.name == "then") &&
				words != nil: // they are marked outside the conditions for variables and null
				m.value = withoutUnbuilt(m.value.(object).with(member{"notBuilt", words}))
			default:
				m.value = withoutUnbuilt(m.value)
			}
			out = append(out, m)
		}
		return out
	}
	return v
}

// builtProperties are the properties of a map that are not marked as a whole.
func builtProperties(properties object) object {
	out := object{}
	for _, p := range properties {
		schema, ok := p.value.(object)
		if ok && schema.get("notBuilt") == true {
			continue
		}
		out = append(out, member{p.name, withoutUnbuilt(p.value)})
	}
	return out
}

// withoutUnits removes units from the alternatives of a pattern, which has them as
// `requests?|sessions?`.
func withoutUnits(pattern string, units []string) string {
	for _, u := range units {
		if strings.HasSuffix(u, "s") {
			shorter := strings.Replace(pattern, "|"+u+"?", "", 1)
			if shorter == pattern {
				panic(fmt.Sprintf("published: the pattern %s has no unit %s", pattern, u))
			}
			pattern = shorter
		}
	}
	return pattern
}
