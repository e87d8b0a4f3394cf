package expression

import (
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Program is a compiled expression. Safe for concurrent use.
type Program struct {
	Text string // as written
	Refs []Ref  // every metric that it reads, in the order of the text
}

// Compile makes a program of an expression that is true or false. Every mistake found is positioned in the plan.
func Compile(t source.Text, s Scope) (*Program, source.Diagnostics) {
	return &Program{Text: t.Text}, nil
}

// CompileQuantity makes a program of an expression that is one number with a dimension.
func CompileQuantity(t source.Text, s Scope) (*Program, source.Diagnostics) {
	return &Program{Text: t.Text}, nil
}

// Truth judges the expression on values.
func (p *Program) Truth(v Values) Truth { return Truth{Why: "not evaluated"} }

// Quantity computes the expression on values; Dim is known even where the quantity is not.
func (p *Program) Quantity(v Values) (Quantity, metric.Dim) { return Quantity{}, metric.Number }
