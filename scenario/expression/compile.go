package expression

import (
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Program is a compiled expression. Safe for concurrent use.
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

// Compile makes a program of an expression that is true or false. Every mistake found is positioned in the plan.
func Compile(t source.Text, s Scope) (*Program, source.Diagnostics) {
	return build(t, s, true)
}

// CompileQuantity makes a program of an expression that is one number with a dimension.
func CompileQuantity(t source.Text, s Scope) (*Program, source.Diagnostics) {
	return build(t, s, false)
}

func build(t source.Text, s Scope, condition bool) (p *Program, ds source.Diagnostics) {
	text := []rune(t.Text)
	defer func() {
		if r := recover(); r != nil {
			p, ds = nil, diagnose(t, []problem{{to: len(text), code: codeSyntax, summary: fmt.Sprintf("this cannot be read: %v", r)}})
		}
	}()
	p, warnings, problems := compile(t.Text, text, s, condition)
	ds = append(warned(t, warnings), diagnose(t, problems)...).Sorted()
	if len(problems) > 0 {
		return nil, ds
	}
	return p, ds
}

// compile is the pipeline of the package comment. It stops after the first step that found mistakes.
func compile(raw string, text []rune, s Scope, condition bool) (p *Program, warnings, problems []problem) {
	c, root, problems := understand(raw, text, s, condition)
	if c != nil {
		warnings = c.warnings
	}
	if len(problems) > 0 {
		return nil, warnings, problems
	}
	return &Program{Text: raw, Refs: c.refs, whole: root}, warnings, nil
}

// understand is the pipeline up to the last of our own steps.
func understand(raw string, text []rune, s Scope, condition bool) (*checker, operand, []problem) {
	if len(raw) > maxBytes {
		return nil, operand{}, []problem{{to: 1, code: codeTooLong, summary: fmt.Sprintf("an expression has at most %d bytes, this has %d", maxBytes, len(raw))}}
	}
	tokens, problems := lex(raw)
	match, misshapen := shape(text, tokens, len(problems) == 0)
	if problems = append(problems, misshapen...); len(problems) > 0 {
		return nil, operand{}, problems
	}
	if len(tokens) == 0 {
		return nil, operand{}, []problem{{to: len(text), code: codeSyntax, summary: "the expression is empty", detail: "write a comparison, such as latency.p99 < 50ms"}}
	}
	tree, starts, p := parse(text, tokens)
	if p != nil {
		return nil, operand{}, []problem{*p}
	}
	c := &checker{text: text, tokens: tokens, match: match, starts: starts, scope: s, condition: condition}
	root := c.root(c.negation(c.walk(tree.Node)), condition)
	return c, root, c.problems
}

// root checks what the whole is: a condition, or one quantity that is measured.
func (c *checker) root(o operand, condition bool) operand {
	whole := operand{from: 0, to: len(c.tokens) - 1, ref: -1}
	switch {
	case o.kind == 0:
	case o.refs == 0:
		c.refuse(whole, problem{code: codeConstant, summary: "this reads no metric: it says nothing about the run"})
	case condition && o.kind != truth:
		c.refuse(whole, problem{
			code: codeResult, summary: "this is " + o.kind.an() + ", not a condition",
			detail: "compare it with a limit, such as " + c.source(whole) + " < " + example(o.kind),
		})
	case !condition && o.kind == truth:
		c.refuse(whole, problem{code: codeResult, summary: "this is a condition, not a quantity", detail: "name a metric, such as latency.p95"})
	}
	return o
}

// example is a limit of the kind.
func example(k kind) string {
	switch metric.Dim(k) {
	case metric.Duration:
		return "50ms"
	case metric.Rate:
		return "200/s"
	case metric.Ratio:
		return "0.1%"
	case metric.Bytes:
		return "64MiB"
	case metric.Power:
		return "300W"
	case metric.Count, metric.Number:
	}
	return "10"
}

// Truth judges the expression on values.
func (p *Program) Truth(v Values) (t Truth) {
	defer func() {
		if r := recover(); r != nil {
			t = Truth{Why: "the expression could not be evaluated", Err: fmt.Errorf("evaluating %s: %v", p.Text, r)}
		}
	}()
	if p.whole.truth == nil {
		return Truth{Why: "the expression could not be evaluated", Err: fmt.Errorf("%s is %s, not a condition", p.Text, p.whole.kind.an())}
	}
	return p.whole.truth(p.on(v))
}

// Quantity computes the expression on values; the dimension is known even where the quantity is not.
func (p *Program) Quantity(v Values) (q Quantity, dim metric.Dim) {
	dim = metric.Dim(p.whole.kind)
	defer func() {
		if r := recover(); r != nil {
			q = Quantity{Why: fmt.Sprintf("evaluating %s: %v", p.Text, r)}
		}
	}()
	if p.whole.quantity == nil {
		return Quantity{Why: p.Text + " is " + p.whole.kind.an() + ", not a quantity"}, dim
	}
	return p.whole.quantity(p.on(v)), dim
}

// on asks for everything that the program reads, once.
func (p *Program) on(v Values) *run {
	r := &run{program: p, refs: make([]Quantity, len(p.Refs))}
	r.judge, _ = v.(Judge)
	for i, ref := range p.Refs {
		q := clean(v.Quantity(ref))
		if !q.Known {
			q.Why = named(q.Why, ref)
		}
		r.refs[i] = q
	}
	return r
}

// named says of which metric something is not known, unless the reason says so itself.
func named(why string, ref Ref) string {
	if strings.Contains(why, ref.Leaf.Row.Name) {
		return why
	}
	return ref.String() + ": " + why
}

// warned puts what is worth a warning into the plan.
func warned(t source.Text, warnings []problem) source.Diagnostics {
	ds := diagnose(t, warnings)
	for i := range ds {
		ds[i].Severity = source.Warning
	}
	return ds
}

// ofYAML says in p what YAML has made of the text, where that is the reason.
func (p *problem) ofYAML(t source.Text) {
	if t.Node == nil || t.Node.Quoted || t.Node.Block || p.detail != "" {
		return
	}
	switch p.summary {
	case atEnd:
		if t.Node.Comment != "" {
			p.detail = "in YAML a # after a space begins a comment: write the whole text in quotes"
		}
	case neverClosed, neverOpened:
		if !strings.Contains(t.Text, ",") {
			p.detail = "inside { } and [ ] a comma ends a text: write the whole text in quotes"
		}
	}
}

// diagnose puts problems into the plan.
func diagnose(t source.Text, problems []problem) source.Diagnostics {
	var ds source.Diagnostics
	for _, p := range problems {
		p.ofYAML(t)
		ds = append(ds, source.Diagnostic{
			Severity: source.Error, Code: p.code, Summary: p.summary, Detail: p.detail, Path: t.Path,
			Pos: t.At(p.from), Width: max(0, p.to-p.from), Allowed: p.allowed, Nearest: p.nearest,
		})
	}
	return ds.Sorted()
}
