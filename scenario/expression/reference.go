package expression

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/sluice-bench/sluice/scenario/source"
)

// segment is one part of a chain of members: a name, or a word that is called.
type segment struct {
	at, end int           // tokens: of its name, of its last
	call    *ast.CallNode // nil: a name
}

// segments cuts a chain of members and calls into its parts, first to last: stage("id").latency.p99. False: it begins
// with something that is neither a name nor called, which is base.
func (c *checker) segments(n ast.Node) (list []segment, base ast.Node) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if i, ok := tokenOf(n.Value, nameMark); ok {
			return []segment{{at: i, end: i}}, nil
		}
	case *ast.MemberNode:
		list, base = c.segments(n.Node)
		if i, ok := property(n); ok && base == nil {
			return append(list, segment{at: i, end: i}), nil
		}
	case *ast.CallNode:
		list, base = c.segments(n.Callee)
		if base != nil || len(list) == 0 {
			break
		}
		if last := &list[len(list)-1]; last.call == nil {
			last.call, last.end = n, max(last.end, c.match[last.end+1])
			return list, nil
		}
	}
	if base == nil {
		base = n
	}
	return nil, base
}

// chain resolves the longest chain of members: latency.p99, stage("id").phase("spike").latency.p99. It is called at its
// last part.
func (c *checker) chain(n ast.Node) operand {
	list, base := c.segments(n)
	if base != nil {
		return c.baseless(n, base)
	}
	o := operand{from: list[0].at, to: list[len(list)-1].end, ref: -1}
	for i := 1; i < len(list); i++ {
		if list[i].at != list[i-1].end+2 {
			return c.refuse(o, problem{code: codeSyntax, summary: "brackets do not belong into a name"})
		}
	}
	place, parts, rest, ok := c.place(list)
	if !ok {
		return o
	}
	path, ok := c.path(rest)
	if !ok {
		return o
	}
	if path == "" {
		what := map[Part]string{InStage: "a stage", InPhase: "a phase", InMix: "an entry of the mix", InModel: "a model", InBaseline: "the baseline"}
		last := Part(c.tokens[list[len(list)-1].at].text)
		return c.refuse(o, problem{code: codeName, summary: what[last] + " is not a value: name a metric of it", detail: "such as " + c.source(o) + ".latency.p99"})
	}
	return c.reference(o, parts, place, path)
}

// baseless is a chain that begins with what has no parts.
func (c *checker) baseless(n, base ast.Node) operand {
	if base == n {
		if _, ok := n.(*ast.CallNode); ok {
			return c.refuse(c.where(n), problem{code: codeSyntax, summary: "this cannot be called"})
		}
		return c.refuse(c.where(n), problem{code: codeSyntax, summary: "this is not part of the language"})
	}
	inner := c.walk(base)
	o := at(c.where(n).from)
	if o.from = inner.from; inner.kind == 0 {
		return operand{from: o.from, to: o.to, ref: -1}
	}
	return c.refuse(o, problem{code: codeSyntax, summary: "only stages and metrics have parts"})
}

// place reads the parts of a chain that say where its metric is measured, and gives the others. parts is where each
// stands. False: a mistake was reported.
func (c *checker) place(list []segment) (p Place, parts map[Part]operand, rest []segment, ok bool) {
	parts = map[Part]operand{}
	fail := func(s segment, summary, detail string) (Place, map[Part]operand, []segment, bool) {
		c.refuse(at(s.at), problem{code: codeSyntax, summary: summary, detail: detail})
		return p, nil, nil, false
	}
	last := -1
	for i, s := range list {
		name := c.tokens[s.at].text
		r := rank(name)
		switch {
		case name == string(InBaseline) && s.call != nil:
			return fail(s, "baseline is written without brackets", "such as baseline.latency.p99")
		case name == string(InBaseline) && i > 0:
			return fail(s, "baseline stands first, and once", placeOrder)
		case name == string(InBaseline):
			p.Baseline, parts[InBaseline] = true, at(s.at)
			continue
		case r < 0:
			return p, parts, list[i:], true
		case s.call == nil:
			return fail(s, placeHint(name), "")
		case r == last:
			return fail(s, "duplicate "+name, "a metric is measured in one "+name)
		case r < last:
			return fail(s, name+" must come before "+places()[last], placeOrder)
		}
		arg, text := c.argument(s)
		if arg.kind == 0 {
			c.refuse(arg, problem{code: codeSyntax, summary: placeHint(name)})
			return p, nil, nil, false
		}
		last, parts[Part(name)] = r, arg
		p.put(name, text)
	}
	return p, parts, nil, true
}

const placeOrder = `the order is baseline.stage("id").phase("name").mix("name").model("name"), each of them optional`

