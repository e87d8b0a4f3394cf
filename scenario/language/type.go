package language

import (
	"reflect"
	"slices"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Type is the type of a value of a plan: what may be written at a place. The zero Type is a place that
// the language does not know.
type Type struct{ t reflect.Type }

// TypeOf is the type of one of the structs of this package, or of a list of them.
func TypeOf[T any]() Type { return Type{reflect.TypeFor[T]()} }

// Key is the type of the value under a key of a map.
func (t Type) Key(name string) Type { return Type{childType(t.t, name)} }

// Item is the type of the items of a list.
func (t Type) Item() Type { return Type{itemType(t.t)} }

// AsMap is the type of the form that is a map; unknown: there is none.
func (t Type) AsMap() Type { return Type{inForm(t.t, source.Map)} }

// IsKnown reports whether the language knows the place.
func (t Type) IsKnown() bool { return t.t != nil }

// HasKey reports whether the map has a key of that name.
func (t Type) HasKey(name string) bool {
	_, ok := fieldOfKey(t.t, name)
	return ok
}

// IsFree reports whether the plan chooses the keys of the map.
func (t Type) IsFree() bool {
	m := inForm(t.t, source.Map)
	return m != nil && isDict(m)
}

// IsStages reports whether it is the list of a plan's stages.
func (t Type) IsStages() bool { return t.t == reflect.TypeFor[[]*StageEntry]() }

// TakesExpression reports whether a scalar is an expression, whose variables stay in it.
func (t Type) TakesExpression() bool { return scalarLeaf(t.t) == reflect.TypeFor[source.Text]() }

// TakesResult reports whether a scalar may be an expression over earlier results.
func (t Type) TakesResult() bool { return isDerived(scalarLeaf(t.t)) }

// TakesText reports whether a scalar may be any text, so that a number in quotes is not a number.
func (t Type) TakesText() bool {
	switch scalarLeaf(t.t) {
	case reflect.TypeFor[string](), reflect.TypeFor[any](), reflect.TypeFor[element]():
		return true
	}
	return false
}

// Displaced lists the keys of an earlier map that a later map removes by naming another member of a
// union.
func (t Type) Displaced(later *source.Node) map[string]bool {
	gone := map[string]bool{}
	if t.t == nil || t.t.Kind() != reflect.Struct {
		return gone
	}
	for _, u := range unionsOf(t.t) {
		found := u.named(later)
		if len(found) != 1 {
			continue
		}
		for _, key := range u.keys {
			gone[key] = gone[key] || key != found[0].Key
		}
		for _, f := range fields(t.t) {
			with := f.with
			if len(with) > 0 && slices.Contains(u.keys, with[0]) && !slices.Contains(with, found[0].Key) {
				gone[f.key] = true
			}
		}
	}
	return gone
}
