package language

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// FillDefaults puts the defaults of the language into a plan.
func FillDefaults(p *Plan) { fill(reflect.ValueOf(p)) }

// fill puts the defaults of the tags into the fields of a struct that were not written, all the way
// down. An option that does not fit the member that was chosen stays out.
func fill(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem())
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case v.Kind() != reflect.Struct || isLeaf(v.Type()) || v.Type() == reflect.TypeFor[Opaque]():
	case isDict(v.Type()):
		v.Addr().Interface().(Mapping).Each(func(_ string, e reflect.Value) { fill(e) })
	default:
		fillStruct(v)
	}
}

func fillStruct(v reflect.Value) {
	for _, f := range fields(v.Type()) {
		at := v.FieldByIndex(f.index)
		if f.filled && at.IsNil() && wantsDefault(v, f) {
			at.Set(defaultValue(f.typ, defaultIn(v, f)))
		}
		fill(at)
	}
}

// defaultIn returns the default of a field of v, which is another one for targets that stream.
func defaultIn(v reflect.Value, f field) string {
	if text := f.tag.Get("streaming"); text != "" {
		if streams, _ := v.FieldByName("Streaming").Interface().(*Val[bool]); streams.Or(false) {
			return text
		}
	}
	return f.dflt
}

// Default is the default of a key of struct S, as its tag has it, read as the type T of its scalar. It
// panics where the tag has none.
func Default[S, T any](key string) T {
	f, _ := fieldOfKey(reflect.TypeFor[S](), key)
	return readTag(reflect.TypeFor[T](), cmp.Or(f.dflt, f.tag.Get("usual"))).(T)
}

// readTag reads the text of a tag as a type of scalars.
func readTag(t reflect.Type, text string) any {
	v, wrong := leafOf(t).parse(source.Plain(text, source.Pos{}), "")
	if wrong != nil {
		panic("language: " + text + " in a tag: " + wrong.Summary)
	}
	return v
}

// wantsDefault reports whether a key that an option goes with is there.
func wantsDefault(v reflect.Value, f field) bool {
	with := f.with
	for _, key := range with {
		if beside, _ := fieldOfKey(v.Type(), key); !v.FieldByIndex(beside.index).IsNil() {
			return true
		}
	}
	return len(with) == 0
}

// defaultValue makes the value of a default tag: a scalar, the words of a list, or an empty map.
func defaultValue(t reflect.Type, text string) reflect.Value {
	switch {
	case t.Kind() == reflect.Slice:
		list := reflect.MakeSlice(t, 0, 0)
		for _, word := range strings.Fields(text) {
			list = reflect.Append(list, defaultValue(t.Elem(), word))
		}
		return list
	case isLeaf(t.Elem()):
		return defaultLeaf(t, text)
	}
	v := reflect.New(t.Elem())
	v.Elem().FieldByName("At").Set(reflect.ValueOf(Place{Implied: true}))
	if f, ok := fieldOfForm(t.Elem(), source.Scalar); ok && text != "{}" {
		v.Elem().FieldByIndex(f.index).Set(defaultValue(f.typ, text))
	}
	return v
}

func defaultLeaf(t reflect.Type, text string) reflect.Value {
	v := reflect.New(t.Elem())
	s := v.Interface().(Scalar)
	value := readTag(s.Value().Type(), text)
	if expression, ok := value.(source.Text); ok {
		value = source.Text{Text: expression.Text}
	}
	s.Value().Set(reflect.ValueOf(value))
	*s.Place() = Place{Node: source.Plain(text, source.Pos{}), Implied: true}
	return v
}
