package main

import (
	"fmt"
	"slices"
	"strings"
)

// published is the schema for editors: the language without what this version cannot run. Keys and
// words that are marked notBuilt are removed, and definitions that only they refer to.
func published(root object) object {
	defs := root.get("$defs").(object).values(withoutUnbuilt)
	root = withoutUnbuilt(root.without("$defs"))
	return append(root.with(member{"$comment", "Generated from scenario/language."}),
		member{"$defs", reached(root, defs)})
}

// withoutUnbuilt copies a schema without the properties and words that are marked.
func withoutUnbuilt(schema object) object {
	words, _ := schema.get("notBuilt").([]string)
	var out object
	for _, m := range schema {
		switch {
		case m.name == "notBuilt":
			continue
		case m.name == "default", m.name == "examples":
		case m.name == "properties":
			m.value = slices.DeleteFunc(slices.Clone(m.value.(object)), func(p member) bool {
				schema, _ := p.value.(object)
				return schema.get("notBuilt") == true
			}).values(withoutUnbuilt)
		case words == nil:
			m.value = each(m.value, withoutUnbuilt)
		case m.name == "enum":
			m.value = slices.DeleteFunc(slices.Clone(m.value.([]any)),
				func(w any) bool { return slices.Contains(words, fmt.Sprint(w)) })
		case m.name == "pattern":
			m.value = withoutUnits(m.value.(string), words)
		case m.name == "else", m.name == "then": // marked outside the conditions for variables and null
			m.value = withoutUnbuilt(m.value.(object).with(member{"notBuilt", words}))
		default:
			m.value = each(m.value, withoutUnbuilt)
		}
		out = append(out, m)
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
