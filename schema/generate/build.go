package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m.value); err != nil {
			return nil, fmt.Errorf("encode %s: %w", m.name, err)
		}
		b = append(strconv.AppendQuote(b, m.name), ':')
		b = append(b, bytes.TrimSpace(value.Bytes())...)
	}
	return append(b, '}'), nil
}

// each copies a schema, or each of a list of them, with f; other values stay as they are.
func each(v any, f func(object) object) any {
	switch v := v.(type) {
	case []object:
		var out []object
		for _, o := range v {
			out = append(out, f(o))
		}
		return out
	case object:
		return f(v)
	}
	return v
}

// values copies each schema of a map from names, which are not keywords.
func (o object) values(f func(object) object) object {
	out := slices.Clone(o)
	for i := range out {
		out[i].value = each(out[i].value, f)
	}
	return out
}

// only returns the members with these names.
func (o object) only(names ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return !slices.Contains(names, m.name) })
}

// without returns the members with other names.
func (o object) without(names ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return slices.Contains(names, m.name) })
}

// get is the value of a member, nil if there is none.
func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// with is o and more members; those that o has already are replaced in place.
func (o object) with(more ...member) object {
	out := slices.Clone(o)
	for _, m := range more {
		if i := slices.IndexFunc(out, func(old member) bool { return old.name == m.name }); i >= 0 {
			out[i] = m
		} else {
			out = append(out, m)
		}
	}
	return out
}

// key is one key of a map: what it means, a value that a plan could hold, and its schema.
type key struct {
	name        string
	schema      object
	description string
	example     any
	dflt        any // nil: none
	required    bool
}

// property is the schema of the key with what people read first.
func (k key) property() object {
	p := object{}
	if title := titleOf(k.schema); title != "" {
		p = append(p, member{"title", title})
	}
	p = append(p, member{"description", k.description})
	if k.dflt != nil {
		p = append(p, member{"default", k.dflt})
	}
	p = append(p, member{"examples", []any{k.example}})
	return p.with(k.schema...)
}

// closed is a map with these keys and no others.
func closed(title string, keys ...key) object {
	properties, required := object{}, []string{}
	for _, k := range keys {
		properties = append(properties, member{k.name, k.property()})
		if k.required {
			required = append(required, k.name)
		}
	}
	o := object{
		{"title", title},
		{"type", "object"},
		{"properties", properties},
		{"additionalProperties", false},
	}
	if len(required) > 0 {
		o = append(o, member{"required", required})
	}
	return o
}

func ref(def string) object { return object{{"$ref", defsPrefix + def}} }

func listOf(items object) object {
	return object{{"title", "list of " + titleOf(items)}, {"type", "array"}, {"items", items}}
}

// mapOf is a map whose keys are names that the plan chooses; names is their pattern, "" for any.
func mapOf(items object, names string) object {
	o := object{{"title", "map of " + titleOf(items)}, {"type", "object"}}
	if names != "" {
		o = append(o, member{"propertyNames", object{{"pattern", names}}})
	}
	return append(o, member{"additionalProperties", items})
}

// either is a value whose form follows from its YAML type. A form that is nil is not there. One of the
// conditions holds for any value, so that a mistake is reported once and not for each form.
func either(title string, scalar, list, table object) object {
	var forms []object
	rest := []string{}
	add := func(typ string, then object) {
		if then != nil {
			rest = append(rest, typ)
			forms = append(forms, object{{"if", object{{"type", typ}}}, {"then", then}})
		}
	}
	add("object", table)
	add("array", list)
	other := object{{"if", object{{"not", object{{"type", rest}}}}}, {"then", scalar}}
	return object{{"title", title}, {"allOf", append(forms, other)}}
}

// words is one of a closed set, or a variable.
func words(all []any) object {
	return object{{"title", "word"}, {"if", ref("variable")}, {"else", object{{"enum", all}}}}
}

// titleOf is the name of a schema for people.
func titleOf(schema object) string {
	if title, ok := schema.get("title").(string); ok {
		return title
	}
	if target, ok := schema.get("$ref").(string); ok {
		if title := titles()[strings.TrimPrefix(target, defsPrefix)]; title != "" {
			return title
		}
	}
	return "value"
}
