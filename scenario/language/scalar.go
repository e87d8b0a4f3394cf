package language

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// The leaf types of the plan language that Go has no type for.

type (
	// Rate is a number per second.
	Rate float64
	// Ratio is a share: 1 is 100%.
	Ratio float64
	// Size is a number of bytes.
	Size int64
	// power is a number of watts.
	power float64
	// energy is a number of joules.
	energy float64
	// Number is a number without a unit.
	Number float64
	// Path is a file's path as it is written.
	Path string
)

// Span is a duration or a number of things; at most one is not zero, and all are for `0s`.
type Span struct {
	Duration  time.Duration
	Requests  int64
	Sequences int64
	Sessions  int64
	Passes    int64 // over all rows of the data
}

// IsZero reports whether the span is empty.
func (s Span) IsZero() bool { return s == Span{} }

// Connections is `per_slot`, `per_request`, or a number shared by all slots.
type Connections struct {
	PerRequest bool
	Shared     int // 0: one for each slot
}

// ExactOutput is true, false or auto.
type ExactOutput string

// reader reads a scalar of a form.
type reader func(f *Form, n *source.Node, path string) (any, *source.Diagnostic)

func (f *Form) parse(n *source.Node, path string) (any, *source.Diagnostic) {
	return f.read(f, n, path)
}

// readBy returns the form with another reader.
func (f *Form) readBy(read reader) *Form {
	other := *f
	other.read = read
	return &other
}

// leaves holds the forms of the Go types of scalars.
var leaves = sync.OnceValue(func() map[reflect.Type]*Form {
	return map[reflect.Type]*Form{
		reflect.TypeFor[string]():           FormOf("text"),
		reflect.TypeFor[any]():              FormOf("any"),
		reflect.TypeFor[element]():          FormOf("any").readBy(readElement),
		reflect.TypeFor[Path]():             FormOf("path"),
		reflect.TypeFor[int64]():            FormOf("int"),
		reflect.TypeFor[Derived[int64]]():   derived[int64]("int"),
		reflect.TypeFor[precision[int64]](): precise[int64]("int"),
		reflect.TypeFor[Number]():           FormOf("number"),
		reflect.TypeFor[bool]():             FormOf("bool"),
		reflect.TypeFor[time.Duration]():    FormOf("duration"),
		reflect.TypeFor[Rate]():             FormOf("rate"),
		reflect.TypeFor[Derived[Rate]]():    derived[Rate]("rate"),
		reflect.TypeFor[precision[Rate]]():  precise[Rate]("rate"),
		reflect.TypeFor[Ratio]():            FormOf("ratio"),
		reflect.TypeFor[Size]():             FormOf("size"),
		reflect.TypeFor[power]():            FormOf("power"),
		reflect.TypeFor[energy]():           FormOf("energy"),
		reflect.TypeFor[Span]():             FormOf("span"),
		reflect.TypeFor[source.Text]():      FormOf("expression"),
		reflect.TypeFor[Connections]():      FormOf("connections"),
		reflect.TypeFor[ExactOutput]():      FormOf("exact_output"),
	}
})

// leafOf returns the form of a Go type of scalars; nil: t is none.
func leafOf(t reflect.Type) *Form { return leaves()[t] }

func readConnections(f *Form, n *source.Node, path string) (any, *source.Diagnostic) {
	switch n.Text {
	case "per_slot":
		return Connections{}, nil
	case "per_request":
		return Connections{PerRequest: true}, nil
	}
	if v, wrong := readInt(f, n, path); wrong == nil && v.(int64) >= 1 && v.(int64) <= MaxSlots {
		return Connections{Shared: int(v.(int64))}, nil
	}
	return nil, source.Errorf(source.CodeValue, "%q is no way to connect", n.Text).
		Help(fmt.Sprintf("or a number from 1 to %d, shared by all slots", MaxSlots)).
		Among(f.meant(n), []string{"per_slot", "per_request"})
}

func readExactOutput(f *Form, n *source.Node, path string) (any, *source.Diagnostic) {
	if v, wrong := readBool(f, n, path); wrong == nil {
		return ExactOutput(strconv.FormatBool(v.(bool))), nil
	}
	if n.Text == "auto" {
		return ExactOutput(n.Text), nil
	}
	return nil, source.Errorf(source.CodeValue, "%q is neither true, false nor auto", n.Text).
		Among(source.Nearest(n.Text, []string{"true", "false", "auto"}), []string{"true", "false", "auto"})
}

func readText(_ *Form, n *source.Node, _ string) (any, *source.Diagnostic) { return n.Text, nil }

func readPath(f *Form, n *source.Node, _ string) (any, *source.Diagnostic) {
	if n.Text == "" || strings.ContainsRune(n.Text, 0) {
		return nil, source.Errorf(source.CodeValue, "a path is empty or holds a NUL")
	}
	return Path(n.Text), nil
}

func readInt(f *Form, n *source.Node, _ string) (any, *source.Diagnostic) {
	if n.Tag != "!!int" {
		return nil, f.Mistake(n)
	}
	v, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil {
		return nil, source.Errorf(source.CodeValue, "integer %s is out of range", n.Text)
	}
	return v, nil
}

func readNumber(f *Form, n *source.Node, _ string) (any, *source.Diagnostic) {
	v, err := strconv.ParseFloat(n.Text, 64)
	if n.Tag != "!!int" && n.Tag != "!!float" || err != nil || math.IsInf(v, 0) {
		return nil, f.Mistake(n)
	}
	return Number(v), nil
}

func readBool(f *Form, n *source.Node, _ string) (any, *source.Diagnostic) {
	if n.Tag != "!!bool" {
		return nil, f.Mistake(n)
	}
	return n.Text == "true", nil
}

func readExpression(f *Form, n *source.Node, path string) (any, *source.Diagnostic) {
	if strings.TrimSpace(n.Text) == "" {
		return nil, f.Mistake(n)
	}
	return n.AsText(path), nil
}

// element is one of a tensor: what readAny gives, or an integer that only an unsigned one of 64 bits
// holds, as uint64.
type element any

func readElement(f *Form, n *source.Node, path string) (any, *source.Diagnostic) {
	if n.Tag == "!!int" {
		if v, err := strconv.ParseUint(n.Text, 10, 64); err == nil && v > math.MaxInt64 {
			return v, nil
		}
	}
	return readAny(f, n, path)
}

// readAny types a scalar as YAML does: bool, int64, float64 or string.
func readAny(f *Form, n *source.Node, path string) (any, *source.Diagnostic) {
	switch n.Tag {
	case "!!bool":
		return readBool(f, n, path)
	case "!!int":
		return readInt(f, n, path)
	case "!!float":
		v, wrong := readNumber(f, n, path)
		if wrong != nil {
			return nil, wrong
		}
		return float64(v.(Number)), nil
	}
	return n.Text, nil
}

// ReadAs reads a scalar as a type of variable; for "text" it is its text.
func ReadAs(typ string, n *source.Node) (any, *source.Diagnostic) {
	return FormOf(cmp.Or(typ, "text")).parse(n, "")
}

// ReadKey reads a key of `values` as one of the values.
func ReadKey[T any](key string) (any, *source.Diagnostic) {
	return leafOf(reflect.TypeFor[T]()).parse(source.Plain(key, source.Pos{}), "")
}

// LeafName returns the name of a type of scalars in the schema: of T of a Val[T]; "": it is none.
func LeafName(t reflect.Type) string {
	if f := leafOf(t); f != nil {
		return f.Name
	}
	return ""
}
