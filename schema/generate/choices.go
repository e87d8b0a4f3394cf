package main

import (
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
)

// choice is a union of keys (tag one), of which a map needs one or may have one.
type choice struct {
	union  string
	needed bool
}

// choicesOf lists the choices of a definition that one file shows: the maps that layers are merged
// from have none.
func choicesOf(definition string) []choice {
	switch definition {
	case "plan", "plan_with_defaults":
		return []choice{{"target", true}, {"data", false}}
	case "stage_map":
		return []choice{{"extent", false}}
	case "load":
		return []choice{{"load", false}} // the defaults may have a load that stages complete
	case "assertion_map":
		return []choice{{"assertion", true}}
	}
	return nil
}

// keysOf lists the keys of a union.
func keysOf(union string) (keys []string) {
	for _, t := range language.Structs() {
		for i := range t.NumField() {
			if tag := t.Field(i).Tag; tag.Get("one") == union {
				keys = append(keys, tag.Get("plan"))
			}
		}
	}
	return keys
}

// withChoices makes a definition refuse a second key of a choice, at that key, and require the first.
// An enum of null, which no key takes, refuses with a message; an empty one is ignored by some
// validators.
func withChoices(name string, schema object) object {
	var rules []object
	for _, c := range choicesOf(name) {
		keys := keysOf(c.union)
		for i, second := range keys {
			for _, first := range keys[:i] {
				message := fmt.Sprintf("Only one of these may be given: %s and %s.", first, second)
				excluded := object{
					{"enum", []any{nil}},
					{"errorMessage", message},
				}
				rules = append(rules, object{
					{"if", object{{"required", []string{first, second}}}},
					{"then", object{{"properties", object{{second, excluded}}}}},
				})
			}
		}
		if c.needed {
			rules = append(rules, oneOf(c.union))
		}
	}
	switch name {
	case "stage_map":
		rules = append(rules, object{{"properties", object{{"load", oneOf("load")}}}}, extentNeeded())
	case "target":
		schema = withScheme(schema)
	}
	if rules == nil {
		return schema
	}
	return schema.with(member{"allOf", rules})
}

// oneOf asks for one of the keys of a union.
func oneOf(union string) object {
	var forms []object
	for _, key := range keysOf(union) {
		forms = append(forms, object{{"required", []string{key}}})
	}
	return object{{"anyOf", forms}}
}

// extentNeeded asks for an extent where the load is one value or a list of them: a ramp and recorded
// times have their own.
func extentNeeded() object {
	load := parse(`{if: {required: [load], properties: {load: {type: object, anyOf: [
  {required: [concurrency], properties: {concurrency: {type: [integer, array]}}},
  {required: [rate], properties: {rate: {type: [string, array]}}}]}}}}`)
	return append(load.(object), member{"then", oneOf("extent")})
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
