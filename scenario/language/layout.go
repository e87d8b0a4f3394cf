package language

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-bench/sluice/scenario/source"
)

// The tags of the structs are all that decoding, merging, replacing of variables, defaults and the
// written-out plan know of the language:
//
//	plan:"key"       the key of a map
//	form:"scalar"    what the value is when it is written as a scalar, a list, or a map (with free keys,
//	                 or with the key of has)
//	has:"key"        of several forms that are maps: the one that has this key
//	inline:"true"    the fields of that struct belong to this one
//	words:"a b"      the words allowed
//	default:"text"   the value when the key is absent: plan text; words of a list; {} for an empty map
//	streaming:"text" the default of a target that streams
//	usual:"text"     the same, for a key that not every kind of target reads: it is not filled in
//	min:"1" max:"9"  the range allowed, both included; above:"0" leaves out the end; zero, MaxSlots and
//	                 MaxAmount are limits by name
//	with:"rate"      the option makes sense only beside one of these keys
//	one:"load"       of the keys with this word a map has one (unions.go)
//	is:"name"        a special kind of text (constraint.go); file, folder: a path to one that must be there
//	required:"true"  the key must be there
//	unique:"true"    a list has no scalar twice
//
// The comment of a field is the description of its key, which ends with an example: `Example: VALUE`.
// In a generic struct a second one, after ` | `, is for types whose values have a unit. From tags and
// comments schema/generate makes the schemas (its walk.go has the tags that are for these alone); run
// `go generate ./schema` after a change.

// Place tells where a decoded value is. A value that a default gave has Implied set and a node without
// position.
type Place struct {
	Node    *source.Node
	Path    string
	Implied bool
}

// Pos is the zero Pos for a default.
func (p Place) Pos() source.Pos {
	if p.Node == nil {
		return source.Pos{}
	}
	return p.Node.Pos
}

// Val is one decoded scalar. A nil *Val is a key that is not there.
type Val[T any] struct {
	V  T
	At Place
}

// Scalar is a *Val of any type, for walks over the structs.
type Scalar interface {
	Place() *Place
	Value() reflect.Value // of T, settable
}

// Place implements Scalar.
func (v *Val[T]) Place() *Place { return &v.At }

// Value implements Scalar.
func (v *Val[T]) Value() reflect.Value { return reflect.ValueOf(&v.V).Elem() }

// Or gives the value, or other when the key is not there.
func (v *Val[T]) Or(other T) T {
	if v == nil {
		return other
	}
	return v.V
}

// Dict is a map with free keys, in document order.
type Dict[T any] struct {
	At      Place
	Entries []Item[T]
}

// Item is one entry of a dict. Value is never nil.
type Item[T any] struct {
	Key    string
	KeyPos source.Pos
	Value  *T
}

// Mapping is a *Dict of any type, for walks over the structs.
type Mapping interface {
	Each(visit func(key string, value reflect.Value)) // a pointer to each value
	add(key string, pos source.Pos) any               // a pointer to the new entry's value
}

func (m *Dict[T]) add(key string, pos source.Pos) any {
	v := new(T)
	m.Entries = append(m.Entries, Item[T]{key, pos, v})
	return v
}

// Each implements Mapping.
func (m *Dict[T]) Each(visit func(string, reflect.Value)) {
	for _, e := range m.Entries {
		visit(e.Key, reflect.ValueOf(e.Value))
	}
}

// Items are the entries of a dict that may be absent.
func (m *Dict[T]) Items() []Item[T] {
	if m == nil {
		return nil
	}
	return m.Entries
}

// Opaque is a part of the plan that is kept as it is: what it means is known where it is used.
type Opaque struct{ At Place }

var (
	scalarType  = reflect.TypeFor[Scalar]()
	mappingType = reflect.TypeFor[Mapping]()
)

// field is one field of a struct of the language.
type field struct {
	key   string      // plan key; "" for a form
	form  source.Kind // that the value is written in; 0 for a key
	index []int
	typ   reflect.Type
	tag   reflect.StructTag

	// What the tag says, read once.
	has, is, dflt    string
	one              string // the union that the key is in
	min, above, max  bound
	required, filled bool // filled: dflt is put in
	unique           bool
	words, with      []string
}

// layout holds the fields and unions of one struct.
type layout struct {
	fields []field
	unions []union
}

// Structs lists the structs of the language, in the order in which it mentions them.
func Structs() (all []reflect.Type) {
	var learn func(reflect.Type)
	learn = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		switch {
		case isDict(t):
			learn(EntryType(t))
		case isLeaf(t) || t.Kind() != reflect.Struct || slices.Contains(all, t):
		default:
			all = append(all, t)
			for i := range t.NumField() {
				if f := t.Field(i); f.Tag.Get("plan")+f.Tag.Get("form")+f.Tag.Get("inline") != "" {
					learn(f.Type)
				}
			}
		}
	}
	learn(reflect.TypeFor[Plan]())
	return all
}

