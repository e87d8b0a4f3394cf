package expression

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	exprcheck "github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Program is a compiled expression. Safe for concurrent use.
type Program struct {
	Text string // as written
	Refs []Ref  // every metric that it reads, in the order of the text

	kinds  []kind // of Refs
	kind   kind   // of the whole
	consts map[string]any
	code   *vm.Program
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
	code, err := c.compile(root)
	if err != nil {
		return nil, warnings, []problem{{to: len(text), code: codeSyntax, summary: "this cannot be compiled: " + oneLine(err)}}
	}
	return &Program{Text: raw, Refs: c.refs, kinds: c.kinds, kind: root.kind, consts: c.consts, code: code}, warnings, nil
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
	c := &checker{
		text: text, tokens: tokens, match: match, starts: starts, scope: s, table: overloads(),
		consts: map[string]any{}, env: map[string]any{}, config: conf.CreateNew(),
	}
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
	case metric.Count, metric.Power, metric.Number:
	}
	return "10"
}

// compile gives the rewritten tree to expr-lang, whose checker must agree about the type of the whole.
func (c *checker) compile(root operand) (*vm.Program, error) {
	c.config.WithEnv(c.env)
	c.config.Optimize = false
	text, _ := emit(c.tokens)
	tree := &parser.Tree{Node: root.node, Source: file.NewSource(text)}
	ast.Walk(&tree.Node, unlocated{})
	got, err := exprcheck.Check(tree, c.config)
	if err != nil {
		return nil, err
	}
	if want := goType(root.kind); got != want {
		return nil, fmt.Errorf("the result is a %v, not a %v", got, want)
	}
	return compiler.Compile(tree, c.config)
}

// unlocated takes the places off nodes, which are those of a text that nobody saw.
type unlocated struct{}

func (unlocated) Visit(n *ast.Node) { (*n).SetLocation(file.Location{}) }

// Truth judges the expression on values.
func (p *Program) Truth(v Values) Truth {
	out, err := p.run(v)
	if err != nil {
		return Truth{Why: "the expression could not be evaluated", Err: err}
	}
	t, ok := out.(Truth)
	if !ok {
		return Truth{Why: "the expression could not be evaluated", Err: fmt.Errorf("the result is a %T, not a condition", out)}
	}
	return t
}

// Quantity computes the expression on values; the dimension is known even where the quantity is not.
func (p *Program) Quantity(v Values) (Quantity, metric.Dim) {
	dim := metric.Dim(p.kind)
	out, err := p.run(v)
	if err != nil {
		return Quantity{Why: oneLine(err)}, dim
	}
	q, err := unbox(out)
	if err != nil {
		return Quantity{Why: oneLine(err)}, dim
	}
	return q, dim
}

func (p *Program) run(v Values) (out any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("evaluating %s: %v", p.Text, r)
		}
	}()
	env := make(map[string]any, len(p.consts)+len(p.Refs))
	for name, q := range p.consts {
		env[name] = q
	}
	for i, ref := range p.Refs {
		q := clean(v.Quantity(ref))
		if !q.Known {
			q.Why = named(q.Why, ref)
		}
		env["r"+strconv.Itoa(i)] = box(p.kinds[i], q)
	}
	if out, err = vm.Run(p.code, env); err != nil {
		return nil, fmt.Errorf("evaluating %s: %s", p.Text, oneLine(err))
	}
	return out, nil
}

// named says of which metric something is not known, unless the reason says so itself.
func named(why string, ref Ref) string {
	if strings.Contains(why, ref.Leaf.Row.Name) {
		return why
	}
	name := ref.Leaf.String()
	if ref.Node != "" {
		name = fmt.Sprintf("stage(%q).%s", ref.Node, name)
	}
	return name + ": " + why
}

// oneLine is the first line of an error: those of expr-lang go on with a picture of a text that nobody wrote.
func oneLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// warned puts what is worth a warning into the plan.
func warned(t source.Text, warnings []problem) source.Diagnostics {
	ds := diagnose(t, warnings)
	for i := range ds {
		ds[i].Severity = source.Warning
	}
	return ds
}

// diagnose puts problems into the plan.
func diagnose(t source.Text, problems []problem) source.Diagnostics {
	var ds source.Diagnostics
	for _, p := range problems {
		ds = append(ds, source.Diagnostic{
			Severity: source.Error, Code: p.code, Summary: p.summary, Detail: p.detail, Path: t.Path,
			Pos: t.At(p.from), Width: max(0, p.to-p.from), Allowed: p.allowed, Nearest: p.nearest,
		})
	}
	return ds.Sorted()
}
