package main

import (
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
)

const defsPrefix = "#/$defs/"

// overlays derives the schema of profiles from that of plans: nothing is required, null removes a key,
// stages are a map from id, variables are values. Definitions that are maps get a twin named
// overlay_NAME.
func (g generator) overlays(defs object) object {
	maps := mapDefs(defs)
	var twins object
	for _, d := range defs {
		if maps[d.name] {
			twins = append(twins, member{"overlay_" + d.name, overlay(d.value.(object), maps)})
		}
	}
	profile := closed("profile", g.profileKeys()...)
	properties := member{"properties", nullable(profile.get("properties").(object), maps)}
	return append(twins, member{"profile", profile.with(properties)})
}

// mapDefs names the definitions that are maps of known keys, or lead to one.
func mapDefs(defs object) map[string]bool {
	maps := map[string]bool{}
	for again := true; again; {
		again = false
		for _, d := range defs {
			if !maps[d.name] && leadsToMap(d.value.(object), maps) {
				maps[d.name], again = true, true
			}
		}
	}
	return maps
}

func leadsToMap(schema object, maps map[string]bool) bool {
	found := false
	visit(schema, func(o object) {
		target, _ := o.get("$ref").(string)
		found = found || o.get("properties") != nil || maps[strings.TrimPrefix(target, defsPrefix)]
	})
	return found
}

func visit(v any, f func(object)) {
	each(v, func(o object) object {
		f(o)
		for _, m := range o {
			visit(m.value, f)
		}
		return o
	})
}

// overlay copies a schema with the changes.
func overlay(schema object, maps map[string]bool) object {
	deeper := func(o object) object { return overlay(o, maps) }
	var out object
	for _, m := range schema {
		switch m.name {
		case "required", "minItems", "minProperties":
			continue
		case "if", "default", "examples":
		case "properties":
			m.value = nullable(m.value.(object), maps)
		case "$ref":
			if name := strings.TrimPrefix(m.value.(string), defsPrefix); maps[name] {
				m.value = defsPrefix + "overlay_" + name
			}
		default:
			m.value = each(m.value, deeper)
			if o, ok := m.value.(object); ok && m.name == "additionalProperties" && schema.get("if") == nil {
				m.value = orNull(o)
			}
		}
		out = append(out, m)
	}
	return out
}

// nullable allows null for every property.
func nullable(properties object, maps map[string]bool) object {
	return properties.values(func(o object) object { return orNull(overlay(o, maps)) })
}

// orNull keeps what people read outside, where editors look for it, and the rest behind a condition.
func orNull(schema object) object {
	read := []string{"title", "description", "default", "examples"}
	return append(schema.only(read...),
		member{"if", object{{"not", object{{"type", "null"}}}}}, member{"then", schema.without(read...)})
}

// profileKeys are the keys of a plan that a profile may change.
func (g generator) profileKeys() []key {
	var keys []key
	for _, k := range g.planKeys() {
		switch k.name {
		case "version", "name", "extends", "profiles":
			continue
		case "stages":
			k.schema, k.example = mapOf(ref("stage"), ""), parse("{steady: {for: 20s}}")
			k.description = "Changes to stages, by id."
		case "vars":
			variable := either("scalar or map", ref("any"), nil, ref("profile_variable"))
			k.schema = mapOf(variable, language.AxisForm.String())
			k.example = parse("{limit: 80ms, token: {env: PROD_TOKEN, required: true}}")
			k.description = "Variables: a value, which is the default, or a map of default, env and required."
		}
		k.required = false
		keys = append(keys, k)
	}
	return keys
}
