package main

import (
	"fmt"
	"strings"
)

// forEditors derives the published schema from that of the language, in the form that
// yaml-language-server reads best:
//
//   - The server offers the words of an enum only outside of conditions: alternatives take the place of
//     conditions.
//   - The server shows the innermost of several descriptions, and all examples: types have neither, so
//     that those of the key are shown. The description of a type is the message for a value of another
//     form.
//   - A plan that extends another needs none of the keys that the other may have.
//   - Keys that hold maps have snippets.
//
// The result also refuses mistakes that the program finds after plans are merged, as far as one file
// shows them.
func forEditors(root object) object {
	whole := withVariants(root)
	var defs object
	for _, d := range whole.get("$defs").(object) {
		schema := d.value.(object)
		if isType(schema) {
			schema = typeForEditors(schema)
		}
		defs = append(defs, member{d.name, withSnippets(d.name, withChoices(d.name, alternatives(schema)))})
	}
	return whole.with(member{"$defs", reached(whole.without("$defs"), defs)})
}

// withVariants moves the keys of a plan to a definition, and adds two others: plans that extend
// another, and plans with defaults. The keys of the first, and of the stages of the second, are merged
// with others: none is required, and null removes one.
func withVariants(root object) object {
	defs := root.get("$defs").(object)
	maps := map[string]bool{}
	for _, d := range defs {
		maps[d.name] = defs.get("overlay_"+d.name) != nil
	}
	headers := []string{"$schema", "$id", "$comment", "title", "description", "type"}
	plan := append(root.only("title", "type"), root.without(append(headers, "$defs")...)...)
	properties := root.get("properties").(object)
	extension := object{
		{"title", "plan that extends another"},
		{"type", "object"},
		{"properties", nullable(properties, maps)},
		{"additionalProperties", false},
	}
	named := object{{"title", "stage"}, {"allOf", []object{ref("overlay_stage"), {
		{"if", object{{"not", object{{"required", []string{"parallel"}}}}}},
		{"then", object{{"title", "stage"}, {"required", []string{"id"}}}},
	}}}}
	stages := properties.get("stages").(object).with(member{"items", named})
	withDefaults := plan.with(member{"properties", properties.with(member{"stages", stages})})
	return append(root.only(headers...),
		member{"if", has("extends")}, member{"then", ref("extension")},
		member{"else", object{
			{"if", has("defaults")}, {"then", ref("plan_with_defaults")}, {"else", ref("plan")},
		}},
		member{
			"$defs",
			append(object{
				{"plan", plan}, {"plan_with_defaults", withDefaults}, {"extension", extension},
			}, defs...),
		})
}

func has(key string) object { return object{{"type", "object"}, {"required", []string{key}}} }

// isType reports whether a definition is a type of scalars.
func isType(schema object) bool {
	return schema.get("description") != nil && schema.get("properties") == nil
}

// typeForEditors has a message in place of a description.
func typeForEditors(schema object) object {
	var forms []string
	for _, e := range schema.get("examples").([]any) {
		if text := fmt.Sprint(e); !strings.Contains(text, "${") {
			forms = append(forms, text)
		}
	}
	message := schema.get("description").(string)
	if len(forms) > 0 {
		message += " For example: " + strings.Join(forms, ", ") + "."
	}
	return append(object{{"title", schema.get("title")}, {"errorMessage", message}},
		schema.without("title", "description", "examples")...)
}

// alternatives writes `if not A then B` as `B or A`, and `if A else B` likewise. B is the form that
// mistakes are measured against: it comes first.
func alternatives(schema object) object {
	wanted, other := implied(schema)
	var out object
	for _, m := range schema {
		switch {
		case m.name == "default", m.name == "examples":
		case m.name == "items" && schema.get("type") == "array":
			message := fmt.Sprintf("A %s: begin each item with `- `.", schema.get("title"))
			out = append(out, member{"errorMessage", message})
			m.value = each(m.value, alternatives)
		case m.name == "if" && other != nil:
			m = member{"anyOf", []object{alternatives(wanted), other}}
		case (m.name == "then" || m.name == "else") && other != nil:
			continue
		default:
			m.value = each(m.value, alternatives)
		}
		out = append(out, m)
	}
	return out
}

// implied are the two of which one must hold, where a condition says so: the value is of other types,
// or it is a variable. other is nil where the condition says more.
func implied(schema object) (wanted, other object) {
	condition, _ := schema.get("if").(object)
	then, _ := schema.get("then").(object)
	otherwise, _ := schema.get("else").(object)
	not, _ := condition.get("not").(object)
	switch {
	case len(condition) == 1 && condition.get("$ref") != nil && then == nil && otherwise != nil:
		return otherwise, condition
	case len(condition) == 1 && len(not) == 1 && not.get("type") != nil && then != nil && otherwise == nil:
		types, several := not.get("type").([]string)
		if !several {
			types = []string{not.get("type").(string)}
		}
		return then, object{{"type", types}}
	}
	return nil, nil
}
