package expression

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// The codes of the diagnostics that this package reports.
const (
	codeSyntax   = "expression-syntax"
	codeLiteral  = "invalid-literal"
	codeChained  = "chained-comparison"
	codeTooLong  = "expression-too-long"
	codeName     = "unknown-metric"
	codeStat     = "unknown-statistic"
	codeVariable = "unknown-variable"
	codeText     = "text-in-expression"
	codeType     = "type-mismatch"
	codeConstant = "constant-expression"
	codeVacuous  = "never-in-doubt"
	codeResult   = "not-a-condition"
)

// The limits of one expression. They bound the parser's recursion, whose overflow would end the
// process.
const (
	maxBytes = 4096
	maxDepth = 64 // brackets and signs around one operand
)

// Compile makes a program of an expression that is true or false, and reports every mistake at its
// place in the plan.
func Compile(t source.Text, s Scope) (*Program, source.Diagnostics) { return compile(t, s, true) }

// CompileQuantity makes a program of an expression that is one number with a dimension.
func CompileQuantity(t source.Text, s Scope) (*Program, source.Diagnostics) {
	return compile(t, s, false)
}

// Check reports the mistakes of a condition that do not depend on the plan's targets: syntax, names
// of places and metrics, dimensions. It is for plans that cannot be compiled, so that these are not
// reported one run later. Any metric server.NAME exists with any dimension; capacity has that of
// what was searched.
func Check(t source.Text, names Names) source.Diagnostics { return check(t, names, true) }

// CheckQuantity is Check for an expression that is one number.
func CheckQuantity(t source.Text, names Names) source.Diagnostics { return check(t, names, false) }

// Names is what is known of the names in an expression of a plan that cannot be compiled.
type Names interface {
	// Variable returns the literal that a variable is replaced by, as Scope does.
	Variable(name string) (literal, typ string, err error)
	// Has returns a *NameError for a part of the place of a metric that does not exist; nil: it
	// exists, or is unknown.
	Has(at Place, path string) error
}

func check(t source.Text, names Names, condition bool) source.Diagnostics {
	catalogue, err := metric.New(metric.GoodputRows()...)
	if err != nil {
		return nil // a mistake of the program, which its tests find
	}
	_, ds := compile(t, looseScope{names, catalogue}, condition)
	return ds
}

// looseScope is the Scope of Check.
type looseScope struct {
	Names
	catalogue *metric.Catalogue
}

// errOpen is the error for a metric that only the server or the search can confirm: it is unknown
// and no mistake.
var errOpen = errors.New("known to the server only")

// Resolve implements Scope.
func (s looseScope) Resolve(at Place, path string) (metric.Leaf, error) {
	if err := s.Has(at, path); err != nil {
		return metric.Leaf{}, err
	}
	if strings.HasPrefix(path, "server.") || at.Model != "" || path == metric.Capacity ||
		path == metric.Best {
		return metric.Leaf{}, errOpen
	}
	return Find(s.catalogue, path)
}

// compile runs the steps of the package comment. It stops after the first that found mistakes.
func compile(t source.Text, scope Scope, condition bool) (p *Program, ds source.Diagnostics) {
	r := report{source: t, text: []rune(t.Text)}
	whole := span{0, len(r.text)}
	defer func() {
		if v := recover(); v != nil {
			r.found = nil
			r.mistake(whole, codeSyntax, fmt.Sprintf("this cannot be read: %v", v), "")
			p, ds = nil, r.found
		}
	}()
	if len(t.Text) > maxBytes {
		r.problem(span{0, 1}, source.Errorf(codeTooLong,
			"an expression has at most %d bytes, this has %d", maxBytes, len(t.Text)))
		return nil, r.found
	}
	s := scanner{report: r}
	s.scan()
	parsed := parser{report: s.report, tokens: s.tokens}
	tree := parsed.parse()
	if tree == nil {
		return nil, parsed.found.Sorted()
	}
	c := checker{parser: parsed, scope: scope, condition: condition}
	root := c.walk(tree)
	c.root(root)
	if ds = c.found.Sorted(); ds.HasErrors() {
		return nil, ds
	}
	return &Program{Text: t.Text, Refs: c.refs, whole: root}, ds
}

// span is a range of characters of the text: from the first up to, not including, the last.
type span struct{ from, to int }

// report collects the diagnostics of one text.
type report struct {
	source source.Text
	text   []rune
	found  source.Diagnostics
}

// part returns the characters of a span.
func (r *report) part(s span) string { return string(r.text[s.from:s.to]) }

// problem reports d at a span of the text, and returns an operand of unknown kind there.
func (r *report) problem(s span, d *source.Diagnostic) operand {
	r.found = append(r.found, d.At(r.source.Path, r.source.At(s.from), max(0, s.to-s.from)))
	return at(s)
}

// mistake reports an error that has no more than a summary and a detail.
func (r *report) mistake(s span, code, summary, detail string) operand {
	return r.problem(s, source.Errorf(code, "%s", summary).Help(detail))
}

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	Text string // as written
	Refs []Ref  // every metric that it reads, in the order of the text

	whole operand
}

// run is one evaluation of a program.
type run struct {
	program *Program
	refs    []Quantity // of Program.Refs
	judge   Judge      // nil: comparisons are decided by bounds
}

// Truth judges a condition on values.
func (p *Program) Truth(v Values) (t Truth) {
	defer func() {
		if r := recover(); r != nil {
			err := fmt.Errorf("evaluating %s: %v", p.Text, r)
			t = Truth{Why: "the expression could not be evaluated", Err: err}
		}
	}()
	return p.whole.truth(p.run(v))
}

// Quantity computes a quantity on values; the dimension is known even where the quantity is not.
func (p *Program) Quantity(v Values) (q Quantity, dim metric.Dim) {
	dim = metric.Dim(p.whole.kind)
	defer func() {
		if r := recover(); r != nil {
			q = Quantity{Why: fmt.Sprintf("evaluating %s: %v", p.Text, r)}
		}
	}()
	return p.whole.quantity(p.run(v)), dim
}

// run reads every reference once.
func (p *Program) run(v Values) *run {
	r := &run{program: p, refs: make([]Quantity, len(p.Refs))}
	r.judge, _ = v.(Judge)
	for i, ref := range p.Refs {
		q := clean(v.Quantity(ref))
		if !q.Known && !strings.Contains(q.Why, ref.Leaf.Row.Name) {
			q.Why = ref.String() + ": " + q.Why
		}
		r.refs[i] = q
	}
	return r
}
