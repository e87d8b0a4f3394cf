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
// copied, values without their places; XPos takes the position of X, and Pos that of the whole. A map
// whose keys the plan chose becomes a list of structs that begin with the key; a scalar follows it. A
// field tagged `plan:"-"` means something else than the key of its name and is left out.
type builder struct {
	*reading
	steps    map[[2]reflect.Type][]step // what to copy, by the types of two structs
	targets  map[*language.Target]*Target
	datasets map[*language.Dataset]*Dataset
}

func newBuilder(r *reading) *builder {
	return &builder{
		reading: r, steps: map[[2]reflect.Type][]step{},
		targets: map[*language.Target]*Target{}, datasets: map[*language.Dataset]*Dataset{},
	}
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
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch v := from.Interface().(type) {
	case *language.Val[language.Path]:
		if path := b.path(v); to.Kind() == reflect.String {
			to.SetString(path.Name)
		} else {
			to.Set(reflect.ValueOf(path))
		}
	case language.Scalar:
		if to.Type() == reflect.TypeFor[Level]() {
			to.Set(reflect.ValueOf(newLevel(v)))
		} else {
			setScalar(to, v.Value())
		}
	case language.Mapping:
		v.Each(func(key string, value reflect.Value) {
			item := reflect.New(to.Type().Elem()).Elem()
			item.Field(0).SetString(key)
			b.fields(item, value.Elem())
			if _, scalar := value.Interface().(language.Scalar); scalar {
				b.value(item.Field(1), value)
			}
			to.Set(reflect.Append(to, item))
		})
	case *language.Conditions:
		to.Set(reflect.ValueOf(newConditions(v)))
	case *language.Dist[int64, language.Number]:
		to.Set(reflect.ValueOf(*newDist(v)))
	case *language.Dist[language.Number, language.Number]:
		to.Set(reflect.ValueOf(*newDist(v)))
	case *language.Dist[time.Duration, time.Duration]:
		to.Set(reflect.ValueOf(*newDist(v)))
	default:
		b.fields(to, from.Elem())
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
		unit, _ := time.ParseDuration("1" + v.String())
		to.SetInt(int64(unit))
	case to.CanInt():
		to.SetInt(v.Int())
	case to.CanUint():
		to.SetUint(uint64(v.Int()))
	case to.CanFloat():
		to.SetFloat(v.Float())
	default:
		panic(fmt.Sprintf("scenario: a field of type %s for a value of type %s", to.Type(), v.Type()))
	}
}