// path spells the parts of a chain that name its metric. False: a mistake was reported.
func (c *checker) path(rest []segment) (string, bool) {
	var words []string
	for i, s := range rest {
		name := c.tokens[s.at].text
		switch {
		case s.call == nil:
		case i == 0 && name == scrapeWord:
			arg, text := c.argument(s)
			if arg.kind == 0 || strings.Contains(text, `"`) {
				c.refuse(arg, problem{code: codeSyntax, summary: placeHint(scrapeWord)})
				return "", false
			}
			name += `("` + text + `")`
		case i == 0:
			c.refuse(at(s.at), problem{
				code: codeSyntax, summary: "there is no function " + name,
				allowed: functions(), nearest: source.Nearest(name, functions()),
			})
			return "", false
		case rank(name) >= 0:
			c.refuse(at(s.at), problem{code: codeSyntax, summary: name + " must come before the metric", detail: placeOrder})
			return "", false
		default:
			c.refuse(at(s.at), problem{code: codeSyntax, summary: "a metric is not called with brackets", detail: "a percentile is written .p99 or .p(99.9)"})
			return "", false
		}
		words = append(words, name)
	}
	return strings.Join(words, "."), true
}

// argument is the one text between the brackets of a call. Its kind is 0 where there is something else.
func (c *checker) argument(s segment) (operand, string) {
	whole := operand{from: s.at, to: s.end, ref: -1}
	if s.call == nil || len(s.call.Arguments) != 1 {
		return whole, ""
	}
	t, ok := s.call.Arguments[0].(*ast.StringNode)
	if !ok {
		return whole, ""
	}
	i, ok := tokenOf(t.Value, textMark)
	if !ok || c.tokens[i].text == "" {
		return whole, ""
	}
	o := at(i)
	o.kind = truth // any but 0
	return o, c.tokens[i].text
}

// call is min, max or abs, or a chain that ends in brackets.
func (c *checker) call(n *ast.CallNode) operand {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.chain(n)
	}
	i, ok := tokenOf(id.Value, nameMark)
	if !ok {
		return c.refuse(c.where(n), problem{code: codeSyntax, summary: "this cannot be called"})
	}
	o := operand{from: i, to: max(i, c.match[i+1]), ref: -1}
	switch name := c.tokens[i].text; name {
	case "min", "max":
		return c.fold(o, name, n.Arguments)
	case "abs":
		return c.absolute(o, n.Arguments)
	}
	return c.chain(n)
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
		row, ok := find(name, folded.kind, x.kind)
		if !ok {
			return c.refuse(c.culprit(name, o, folded, x), mismatch(name, folded, x))
		}
		if bare, p := c.bareNumber(name, folded, x); p.code != "" {
			return c.refuse(bare, p)
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
	row, ok := find("abs", x.kind, 0)
	if !ok {
		return c.refuse(x, problem{code: codeType, summary: "abs needs a quantity; this is " + x.kind.an()})
	}
	return c.apply(o, row, x)
}

// reference resolves path at a place, whose parts stand at parts, and makes o the reference.
func (c *checker) reference(o operand, parts map[Part]operand, place Place, path string) operand {
	if place.Baseline && !c.condition {
		return c.refuse(o, problem{
			code: codeName, summary: "only conditions are compared with the baseline",
			detail: "what a load is made of must have been measured in this run",
		})
	}
	leaf, err := c.scope.Resolve(place, path)
	if errors.Is(err, errOpen) {
		return operand{from: o.from, to: o.to, ref: -1} // as after a mistake: nothing follows from it
	}
	if err == nil && (leaf.Row == nil || leaf.Dim() == 0) {
		err = errors.New("there is no metric " + path)
	}
	if err != nil {
		p := problem{code: codeName, summary: err.Error()}
		if part, ok := parts[describe(&p, err)]; ok {
			o = part
		}
		return c.refuse(o, p)
	}
	o.kind, o.refs, o.ref = kind(leaf.Dim()), 1, len(c.refs)
	c.refs = append(c.refs, Ref{Place: place, Leaf: leaf, At: [2]int{c.tokens[o.from].from, c.tokens[o.to].to}})
	i := o.ref
	o.quantity = func(r *run) Quantity { return r.refs[i] }
	return o
}

// describe takes what a NameError knows. It gives the part of the place that is wrong; "" is the metric.
func describe(p *problem, err error) Part {
	var e *NameError
	if !errors.As(err, &e) {
		return ""
	}
	p.summary, p.detail, p.allowed, p.nearest = e.Summary, e.Detail, e.Allowed, e.Nearest
	if e.Code != "" {
		p.code = e.Code
	}
	return e.Part
}
