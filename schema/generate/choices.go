package main

import (
	"fmt"
	"strings"
)

// choice is a set of keys of which a map has at most one, or exactly one.
type choice struct {
	keys   []string
	needed bool
}

// choicesOf lists the choices of a definition that one file shows: the maps that layers are merged
// from have none.
func choicesOf(definition string) []choice {
	switch definition {
	case "plan", "plan_with_defaults":
		return []choice{{[]string{"target", "targets"}, true}, {[]string{"data", "datasets"}, false}}
	case "stage_map":
		return []choice{{[]string{"for", "until"}, false}}
	case "load":
		return []choice{{loads(), false}} // the defaults may have a load that stages complete
	case "assertion_map":
		return []choice{{[]string{"that", "slo"}, true}}
	}
	return nil
}

func loads() []string { return []string{"concurrency", "rate", "intervals", "schedule"} }

// withChoices makes a definition refuse a second key of a choice, at that key, and require the first.
// An enum of null, which no key takes, refuses with a message; an empty one is ignored by some
// validators.
func withChoices(name string, schema object) object {
	var rules []object
	for _, c := range choicesOf(name) {
		for i, second := range c.keys {
			for _, first := range c.keys[:i] {
				excluded := object{
					{"enum", []any{nil}},
					{"errorMessage", fmt.Sprintf("Only one of these may be given: %s and %s.", first, second)},
				}
				rules = append(rules, object{
					{"if", object{{"required", []string{first, second}}}},
					{"then", object{{"properties", object{{second, excluded}}}}},
				})
			}
		}
		if c.needed {
			rules = append(rules, oneOf(c.keys))
		}
	}
	switch name {
	case "stage_map":
		rules = append(rules, object{{"properties", object{{"load", oneOf(loads())}}}}, extentNeeded())
	case "target":
		schema = withScheme(schema)
	}
	if rules == nil {
		return schema
	}
	return schema.with(member{"allOf", rules})
}

// oneOf asks for one of the keys.
func oneOf(keys []string) object {
	var forms []object
	for _, key := range keys {
		forms = append(forms, object{{"required", []string{key}}})
	}
	return object{{"anyOf", forms}}
}

// extentNeeded asks for an extent where the load is one value or a list of them: a ramp and recorded
// times have their own.
func extentNeeded() object {
	given := func(key string, types ...string) object {
		return object{{"required", []string{key}}, {"properties", object{{key, object{{"type", types}}}}}}
	}
	load := object{
		{"type", "object"},
		{"anyOf", []object{given("concurrency", "integer", "array"), given("rate", "string", "array")}},
	}
	return object{
		{"if", object{{"required", []string{"load"}}, {"properties", object{{"load", load}}}}},
		{"then", oneOf([]string{"for", "until"})},
	}
}

// withScheme asks for the scheme of a URL that is written without a variable.
func withScheme(target object) object {
	properties := target.get("properties").(object)
	url := properties.get("url").(object)
	var schemes []string
	for _, s := range strings.Fields(url.get("description").(string)) {
		if strings.HasSuffix(s, "://") {
			schemes = append(schemes, s)
		}
	}
	url = url.with(
		member{"pattern", `^(.*` + variable + `.*|[a-z+]+://.*)$`},
		member{
			"patternErrorMessage",
			"A URL begins with its scheme: " + strings.Join(schemes, ", ") + " or builtin://.",
		})
	return target.with(member{"properties", properties.with(member{"url", url})})
}
