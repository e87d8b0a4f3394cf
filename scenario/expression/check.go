package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// operand is a checked part of the tree: its place, its kind and the function that computes it. Of
// quantity and truth the one of its kind is set.
type operand struct {
	span
	quantity func(*run) Quantity
	truth    func(*run) Truth
	kind     kind    // 0: a mistake in it was reported
	refs     int     // references in it
	ref      int     // index of the one reference that it is; -1
	literal  bool    // one literal or variable of the plan
	constant bool    // made of literals alone
	value    float64 // of a literal or constant
}

// checker walks the tree once, bottom up: it refuses other languages, resolves names,
// chooses rules and makes a function of every part.
type checker struct {
	parser
	scope     Scope
	condition bool // the whole must be a condition
	refs      []Ref
}

func at(s span) operand { return operand{span: s, ref: -1} }

// place returns the token of a node.
func place(n ast.Node) span {
	l := n.Location()
	return span{l.From, l.To}
}

// root checks the whole: it must be a condition, or one quantity that is measured.
func (c *checker) root(o operand) {
	whole := span{c.tokens[0].from, c.tokens[len(c.tokens)-1].to}
	switch {
	case o.kind == 0:
	case o.refs == 0:
		c.mistake(whole, codeConstant, "this reads no metric: it says nothing about the run", "")
	case c.condition && o.kind != truth:
		c.mistake(whole, codeResult, "this is "+o.kind.an()+", not a condition",
			"compare it with a limit, such as "+c.part(whole)+" < "+example(o.kind))
	case !c.condition && o.kind == truth:
		c.mistake(whole, codeResult, "this is a condition, not a quantity",
			"name a metric, such as latency.p95")
	}
}

