package main

import (
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
)

const defsPrefix = "#/$defs/"

// overlays derives the schema of profiles from that of plans: nothing is required, null removes a key,
// stages are a map from id, variables are values. Definitions that are maps get a twin named
// overlay_NAME.
func (g generator) overlays(marks marks, defs object) object {
	maps := mapDefs(defs)
	var twins object
	for _, d := range defs {
		if maps[d.name] {
			twins = append(twins, member{"overlay_" + d.name, overlay(d.value, maps)})
		}
	}
	return append(
		twins,
		member{
			"profile",
			marks.on("plan",
				closed("profile", g.profileKeys()...).with(member{"properties", g.overlayProperties(maps)})),
		},
	)
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
	switch v := v.(type) {
	case object:
		f(v)
		for _, m := range v {
			visit(m.value, f)
		}
	case []object:
		for _, o := range v {
			visit(o, f)
		}
	}
}

// overlay copies a schema with the changes.
func overlay(v any, maps map[string]bool) any {
	switch v := v.(type) {
	case []object:
		var out []object
		for _, o := range v {
			out = append(out, overlay(o, maps).(object))
		}
		return out
	case object:
		var out object
		condition := v.get("if") != nil
		for _, m := range v {
			switch {
			case m.name == "if":
				out = append(out, m)
			case m.name == "required", m.name == "minItems":
			case m.name == "properties":
				out = append(out, member{m.name, nullable(m.value.(object), maps)})
			case m.name == "$ref":
				out = append(out, member{m.name, overlayRef(m.value.(string), maps)})
			case m.name == "additionalProperties" && !condition && m.value != false:
				out = append(out, member{m.name, orNull(overlay(m.value, maps).(object))})
			case m.name == "default", m.name == "examples":
				out = append(out, m)
			default:
				out = append(out, member{m.name, overlay(m.value, maps)})
			}
		}
		return out
	}
	return v
}

func overlayRef(target string, maps map[string]bool) string {
	name := strings.TrimPrefix(target, defsPrefix)
	if maps[name] {
		return defsPrefix + "overlay_" + name
	}
	return target
}

// nullable lets null stand for every property.
func nullable(properties object, maps map[string]bool) object {
	var out object
	for _, p := range properties {
		out = append(out, member{p.name, orNull(overlay(p.value, maps).(object))})
	}
	return out
}

// orNull keeps what people read outside, where editors look for it, and the rest behind a condition.
func orNull(schema object) object {
	var read, rest object
	for _, m := range schema {
		switch m.name {
		case "title", "description", "default", "examples", "notBuilt":
			read = append(read, m)
		default:
			rest = append(rest, m)
		}
	}
	return append(read, member{"if", object{{"not", object{{"type", "null"}}}}}, member{"then", rest})
}

// profileKeys are the keys of a plan that a profile may change.
func (g generator) profileKeys() []key {
	var keys []key
	for _, k := range g.planKeys() {
		switch k.name {
		case "version", "name", "extends", "profiles":
			continue
		case "stages":
			k.schema, k.example = mapOf(ref("stage"), ""), object{{"steady", object{{"for", "20s"}}}}
			k.description = "Changes to stages, by id."
		case "vars":
			k.schema = mapOf(either("scalar or map", ref("any"), nil, ref("profile_variable")), language.AxisForm.String())
			k.example = object{{"limit", "80ms"}, {"token", object{{"env", "PROD_TOKEN"}, {"required", true}}}}
			k.description = "Variables: a value, which is the default, or a map of default, env and required."
		}
		k.required = false
		keys = append(keys, k)
	}
	return keys
}

func (g generator) overlayProperties(maps map[string]bool) object {
	properties := object{}
	for _, k := range g.profileKeys() {
		properties = append(properties, member{k.name, k.property()})
	}
	return nullable(properties, maps)
}
