package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// builder makes the plain structs of a Plan of the structs of package language. Fields of one name are
// copied, values without their places; XPos takes the position of X, and Pos that of the whole. A field
// tagged `plan:"-"` means something else than the key of its name and is left out.
type builder struct {
	*reading
	steps map[[2]reflect.Type][]step // what to copy, by the types of two structs
}

// step copies one field.
type step struct {
	to, from int
	set      func(b *builder, to, from reflect.Value)
}

// copy fills the struct that `to` points to from the one that `from` points to.
func (b *builder) copy(to, from any) {
	b.fields(reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem())
}

func (b *builder) fields(to, from reflect.Value) {
	types := [...]reflect.Type{to.Type(), from.Type()}
	steps, known := b.steps[types]
	if !known {
		steps = stepsOf(types[0], types[1])
		b.steps[types] = steps
	}
	for _, s := range steps {
		s.set(b, to.Field(s.to), from.Field(s.from))
	}
}

func stepsOf(to, from reflect.Type) (all []step) {
	for i := range to.NumField() {
		f, set := to.Field(i), (*builder).value
		if f.Type == reflect.TypeFor[source.Pos]() {
			set = setPosition
			if f.Name = strings.TrimSuffix(f.Name, "Pos"); f.Name == "" {
				f.Name = "At"
			}
		}
		if own, ok := from.FieldByName(f.Name); ok && f.Tag.Get("plan") != "-" {
			all = append(all, step{i, own.Index[0], set})
		}
	}
	return all
}

// setPosition takes the position of a struct or a scalar.
func setPosition(_ *builder, to, from reflect.Value) {
	at, ok := from.Addr().Interface().(*language.Place)
	if !ok && !from.IsNil() {
		at = from.Interface().(language.Scalar).Place()
	}
	if at != nil {
		*to.Addr().Interface().(*source.Pos) = at.Pos()
	}
}

// value copies a list, a map or a scalar; what is absent or empty leaves the zero value.
func (b *builder) value(to, from reflect.Value) {
	if from.Kind() == reflect.Slice {
		if n := from.Len(); n > 0 {
			to.Set(reflect.MakeSlice(to.Type(), n, n))
			for i := range n {
				b.value(to.Index(i), from.Index(i))
			}
		}
		return
	}
	if from.IsNil() {
		return
	}
	switch v := from.Interface().(type) {
	case *language.Val[language.Path]:
		b.setPath(to, v)
	case language.Scalar:
		setScalar(to, v.Value())
	case *language.Dict[language.Val[string]]:
		to.Set(reflect.ValueOf(texts(v)))
	case *language.Dict[language.Val[any]]:
		to.Set(reflect.ValueOf(parameters(v)))
	case *language.Conditions:
		to.Set(reflect.ValueOf(newConditions(v)))
	case *language.Dist[int64, language.Number]:
		setStruct(to, newDist(v))
	case *language.Dist[time.Duration, time.Duration]:
		setStruct(to, newDist(v))
	default:
		if to.Kind() == reflect.Pointer {
			to.Set(reflect.New(to.Type().Elem()))
			to = to.Elem()
		}
		b.fields(to, from.Elem())
	}
}

func setStruct(to reflect.Value, d *Dist) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.ValueOf(d))
	} else {
		to.Set(reflect.ValueOf(*d))
	}
}

func (b *builder) setPath(to reflect.Value, v *language.Val[language.Path]) {
	switch to := to.Addr().Interface().(type) {
	case *string:
		*to = b.path(v).Name
	case *Path:
		*to = b.path(v)
	case **Path:
		path := b.path(v)
		*to = &path
	}
}

// path resolves a path of the plan.
func (b *builder) path(p *language.Val[language.Path]) Path {
	return Path{layer.Locate(b.File, p.At.Node, string(p.V)), p.At.Pos()}
}

// setScalar sets a field to a value of the same kind; a duration also to the unit that a word names.
func setScalar(to, v reflect.Value) {
	switch {
	case v.Type().AssignableTo(to.Type()):
		to.Set(v)
	case v.Type() == reflect.TypeFor[string]() && to.Type() == reflect.TypeFor[time.Duration]():
		to.SetInt(int64(unitOf(v.String())))
	case to.CanInt():
		to.SetInt(v.Int())
	case to.CanUint():
		to.SetUint(uint64(v.Int()))
	case to.CanFloat():
		to.SetFloat(v.Float())
	case to.Kind() == reflect.Pointer:
		to.Set(v.Addr())
	default:
		panic(fmt.Sprintf("scenario: a field of type %s for a value of type %s", to.Type(), v.Type()))
	}
}

// unitOf returns the unit of time of a word; 0 for another word.
func unitOf(word string) time.Duration {
	switch word {
	case "ns":
		return time.Nanosecond
	case "us":
		return time.Microsecond
	case "ms":
		return time.Millisecond
	case "s":
		return time.Second
	}
	return 0
}
