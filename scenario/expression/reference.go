package expression

import (
	"errors"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// chain resolves the longest chain of members: latency.p99, stage("id").latency.p99. It is called at its last member.
func (c *checker) chain(n *ast.MemberNode) operand {
	var path []string
	o := at(c.where(n).from)
	var base ast.Node = n
	for {
		m, ok := base.(*ast.MemberNode)
		if !ok {
			break
		}
		i, ok := property(m)
		if !ok {
			return c.refuse(c.where(n), problem{code: codeSyntax, summary: "this is not part of the language"})
		}
		path = append([]string{c.tokens[i].text}, path...)
		o.to = max(o.to, i)
		base = m.Node
	}
	switch base := base.(type) {
	case *ast.IdentifierNode:
		if i, ok := tokenOf(base.Value, nameMark); ok {
			o.from = i
			if o.to != i+2*len(path) {
				return c.refuse(o, problem{code: codeSyntax, summary: "brackets do not belong into a name"})
			}
			return c.reference(o, "", c.tokens[i].text+"."+strings.Join(path, "."))
		}
	case *ast.CallNode:
		if i, ok := callee(base); ok {
			o.from = i
			return c.scoped(o, base, strings.Join(path, "."))
		}
	}
	inner := c.walk(base)
	if o.from = inner.from; inner.kind == 0 {
		return operand{from: o.from, to: o.to, ref: -1}
	}
	return c.refuse(o, problem{code: codeSyntax, summary: "only stages and metrics have parts"})
}

// callee is the token of the name that is called.
func callee(n *ast.CallNode) (int, bool) {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return 0, false
	}
	return tokenOf(id.Value, nameMark)
}

// scoped resolves stage("id").path.
func (c *checker) scoped(o operand, call *ast.CallNode, path string) operand {
	name := c.tokens[o.from].text
	if name != "stage" {
		return c.unknownCall(o, name)
	}
	id, text := c.argument(call)
	if id.kind == 0 {
		return c.refuse(id, problem{code: codeSyntax, summary: `stage takes the id of one stage, as a text: stage("id")`})
	}
	return c.referenceIn(o, id, text, path)
}

// argument is the one text between the brackets of a call. Its kind is 0 where there is something else.
func (c *checker) argument(call *ast.CallNode) (operand, string) {
	i, _ := callee(call)
	whole := operand{from: i, to: c.match[i+1], ref: -1}
	if len(call.Arguments) != 1 {
		return whole, ""
	}
	s, ok := call.Arguments[0].(*ast.StringNode)
	if !ok {
		return whole, ""
	}
	t, ok := tokenOf(s.Value, textMark)
	if !ok {
		return whole, ""
	}
	o := at(t)
	o.kind = truth // any but 0
	return o, c.tokens[t].text
}

// call is stage("id") without a metric, or min, max or abs.
func (c *checker) call(n *ast.CallNode) operand {
	i, ok := callee(n)
	if !ok {
		if m, isMember := n.Callee.(*ast.MemberNode); isMember {
			if i, ok = property(m); ok {
				if name := c.tokens[i].text; name == "stage" || notBuilt(name) {
					return c.refuse(at(i), problem{code: codeNotBuilt, summary: name + " below a stage is not built yet", detail: `write stage("id") and a metric`})
				}
				return c.refuse(at(i), problem{code: codeSyntax, summary: "a metric is not called with brackets", detail: "a percentile is written .p99 or .p(99.9)"})
			}
		}
		return c.refuse(c.where(n), problem{code: codeSyntax, summary: "this cannot be called"})
	}
	o := operand{from: i, to: max(i, c.match[i+1]), ref: -1}
	switch name := c.tokens[i].text; name {
	case "stage":
		return c.refuse(o, problem{code: codeName, summary: "a stage is not a value: name a metric of it", detail: "such as " + c.source(o) + ".latency.p99"})
	case "min", "max":
		return c.fold(o, name, n.Arguments)
	case "abs":
		return c.absolute(o, n.Arguments)
	default:
		return c.unknownCall(o, name)
	}
}

