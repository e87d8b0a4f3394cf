package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// The schema follows from the structs of package language. Besides the tags that decoding reads
// (language/layout.go), the field At of a struct says how the schema names it; $ is the type of its
// values:
//
//	def:"levels_$"       the definition of the map that it is
//	name:"stage"         what such a map is called; "map" without it
//	union:"assertion"    the definition of all its forms; without it they are written where they are used
//	title:"word or map"  what its forms are called together
//
// and two tags of fields are for the schema alone: least:"1" (items of a list, entries of a map),
// names:"var" or names:"given" (which names a plan may choose). What no tag can say is in special.go.

// generator makes schemas of the language.
type generator struct{ docs docs }

// base is the name of a struct without its type arguments.
func base(t reflect.Type) string { name, _, _ := strings.Cut(t.Name(), "["); return name }

func isGeneric(t reflect.Type, name string) bool {
	return t.Kind() == reflect.Struct && base(t) == name
}

// pointee removes pointers.
func pointee(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// unit is the type of the values of a generic struct as definitions name it: int, number, rate,
// duration.
func unit(t reflect.Type) string {
	for i := range t.NumField() {
		if f := pointee(t.Field(i).Type); isGeneric(f, "Val") {
			return language.LeafName(f.Field(0).Type)
		}
	}
	return ""
}

// tagOf is a tag of the field At of a struct.
func tagOf(t reflect.Type, tag string) string {
	at, _ := t.FieldByName("At")
	text := at.Tag.Get(tag)
	if strings.Contains(text, "$") {
		text = strings.ReplaceAll(text, "$", unit(t))
	}
	return text
}

// titleOfMap returns the title of a struct that is a map.
func titleOfMap(t reflect.Type) string {
	if name := tagOf(t, "name"); name != "" {
		return name
	}
	return "map"
}

func isKey(f reflect.StructField) bool { return f.Tag.Get("plan") != "" }

// titles are the names for people, by definition.
var titles = sync.OnceValue(func() map[string]string {
	all := map[string]string{"variable": "variable", "profile": "profile"}
	for _, s := range language.Forms() {
		all[s.Name] = s.Title
	}
	for _, t := range language.Structs() {
		all[tagOf(t, "union")], all[tagOf(t, "def")] = tagOf(t, "title"), titleOfMap(t)
	}
	return all
})

// keys lists the keys of a struct, those of inlined ones included.
func (g generator) keys(t reflect.Type) []key {
	var all []key
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("inline") != "" {
			all = append(all, g.keys(f.Type)...)
		}
		if !isKey(f) {
			continue
		}
		d, ok := g.docs[base(t)+"."+f.Name]
		if !ok {
			panic(fmt.Sprintf("language: the comment of %s.%s has no `Example: `", base(t), f.Name))
		}
		example := d.examples[0]
		if u := unit(t); len(d.examples) > 1 && (u == "rate" || u == "duration") {
			example = d.examples[1]
		}
		all = append(all, key{
			name:        f.Tag.Get("plan"),
			schema:      g.schema(f.Type, f.Tag),
			description: d.description,
			example:     parse(example),
			dflt:        dflt(f),
			required:    f.Tag.Get("required") != "" && f.Tag.Get("plan") != "load", // see loadRequired
		})
	}
	return all
}

// schema is the schema of a value.
func (g generator) schema(t reflect.Type, tag reflect.StructTag) object {
	t = pointee(t)
	switch {
	case t == reflect.TypeFor[language.Opaque]() && tag.Get("plan") == "matrix":
		return matrix()
	case t == reflect.TypeFor[language.Opaque]():
		return object{{"title", "map"}, {"type", "object"}}
	case t.Kind() == reflect.Slice:
		return g.list(t, tag)
	case isGeneric(t, "Val"):
		return scalar(t.Field(0).Type, tag)
	case isGeneric(t, "Dict"):
		names := map[string]string{"var": language.AxisForm.String(), "given": language.KeyForm.String()}
		entry := g.schema(language.EntryType(t), "")
		return filled("minProperties", tag, mapOf(entry, names[tag.Get("names")]))
	case t == reflect.TypeFor[language.Plan]():
		return ref("profile")
	case tagOf(t, "union") != "":
		return ref(tagOf(t, "union"))
	case tagOf(t, "title") != "":
		return g.forms(t)
	}
	return ref(tagOf(t, "def"))
}

