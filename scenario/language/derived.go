package language

import (
	"reflect"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Derived is an amount, or the expression over earlier results that gives it when its stage starts.
type Derived[T Amount] struct {
	V    T
	Expr *source.Text // what stands between ${ and }
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

func parseDerived[T Amount](n *source.Node, path string) (any, *source.Diagnostic) {
	if FromStage(n.Text) {
		whole := n.AsText(path)
		inner := whole.Slice(2, len([]rune(n.Text))-1)
		return Derived[T]{Expr: &inner}, nil
	}
	v, wrong := leafOf(reflect.TypeFor[T]()).parse(n, path)
	if wrong != nil {
		return nil, wrong
	}
	return Derived[T]{V: v.(T)}, nil
}

// precision is how close a search comes to the limit: a share of the value, or an amount. One of
// them is 0.
type precision[T Amount] struct {
	Ratio  Ratio
	Amount T
}

func parsePrecision[T Amount](n *source.Node, path string) (any, *source.Diagnostic) {
	if strings.HasSuffix(n.Text, "%") {
		share, wrong := parseRatio(n.Text)
		return precision[T]{Ratio: share}, wrong
	}
	v, wrong := leafOf(reflect.TypeFor[T]()).parse(n, path)
	if wrong != nil {
		wrong.Detail = "write a share such as 2%, or an amount"
		return nil, wrong
	}
	return precision[T]{Amount: v.(T)}, nil
}