func (c *checker) unknownCall(o operand, name string) operand {
	if notBuilt(name) {
		return c.refuse(o, problem{code: codeNotBuilt, summary: name + " is not built yet"})
	}
	o.to = o.from
	return c.refuse(o, problem{
		code: codeSyntax, summary: "there is no function " + name,
		allowed: []string{"stage", "min", "max", "abs"}, nearest: nearFunction(name),
	})
}

// fold applies min or max to its operands, two by two.
func (c *checker) fold(o operand, name string, arguments []ast.Node) operand {
	xs := make([]operand, 0, len(arguments))
	whole := true
	for _, a := range arguments {
		x := c.negation(c.walk(a))
		whole = whole && x.kind != 0
		xs = append(xs, x)
	}
	if !whole {
		return o
	}
	if len(xs) < 2 {
		return c.refuse(o, problem{code: codeSyntax, summary: name + " takes two quantities or more"})
	}
	folded := xs[0]
	for _, x := range xs[1:] {
		row, ok := find(c.table, name, folded.kind, x.kind)
		if !ok {
			return c.refuse(c.culprit(name, o, folded, x), mismatch(name, folded, x))
		}
		folded = c.apply(operand{from: o.from, to: o.to}, row, folded, x)
	}
	return folded
}

func (c *checker) absolute(o operand, arguments []ast.Node) operand {
	if len(arguments) != 1 {
		return c.refuse(o, problem{code: codeSyntax, summary: "abs takes one quantity"})
	}
	x := c.negation(c.walk(arguments[0]))
	if x.kind == 0 {
		return o
	}
	row, ok := find(c.table, "abs", x.kind, 0)
	if !ok {
		return c.refuse(x, problem{code: codeType, summary: "abs needs a quantity; this is " + x.kind.an()})
	}
	return c.apply(o, row, x)
}

func (c *checker) reference(o operand, node, path string) operand {
	first, _, _ := strings.Cut(path, ".")
	if notBuilt(first) {
		return c.refuse(o, problem{code: codeNotBuilt, summary: first + " is not built yet"})
	}
	return c.referenceIn(o, o, node, path)
}

// referenceIn resolves path in node, whose text is id, and makes o the reference.
func (c *checker) referenceIn(o, id operand, node, path string) operand {
	leaf, err := c.scope.Resolve(Place{Node: node}, path)
	if errors.Is(err, errOpen) {
		return operand{from: o.from, to: o.to, ref: -1} // as after a mistake: nothing follows from it
	}
	if err == nil && (leaf.Row == nil || leaf.Dim() == 0) {
		err = errors.New("there is no metric " + path)
	}
	if err != nil {
		p := problem{code: codeName, summary: err.Error()}
		if describe(&p, err) {
			o = id
		}
		return c.refuse(o, p)
	}
	o.kind, o.refs, o.ref = kind(leaf.Dim()), 1, len(c.refs)
	name := "r" + strconv.Itoa(o.ref)
	c.refs = append(c.refs, Ref{Place: Place{Node: node}, Leaf: leaf, At: [2]int{c.tokens[o.from].from, c.tokens[o.to].to}})
	c.kinds = append(c.kinds, o.kind)
	c.env[name] = box(o.kind, Quantity{})
	o.node = &ast.IdentifierNode{Value: name}
	return o
}

// describe takes what a NameError knows. It reports whether the stage's id is what is wrong.
func describe(p *problem, err error) (stage bool) {
	var e *NameError
	if !errors.As(err, &e) {
		return false
	}
	p.summary, p.detail, p.allowed, p.nearest = e.Summary, e.Detail, e.Allowed, e.Nearest
	if e.Code != "" {
		p.code = e.Code
	}
	return e.Stage
}