func (c *checker) walk(n ast.Node) operand {
	switch n := n.(type) {
	case *ast.IdentifierNode, *ast.StringNode:
		return c.leaf(n)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.CallNode:
		return c.call(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		if chain := c.comparisons(n); len(chain) > 1 {
			return c.chained(chain)
		}
		return c.binary(n)
	}
	return c.mistake(place(n), codeSyntax, "this is not part of the language", "")
}

// leaf is a literal, a variable or a metric.
func (c *checker) leaf(n ast.Node) operand {
	o := at(place(n))
	i := c.tokenAt(o.from)
	switch t := c.tokens[i]; t.kind {
	case literalToken:
		return constant(o, t.dim, t.value)
	case variableToken:
		return c.variable(o)
	case textToken:
		return c.mistake(o.span, codeSyntax, "a text is not allowed here",
			`texts name stages: stage("id").latency.p99`)
	default:
		if i > 1 && c.tokens[i-1].is("/") && c.tokens[i-2].kind == literalToken && // 200 / s
			c.offered(span{c.tokens[i-2].from, o.to}, codeLiteral, "a rate has no space after its /", "") {
			return o
		}
		return c.metric(o, t.segments)
	}
}

// member refuses a part of something that has none: (latency).p99, 5ms.p99.
func (c *checker) member(n *ast.MemberNode) operand {
	o := at(span{place(n.Node).from, place(n).to})
	base, property := c.tokens[c.tokenAt(o.from)], c.tokens[c.tokenAt(place(n).from)]
	if base.segments != nil && property.segments != nil {
		return c.mistake(o.span, codeSyntax, "brackets do not belong into a name", "")
	}
	inner := c.walk(n.Node)
	if o.from = inner.from; inner.kind == 0 {
		return o
	}
	return c.mistake(c.balanced(o.span), codeSyntax, "only stages and metrics have parts", "")
}

func constant(o operand, dim metric.Dim, v float64) operand {
	o.kind, o.literal, o.constant, o.value = kind(dim), true, true, v
	q := Exactly(v, 0, 0)
	o.quantity = func(*run) Quantity { return q }
	return o
}

// variable is the literal that a variable is replaced by. A message does not show it: it may be secret.
func (c *checker) variable(o operand) operand {
	name := c.variableName(o)
	literal, typ, err := c.scope.Variable(name)
	if err != nil {
		d, _ := nameMistake(err, codeVariable)
		return c.problem(o.span, d)
	}
	if typ == "text" || typ == "bool" {
		return c.mistake(o.span, codeText, "${"+name+"} is a "+typ+", which cannot be used in an expression",
			"an operand is a number, duration, rate, ratio, size, power or energy; "+
				"give the variable such a type and value")
	}
	dim, v, ok := Literal(literal)
	if !ok {
		return c.mistake(o.span, codeText, "the value of ${"+name+"} is not one literal",
			"it may be secret, so it is not shown here")
	}
	return constant(o, dim, v)
}

// variableName returns the name in ${name}.
func (c *checker) variableName(o operand) string {
	return strings.TrimSpace(c.part(span{o.from + len("${"), o.to - len("}")}))
}

// unary is -x or not x.
func (c *checker) unary(n *ast.UnaryNode) operand {
	o, x := at(place(n)), c.walk(n.Node)
	o.to = c.balanced(span{o.from, x.to}).to
	switch r, ok := ruleOf(n.Operator, x.kind, 0); {
	case x.kind == 0:
		return o
	case n.Operator == "+":
		return c.mistake(o.span, codeSyntax, "a number has no + before it", "")
	case ok:
		o = apply(o, n.Operator, r, x)
		o.literal, o.value = x.literal, -x.value
		return o
	case n.Operator == "not":
		return c.mistake(o.span, codeType, "not needs a condition; this is "+x.kind.an(), "write not (a < b)")
	}
	return c.mistake(o.span, codeType, n.Operator+" needs a number or a quantity; this is "+x.kind.an(), "")
}

// negated returns the operand of a not that n is, and its place; else n.
func negated(n ast.Node) (operand ast.Node, not span, is bool) {
	if u, ok := n.(*ast.UnaryNode); ok && u.Operator == "not" {
		return u.Node, place(u), true
	}
	return n, span{}, false
}

func (c *checker) binary(n *ast.BinaryNode) operand {
	op, left := n.Operator, n.Left
	inner, not, early := negated(left) // not a < b
	if early = early && isComparison(op); early {
		left = inner
	}
	l, r := c.walk(left), c.walk(n.Right)
	o := at(c.balanced(span{l.from, r.to}))
	if early {
		o.span = c.balanced(span{not.from, r.to})
	}
	row, ok := ruleOf(op, l.kind, r.kind)
	switch {
	case l.kind == 0 || r.kind == 0:
	case early && l.kind != truth:
		return c.mistake(o.span, codeType, "not needs a condition",
			"write not ("+strings.TrimSpace(c.part(span{not.to, o.to}))+")")
	case !ok:
		return c.mismatch(op, o, l, r)
	case c.bareNumber(op, l, r):
	case isComparison(op):
		return c.comparison(o, op, row, l, r)
	case op == "/" && r.constant && r.value == 0:
		c.mistake(r.span, codeConstant, "this divides by zero: it never has a value", "")
	default:
		return apply(o, op, row, l, r)
	}
	return o
}

// balanced widens a span over the other halves of the brackets that it cuts apart.
func (c *checker) balanced(s span) span {
	end, lowest := 0, 0 // depths in the span, of its beginning
	for i := s.from; i < s.to; i++ {
		end += depth(c.mask[i])
		lowest = min(lowest, end)
	}
	for open := end - lowest; open > 0; s.to++ {
		open += depth(c.mask[s.to])
	}
	for lowest < 0 {
		s.from--
		lowest += depth(c.mask[s.from])
	}
	return s
}

// depth is 1 for an opening bracket and -1 for a closing one.
func depth(r byte) int {
	switch r {
	case '(':
		return 1
	case ')':
		return -1
	}
	return 0
}

// written returns an operand as it is written, with its brackets.
func (c *checker) written(o operand) string { return c.part(c.balanced(o.span)) }

// comparisons returns the comparisons of a < b < c, which the parser takes for a < b && b < c,
// first to last.
func (c *checker) comparisons(n *ast.BinaryNode) []*ast.BinaryNode {
	left, ok := n.Left.(*ast.BinaryNode)
	if n.Operator == "&&" && ok {
		if right, ok := n.Right.(*ast.BinaryNode); ok {
			return append(c.comparisons(left), right)
		}
	}
	if !isComparison(n.Operator) || !ok || left.Operator != "&&" && !isComparison(left.Operator) {
		return []*ast.BinaryNode{n}
	}
	begin := place(left).from
	if bracketed := c.balanced(span{begin, place(n).from}).from < begin; bracketed {
		return []*ast.BinaryNode{n}
	}
	return append(c.comparisons(left), n)
}

// chained refuses a < b < c and offers a < b and b < c.
func (c *checker) chained(list []*ast.BinaryNode) operand {
	first, _, _ := negated(list[0].Left)
	o := at(c.balanced(span{c.walk(first).from, place(list[0]).from}))
	from := o.from
	offer := make([]string, 0, len(list))
	for _, n := range list {
		operator := place(n)
		o.to = c.balanced(span{operator.to, c.walk(n.Right).to}).to
		offer = append(offer, strings.TrimSpace(c.part(span{from, o.to})))
		from = operator.to
	}
	c.mistake(place(list[1]), codeChained, "comparisons cannot be chained",
		"write "+strings.Join(offer, " and "))
	return o
}

// comparison makes a truth that knows its texts. The side that is measured comes first.
func (c *checker) comparison(o operand, op string, row rule, l, r operand) operand {
	if l.refs+r.refs == 0 {
		return c.mistake(o.span, codeConstant, "this compares two constants: it says nothing about the run",
			"one side must be a metric, such as latency.p99")
	}
	o.kind, o.refs = truth, l.refs+r.refs
	if l.refs == 0 {
		l, r, op = r, l, turned[op]
	}
	t := Truth{Op: op, Dim: row.shown, What: c.written(l), Against: c.written(r)}
	if l.ref >= 0 && r.constant {
		c.vacuous(o, c.refs[l.ref].Leaf, op, r.value)
	}
	ref, observed, against := l.ref, l.quantity, r.quantity
	o.truth = func(r *run) Truth {
		decided := t
		if ref >= 0 {
			decided.Ref = &r.program.Refs[ref]
		}
		return decided.compare(observed(r), against(r), r.judge)
	}
	return o
}

// vacuous warns of a comparison of one metric with a constant that no run can change: errors.ratio
// < 150%.
func (c *checker) vacuous(o operand, leaf metric.Leaf, op string, limit float64) {
	least, most := bounds(leaf)
	if leaf.Row.OfErrors() && op == "<=" && limit == most {
		return // how a plan allows any number of errors
	}
	when, outside := "always", "negative"
	switch Decide(op, Quantity{Lo: least, Hi: most}, Exactly(limit, 0, 0)) {
	case 0:
		return
	case -1:
		when = "never"
	}
	if limit > least {
		outside = "above 100%"
	}
	c.problem(o.span, source.Warnf(codeVacuous, "this is %s true", when).
		Help(leaf.String()+" is never "+outside))
}

// apply makes o the result of an operator or function.
func apply(o operand, op string, row rule, xs ...operand) operand {
	o.kind, o.ref, o.refs, o.constant = row.result, -1, 0, true
	for _, x := range xs {
		o.refs += x.refs
		o.constant = o.constant && x.constant
	}
	if row.result == truth {
		o.truth = logic(op, xs)
		return o
	}
	f, a, b := row.apply, xs[0].quantity, func(*run) Quantity { return Quantity{} }
	if len(xs) > 1 {
		b = xs[1].quantity
	}
	o.quantity = func(r *run) Quantity { return f(a(r), b(r)) }
	if o.constant {
		q := o.quantity(nil)
		o.constant, o.value = q.Known, q.V
	}
	return o
}

// logic is and, or and not. Both sides are always computed: the one that decides is the one that is
// shown.
func logic(op string, xs []operand) func(*run) Truth {
	a := xs[0].truth
	if op == "not" {
		return func(r *run) Truth { return not(a(r)) }
	}
	b, join := xs[1].truth, and
	if op == "or" {
		join = or
	}
	return func(r *run) Truth { return join(a(r), b(r)) }
}