// layouts holds a *layout for each reflect.Type whose tags were read. A plan uses few of the structs, and reading
// all takes milliseconds.
var layouts sync.Map

func layoutOf(t reflect.Type) *layout {
	if t == nil || t.Kind() != reflect.Struct {
		return &layout{}
	}
	if known, ok := layouts.Load(t); ok {
		return known.(*layout)
	}
	own := &layout{fields: readFields(t)}
	own.unions = readUnions(own.fields)
	layouts.Store(t, own)
	return own
}

// fields lists the fields of t that the plan can fill, inlined ones included.
func fields(t reflect.Type) []field { return layoutOf(t).fields }

func readFields(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("inline") != "" {
			for _, inner := range readFields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				all = append(all, inner)
			}
			continue
		}
		own := field{key: f.Tag.Get("plan"), index: []int{i}, typ: f.Type, tag: f.Tag}
		own.form = map[string]source.Kind{
			"scalar": source.Scalar, "list": source.List, "map": source.Map,
		}[f.Tag.Get("form")]
		if own.key == "" && own.form == 0 {
			continue
		}
		own.has, own.is, own.required = f.Tag.Get("has"), f.Tag.Get("is"), f.Tag.Get("required") != ""
		own.one = f.Tag.Get("one")
		bounds := readBounds(f)
		own.min, own.above, own.max = bounds[0], bounds[1], bounds[2]
		own.unique = f.Tag.Get("unique") != ""
		own.dflt, own.filled = f.Tag.Lookup("default")
		own.words, own.with = strings.Fields(f.Tag.Get("words")), strings.Fields(f.Tag.Get("with"))
		all = append(all, own)
	}
	return all
}

// fieldOfKey finds the field for a key.
func fieldOfKey(t reflect.Type, key string) (field, bool) {
	for _, f := range fields(t) {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

// fieldOfForm finds the field that holds a value written as a scalar, list, or map. Of several maps it
// is the one without a key of its own.
func fieldOfForm(t reflect.Type, form source.Kind) (field, bool) {
	for _, f := range fields(t) {
		if f.form == form && f.has == "" {
			return f, true
		}
	}
	return field{}, false
}

// fieldOfNode finds the field that holds n.
func fieldOfNode(t reflect.Type, n *source.Node) (field, bool) {
	for _, f := range fields(t) {
		if f.has != "" && n.Kind == source.Map && n.Entry(f.has) != nil {
			return f, true
		}
	}
	return fieldOfForm(t, n.Kind)
}

// deref removes pointers.
func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func isLeaf(t reflect.Type) bool { return reflect.PointerTo(t).Implements(scalarType) }
func isDict(t reflect.Type) bool { return reflect.PointerTo(t).Implements(mappingType) }

// EntryType is T of a Dict[T].
func EntryType(dict reflect.Type) reflect.Type {
	entries, _ := dict.FieldByName("Entries")
	value, _ := entries.Type.Elem().FieldByName("Value")
	return value.Type.Elem()
}

// leafType is T of a val[T].
func leafType(t reflect.Type) reflect.Type { return t.Field(0).Type }

// inForm goes from a union written by YAML type to the type of the form at hand; nil: no such form.
func inForm(t reflect.Type, kind source.Kind) reflect.Type {
	t = deref(t)
	if t == nil || isLeaf(t) || isDict(t) || t.Kind() != reflect.Struct {
		return t
	}
	if f, ok := fieldOfForm(t, kind); ok {
		return deref(f.typ)
	}
	if kind == source.Map {
		return t
	}
	return nil
}

// childType is the type of the value under key in a value of type t; nil: not known.
func childType(t reflect.Type, key string) reflect.Type {
	if t = deref(t); t != nil && t.Kind() == reflect.Struct {
		for _, f := range fields(t) {
			if f.has == key {
				return childType(f.typ, key)
			}
		}
	}
	t = inForm(t, source.Map)
	switch {
	case t == nil || isLeaf(t):
		return nil
	case isDict(t):
		return deref(EntryType(t))
	case t.Kind() != reflect.Struct:
		return nil
	}
	if f, ok := fieldOfKey(t, key); ok {
		return deref(f.typ)
	}
	return nil
}

// itemType is the type of a list's items in a value of type t; nil: not known.
func itemType(t reflect.Type) reflect.Type {
	t = inForm(t, source.List)
	if t == nil || t.Kind() != reflect.Slice {
		return nil
	}
	return deref(t.Elem())
}

// scalarLeaf is T of the val[T] that a scalar in a value of type t fills; nil: not known.
func scalarLeaf(t reflect.Type) reflect.Type {
	t = inForm(t, source.Scalar)
	if t == nil || !isLeaf(t) {
		return nil
	}
	return leafType(t)
}
