package main

import (
	"fmt"
	"slices"
	"strings"
)

// laterText is the one list of what this version of the program cannot run: `validate` and `graph`
// take it, `run` refuses it at its line. A line is a table of the schema ($defs, or plan) with one of
// its keys; words after a colon are those that are meant, else it is all of them. Whoever builds a key
// removes its line; the language test then asks for a proof of what the key does.
const laterText = `
output.formats: html
`

// marks is laterText by table: key to words, none for all; key "" is the table itself.
type marks map[string]map[string][]string

func later() marks {
	all := marks{}
	for line := range strings.Lines(laterText) {
		at, words, _ := strings.Cut(strings.TrimSpace(line), ":")
		if at == "" {
			continue
		}
		table, key, _ := strings.Cut(at, ".")
		if all[table] == nil {
			all[table] = map[string][]string{}
		}
		all[table][key] = strings.Fields(words)
	}
	all["defaults"] = all["stage_map"] // what a stage cannot do yet its defaults cannot either
	return all
}

// on is the table with its marks.
func (m marks) on(table string, schema object) object {
	for key, words := range m[table] {
		if key == "" {
			schema = marked(schema, words)
			continue
		}
		properties, _ := schema.get("properties").(object)
		property, _ := properties.get(key).(object)
		switch {
		case property != nil:
			schema = schema.with(member{"properties", properties.with(member{key, marked(property, words)})})
		case table != "plan" && table != "defaults": // a profile and the defaults have fewer keys
			panic(fmt.Sprintf("later: there is no key %s.%s", table, key))
		}
	}
	return schema
}

// marked is the schema of a value with a mark: on all of it, or where its words are listed.
func marked(schema object, words []string) object {
	enum, _ := schema.get("else").(object)
	if len(words) == 0 {
		return schema.with(member{"notBuilt", true})
	}
	if enum.get("enum") != nil || schema.get("pattern") != nil {
		return schema.with(member{"notBuilt", words})
	}
	out := slices.Clone(schema)
	for i, m := range out {
		if _, list := m.value.([]object); list || m.name == "items" || m.name == "then" {
			out[i].value = each(m.value, func(o object) object { return marked(o, words) })
		}
	}
	return out
}
