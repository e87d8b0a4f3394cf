package expression

import (
	"github.com/expr-lang/expr/ast"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// operand is a part of the tree that was checked: what computes it, what it is, and the tokens from … to it is. Of
// quantity and truth the one of its kind is set.
type operand struct {
	quantity func(*run) Quantity
	truth    func(*run) Truth
	kind     kind // 0: a mistake in it was reported
	from, to int
	refs     int  // references in it
	ref      int  // index of the one reference that it is; -1
	literal  bool // one literal of the plan, whose value is value
	value    float64
	fixed    bool // made of literals alone, whose value is value
	negated  bool // begins with a not that has no condition after it
}

// checker walks the tree once, bottom up: it refuses nodes that are not of the language, resolves names, chooses
// overloads and makes a function of every part.
type checker struct {
	text      []rune
	tokens    []token
	match     map[int]int
	starts    []int
	scope     Scope
	condition bool // the whole must be a condition
	problems  []problem
	warnings  []problem
	refs      []Ref
}

func (c *checker) refuse(o operand, p problem) operand {
	p.from, p.to = c.tokens[o.from].from, c.tokens[o.to].to
	c.problems = append(c.problems, p)
	o.kind = 0
	return o
}

func (c *checker) walk(n ast.Node) operand {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.MemberNode:
		return c.chain(n)
	case *ast.CallNode:
		return c.call(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.StringNode:
		i, _ := tokenOf(n.Value, textMark)
		return c.refuse(at(i), problem{code: codeSyntax, summary: "a text is not allowed here", detail: `texts name stages: stage("id").latency.p99`})
	}
	return c.refuse(c.where(n), problem{code: codeSyntax, summary: "this is not part of the language"})
}

// where is the token at which a node stands.
func (c *checker) where(n ast.Node) operand {
	i := tokenAt(c.starts, n.Location().From, int(^uint(0)>>1))
	return at(max(0, min(i, len(c.tokens)-1)))
}

func at(i int) operand { return operand{from: i, to: i, ref: -1} }

// identifier is a literal, a variable, or a name that stands alone.
func (c *checker) identifier(n *ast.IdentifierNode) operand {
	if i, ok := tokenOf(n.Value, literalMark); ok {
		return c.constant(i)
	}
	i, ok := tokenOf(n.Value, nameMark)
	if !ok {
		return c.refuse(c.where(n), problem{code: codeSyntax, summary: "this is not part of the language"})
	}
	if meant := c.spacedRate(i); meant != "" {
		o := at(i)
		o.from = i - 2
		return c.refuse(o, problem{code: codeLiteral, summary: "a rate has no space after its /", nearest: meant})
	}
	return c.chain(n)
}

// spacedRate is the rate that is meant where token i is the time of one: 200 / s.
func (c *checker) spacedRate(i int) string {
	if i < 2 || c.tokens[i-1].text != "/" || c.tokens[i-2].kind != tokLiteral {
		return ""
	}
	return nearestLiteral(string(c.text[c.tokens[i-2].from:c.tokens[i].to]))
}

// constant is a literal, or the literal that a variable stands for.
func (c *checker) constant(i int) operand {
	o, t := at(i), c.tokens[i]
	dim, v := t.dim, t.value
	if t.kind == tokVariable {
		var p problem
		if dim, v, p = c.variable(t.text); p.code != "" {
			return c.refuse(o, p)
		}
	}
	o.kind, o.literal, o.fixed, o.value = kind(dim), true, true, v
	q := Quantity{Known: true, V: v, Lo: v, Hi: v}
	o.quantity = func(*run) Quantity { return q }
	return o
}

func (c *checker) variable(name string) (metric.Dim, float64, problem) {
	literal, typ, err := c.scope.Variable(name)
	if err != nil {
		p := problem{code: codeVariable, summary: err.Error()}
		describe(&p, err)
		return 0, 0, p
	}
	dim, v, ok := parseLiteral(literal)
	switch {
	case typ == "text" || typ == "bool":
		return 0, 0, problem{
			code: codeText, summary: "${" + name + "} is " + map[string]string{"text": "a text", "bool": "a bool"}[typ] + ", which cannot stand in an expression",
			detail: "an operand is a number, duration, rate, ratio, size or power; give the variable such a type and value",
		}
	case !ok:
		return 0, 0, problem{code: codeText, summary: "the value of ${" + name + "} is not one literal", detail: "it may be secret, so it is not shown here"}
	}
	return dim, v, problem{}
}

// unary is -x or not x.
func (c *checker) unary(n *ast.UnaryNode) operand {
	o, x := c.where(n), c.walk(n.Node)
	if n.Operator != "not" {
		x = c.negation(x)
	}
	o.to = c.widen(o.from, x.to, 1)
	if x.kind == 0 {
		return o
	}
	if n.Operator == "+" {
		return c.refuse(o, problem{code: codeSyntax, summary: "a number has no + before it"})
	}
	if row, ok := find(n.Operator, x.kind, 0); ok {
		o = c.apply(o, row, x)
		o.literal, o.value = x.literal, -x.value
		return o
	}
	if n.Operator == "not" {
		o.negated, o.kind = true, x.kind // a comparison around it knows what to offer
		return o
	}
	summary := n.Operator + " needs a number or a quantity; this is " + x.kind.an()
	return c.refuse(o, problem{code: codeType, summary: summary})
}

// negation refuses a not before something that is no condition.
func (c *checker) negation(o operand) operand {
	if !o.negated {
		return o
	}
	o.negated = false
	return c.refuse(o, problem{code: codeType, summary: "not needs a condition; this is " + o.kind.an(), detail: "write not (a < b)"})
}

func (c *checker) binary(n *ast.BinaryNode) operand {
	l, r := c.walk(n.Left), c.negation(c.walk(n.Right))
	o := operand{from: c.widen(l.from, r.to, -1), ref: -1}
	o.to = c.widen(l.from, r.to, 1)
	if l.negated {
		if l.kind != 0 && r.kind != 0 && isComparison(token{kind: tokOperator, text: n.Operator}) {
			inner := string(c.text[c.tokens[l.from+1].from:c.tokens[o.to].to])
			return c.refuse(o, problem{code: codeType, summary: "not needs a condition", detail: "write not (" + inner + ")"})
		}
		l = c.negation(l)
	}
	if l.kind == 0 || r.kind == 0 {
		return o
	}
	row, ok := find(n.Operator, l.kind, r.kind)
	if !ok {
		p := c.operatorMismatch(n, l, r)
		if (n.Operator == "+" || n.Operator == "-") && r.literal && r.kind == kind(metric.Ratio) && l.ref >= 0 {
			p.nearest = factor(n.Operator, r.value) + " * " + c.source(l) // 1.1 * latency.p99 for latency.p99 + 10%
			return c.refuse(o, p)
		}
		return c.refuse(c.culprit(n.Operator, o, l, r), p)
	}
	if bare, p := c.bareNumber(n.Operator, l, r); p.code != "" {
		return c.refuse(bare, p)
	}
	if isComparison(token{kind: tokOperator, text: n.Operator}) {
		return c.comparison(o, row, l, r)
	}
	if n.Operator == "/" && r.fixed && r.value == 0 {
		return c.refuse(r, problem{code: codeConstant, summary: "this divides by zero: it never has a value"})
	}
	return c.apply(o, row, l, r)
}

func (c *checker) operatorMismatch(n *ast.BinaryNode, l, r operand) problem {
	if n.Operator == "and" || n.Operator == "or" {
		x := l
		if l.kind == truth {
			x = r
		}
		return problem{code: codeType, summary: n.Operator + " joins conditions; this is " + x.kind.an(), detail: "compare it with a limit"}
	}
	if c.unequal(n.Operator, l, r) {
		shown := l.kind
		if shown == kind(metric.Number) {
			shown = r.kind
		}
		return problem{
			code: codeType, summary: shown.an() + " cannot be compared with " + n.Operator,
			detail: "two measured values are equal by chance only: use <= or >=, or a count",
		}
	}
	return mismatch(n.Operator, l, r)
}

// unequal reports whether l and r can be compared, but not with == and !=.
func (c *checker) unequal(op string, l, r operand) bool {
	_, ok := find("<", l.kind, r.kind)
	return ok && (op == "==" || op == "!=")
}

// culprit is what a mismatch is marked at: the side that is a condition, or is none under and/or, the bare number, else
// the whole.
func (c *checker) culprit(op string, o, l, r operand) operand {
	number := kind(metric.Number)
	joins := op == "and" || op == "or"
	switch {
	case l.kind == truth && r.kind == truth, c.unequal(op, l, r):
	case (l.kind == truth) != (r.kind == truth):
		if (l.kind == truth) == joins {
			return r
		}
		return l
	case r.literal && r.kind == number:
		return r
	case l.literal && l.kind == number:
		return l
	}
	return o
}

// widen gives the first (step -1) or last (step 1) token of from … to, moved outwards over brackets that belong to it.
func (c *checker) widen(from, to, step int) int {
	for changed := true; changed; {
		changed = false
		for i := from; i <= to; i++ {
			if m, ok := c.match[i]; ok && (m < from || m > to) {
				from, to, changed = min(from, m), max(to, m), true
			}
		}
	}
	if step < 0 {
		return from
	}
	return to
}

// comparison rewrites a comparison to a function that knows its texts. The side that is measured comes first.
func (c *checker) comparison(o operand, row overload, l, r operand) operand {
	if l.refs+r.refs == 0 {
		return c.refuse(o, problem{
			code: codeConstant, summary: "this compares two constants: it says nothing about the run",
			detail: "one side must be a metric, such as latency.p99",
		})
	}
	t := Truth{Op: row.op, Dim: row.shown, What: c.source(l), Against: c.source(r)}
	swap := l.refs == 0
	if swap {
		t.Op, t.What, t.Against, l.ref = turned(t.Op), t.Against, t.What, r.ref
	}
	ref := l.ref
	if limit := r; ref >= 0 {
		if swap {
			limit = l
		}
		if limit.fixed {
			c.vacuous(o, c.refs[ref].Leaf, t.Op, limit.value)
		}
	}
	o.kind, o.ref, o.refs = truth, -1, l.refs+r.refs
	left, right := l.quantity, r.quantity
	if swap {
		left, right = right, left
	}
	o.truth = func(r *run) Truth {
		decided := t
		if ref >= 0 {
			decided.Ref = &r.program.Refs[ref]
		}
		return decided.compare(left(r), right(r), r.judge)
	}
	return o
}

// source is an operand as it is written.
func (c *checker) source(o operand) string {
	from, to := c.widen(o.from, o.to, -1), c.widen(o.from, o.to, 1)
	return string(c.text[c.tokens[from].from:c.tokens[to].to])
}

// apply makes o what an operator or function gives of its operands.
func (c *checker) apply(o operand, row overload, xs ...operand) operand {
	o.kind, o.ref, o.refs = row.result, -1, 0
	for _, x := range xs {
		o.refs += x.refs
	}
	if row.result == truth {
		o.truth = logic(row.op, xs)
		return o
	}
	o.fixed, o.value = fold(row, xs)
	a := xs[0].quantity
	if len(xs) == 1 {
		o.quantity = func(r *run) Quantity { return row.apply(a(r), Quantity{}) }
		return o
	}
	b := xs[1].quantity
	o.quantity = func(r *run) Quantity { return row.apply(a(r), b(r)) }
	return o
}

// fold is the value of an operator that is applied to constants.
func fold(row overload, xs []operand) (fixed bool, value float64) {
	var q [2]Quantity
	for i, x := range xs {
		if !x.fixed {
			return false, 0
		}
		q[i] = Quantity{Known: true, V: x.value, Lo: x.value, Hi: x.value}
	}
	out := row.apply(q[0], q[1])
	return out.Known, out.V
}

// logic is and, or and not. Both sides are always computed: the one that decides is the one that is shown.
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