func (g generator) list(t reflect.Type, tag reflect.StructTag) object {
	switch item := pointee(t.Elem()); item {
	case reflect.TypeFor[language.Opaque]():
		return filled("minItems", tag, listOf(object{{"title", "map"}, {"type", "object"}}))
	case reflect.TypeFor[language.Elements](): // lists of lists: a title would name only one level
		return object{{"type", "array"}, {"items", ref("element")}}
	default:
		return filled("minItems", tag, listOf(g.schema(item, tag)))
	}
}

// filled adds the least number of items or entries to a schema, if there is one.
func filled(keyword string, tag reflect.StructTag, schema object) object {
	if least := tag.Get("least"); least != "" {
		return schema.with(member{keyword, json.Number(least)})
	}
	return schema
}

// scalar is the schema of a scalar of type T.
func scalar(t reflect.Type, tag reflect.StructTag) object {
	if all := strings.Fields(tag.Get("words")); len(all) > 0 {
		return words(list(tag.Get("words")))
	}
	name := language.LeafName(t)
	if o := texts(tag.Get("is"), name); o != nil {
		return o
	}
	o := ref(name)
	if name == "int" || name == "number" {
		for i, text := range language.Bounds(tag, name) {
			if text != "" {
				keyword := [...]string{"minimum", "exclusiveMinimum", "maximum"}[i]
				o = o.with(member{keyword, json.Number(text)})
			}
		}
	}
	return o
}

// forms is the schema of a value that may be written as a scalar, a list or a map.
func (g generator) forms(t reflect.Type) object {
	var one, many, table object
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Tag.Get("has") != "":
			return group(f.Tag.Get("has"))
		case f.Tag.Get("form") == "scalar":
			one = g.schema(f.Type, f.Tag)
		case f.Tag.Get("form") == "list":
			many = g.schema(f.Type, f.Tag)
		case f.Tag.Get("form") == "map":
			table = g.schema(f.Type, f.Tag)
		}
	}
	if name := tagOf(t, "def"); name != "" {
		table = ref(name)
	} else if keys := g.keys(t); len(keys) > 0 {
		table = closed("map", keys...)
	}
	if one == nil { // a scalar is no form: it must be reported as what it is not
		all := either(tagOf(t, "title"), nil, many, table).get("allOf").([]object)
		return object{{"title", tagOf(t, "title")}, {"type", []string{"array", "object"}}, {"allOf", all[:2]}}
	}
	return either(tagOf(t, "title"), one, many, table)
}

// dflt is the default of a key as the schema shows it; nil: there is none.
func dflt(f reflect.StructField) any {
	text, ok := f.Tag.Lookup("default")
	if !ok {
		text, ok = f.Tag.Lookup("usual")
	}
	switch t := pointee(f.Type); {
	case !ok:
		return nil
	case text == "{}" && t.Kind() == reflect.Struct && !isGeneric(t, "Dict"):
		return all(t)
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		return parse(text)
	case t.Kind() == reflect.Slice:
		list := []any{}
		for _, word := range strings.Fields(text) {
			list = append(list, plainly(pointee(t.Elem()), word))
		}
		return list
	default:
		return plainly(t, text)
	}
}

// all are the defaults of a map all of whose keys have one; else the map is empty.
func all(t reflect.Type) any {
	o := object{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !isKey(f) {
			continue
		}
		v := dflt(f)
		if v == nil {
			return object{}
		}
		o = append(o, member{f.Tag.Get("plan"), v})
	}
	return o
}

// plainly is a default that is a scalar: a number and true or false only where the type takes them.
func plainly(t reflect.Type, text string) any {
	for !isGeneric(t, "Val") {
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("form") == "scalar" {
				t = pointee(f.Type)
				break
			}
		}
	}
	switch language.LeafName(t.Field(0).Type) {
	case "int", "number", "bool", "any":
		return source.Plain(text, source.Pos{}).JSON()
	}
	return text
}
