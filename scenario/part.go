package scenario

import (
	"reflect"

	"github.com/sluice-bench/sluice/scenario/source"
)

// partKind tells what a part of a plan is.
type partKind uint8

// The kinds of part. A partMap has the keys of the language or one form without a key, a partDict those that the plan
// chose.
const (
	partAbsent partKind = iota
	partScalar
	partList
	partMap
	partDict
	partOpaque
)

// part is a value of a decoded plan, for whoever walks one without knowing its keys.
type part struct{ v reflect.Value }

// partOf is the part that p points to.
func partOf(p *rawPlan) part { return part{reflect.ValueOf(p).Elem()} }

// follow goes through pointers; the zero Value: the part is absent.
func (p part) follow() part {
	for p.v.Kind() == reflect.Pointer {
		p.v = p.v.Elem()
	}
	return p
}

// kind is what the part is.
func (p part) kind() partKind {
	switch v := p.follow().v; {
	case !v.IsValid() || v.Kind() == reflect.Slice && v.IsNil():
		return partAbsent
	case v.Kind() == reflect.Slice:
		return partList
	case isLeaf(v.Type()):
		return partScalar
	case v.Type() == reflect.TypeFor[opaque]():
		return partOpaque
	case isDict(v.Type()):
		return partDict
	}
	return partMap
}

// items are those of a list.
func (p part) items(visit func(i int, item part)) {
	v := p.follow().v
	for i := range v.Len() {
		visit(i, part{v.Index(i)})
	}
}

// entries visits the values of a dict, or of a map in the order of the language until visit returns false. The key is ""
// for a form that is not a map.
func (p part) entries(visit func(key string, value part) bool) {
	v := p.follow().v
	if isDict(v.Type()) {
		v.Addr().Interface().(mapping).each(func(key string, value reflect.Value) { visit(key, part{value}) })
		return
	}
	for _, f := range fields(v.Type()) {
		if !visit(f.key, part{v.FieldByIndex(f.index)}) {
			return
		}
	}
}

// scalar is the value of a scalar and its place.
func (p part) scalar() (any, place) {
	s := p.follow().v.Addr().Interface().(scalar)
	return s.value().Interface(), *s.place()
}

// node is the node of a map; nil: a scalar, a list, or a default.
func (p part) node() *source.Node {
	v := p.follow().v
	if v.Kind() != reflect.Struct || isLeaf(v.Type()) {
		return nil
	}
	at, _ := v.FieldByName("At").Interface().(place)
	return at.node
}

// pointer points to the struct.
func (p part) pointer() any { return p.follow().v.Addr().Interface() }
