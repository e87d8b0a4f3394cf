package language

import (
	"reflect"

	"github.com/sluice-bench/sluice/scenario/source"
)

// partKind tells what a part of a plan is.
type partKind uint8

// The kinds of part. A partMap has the keys of the language or one form without a key, a partDict
// those that the plan chose.
const (
	PartAbsent partKind = iota
	PartScalar
	PartList
	PartMap
	PartDict
	PartOpaque
)

// Part is a value of a decoded plan, for whoever walks one without knowing its keys.
type Part struct{ v reflect.Value }

// PartOf is the part that p points to.
func PartOf(p *Plan) Part { return Part{reflect.ValueOf(p).Elem()} }

// follow goes through pointers; the zero Value: the part is absent.
func (p Part) follow() Part {
	for p.v.Kind() == reflect.Pointer {
		p.v = p.v.Elem()
	}
	return p
}

// Kind returns the kind of the part.
func (p Part) Kind() partKind {
	switch v := p.follow().v; {
	case !v.IsValid() || v.Kind() == reflect.Slice && v.IsNil():
		return PartAbsent
	case v.Kind() == reflect.Slice:
		return PartList
	case isLeaf(v.Type()):
		return PartScalar
	case v.Type() == reflect.TypeFor[Opaque]():
		return PartOpaque
	case isDict(v.Type()):
		return PartDict
	}
	return PartMap
}

// Items are those of a list.
func (p Part) Items(visit func(i int, item Part)) {
	v := p.follow().v
	for i := range v.Len() {
		visit(i, Part{v.Index(i)})
	}
}

// Entries visits the values of a dict, or of a map in the order of the language until visit returns
// false. The key is "" for a form that is not a map.
func (p Part) Entries(visit func(key string, value Part) bool) {
	v := p.follow().v
	if isDict(v.Type()) {
		v.Addr().Interface().(Mapping).Each(func(key string, value reflect.Value) { visit(key, Part{value}) })
		return
	}
	for _, f := range fields(v.Type()) {
		if !visit(f.key, Part{v.FieldByIndex(f.index)}) {
			return
		}
	}
}

// Scalar is the value of a scalar and its place.
func (p Part) Scalar() (any, Place) {
	s := p.follow().v.Addr().Interface().(Scalar)
	return s.Value().Interface(), *s.Place()
}

// Node is the node of a map; nil: a scalar, a list, or a default.
func (p Part) Node() *source.Node {
	v := p.follow().v
	if v.Kind() != reflect.Struct || isLeaf(v.Type()) {
		return nil
	}
	at, _ := v.FieldByName("At").Interface().(Place)
	return at.Node
}

// Pointer points to the struct.
func (p Part) Pointer() any { return p.follow().v.Addr().Interface() }
