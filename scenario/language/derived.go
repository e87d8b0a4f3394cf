package language

import (
	"reflect"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Derived is an amount, or the expression over earlier results that gives it when its stage starts.
type Derived[T Amount] struct {
	V    T
	Expr *source.Text // the text between ${ and }
}

// Plain is the amount or the expression as data.
func (d Derived[T]) Plain() any {
	if d.Expr != nil {
		return d.Expr.Text
	}
	return d.V
}

// isDerived reports whether t is an amount that may come from an earlier result.
func isDerived(t reflect.Type) bool {
	return t == reflect.TypeFor[Derived[int64]]() || t == reflect.TypeFor[Derived[Rate]]()
}

// FromStage reports whether a scalar is one ${…} that calls stage("…"). Braces inside must pair up.
func FromStage(text string) bool {
	if !strings.HasPrefix(text, "${") || !strings.HasSuffix(text, "}") || !strings.Contains(text, "stage(") {
		return false
	}
	depth := 0
	for i, r := range text {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 && i > 1 && i < len(text)-1 {
			return false
		}
	}
	return depth == 0
}

// derived returns the form of an amount that may come from an earlier result.
func derived[T Amount](name string) *Form {
	amount := FormOf(name)
	return amount.readBy(func(_ *Form, n *source.Node, path string) (any, *source.Diagnostic) {
		if FromStage(n.Text) {
			inner := n.AsText(path).Slice(2, len([]rune(n.Text))-1)
			return Derived[T]{Expr: &inner}, nil
		}
		v, wrong := amount.parse(n, path)
		if wrong != nil {
			return nil, wrong
		}
		return Derived[T]{V: v.(T)}, nil
	})
}

// precision is how close a search comes to the limit: a share of the value, or an amount. One of
// them is 0.
type precision[T Amount] struct {
	Ratio  Ratio
	Amount T
}

// precise returns the form of a precision: a share, or an amount.
func precise[T Amount](name string) *Form {
	form := FormOf("precision_" + name)
	return form.readBy(func(f *Form, n *source.Node, path string) (any, *source.Diagnostic) {
		if v, wrong := FormOf("ratio").parse(n, path); wrong == nil {
			return precision[T]{Ratio: v.(Ratio)}, nil
		}
		if v, wrong := FormOf(name).parse(n, path); wrong == nil {
			return precision[T]{Amount: v.(T)}, nil
		}
		return nil, f.Mistake(n)
	})
}
