package expression

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Ref is one reference to a metric in an expression.
type Ref struct {
	Place
	Leaf metric.Leaf
	At   [2]int // character offsets in the text: start, end
}

// String spells the reference: `stage("s").phase("spike").latency.p99`.
func (r Ref) String() string { return r.Place.String() + r.Leaf.String() }

// Place names the measurement that a metric is read from: the part of a reference before the metric.
type Place struct {
	Baseline bool   // of the stored result that the plan names
	Node     string // "" = the node that is judged; else the id inside stage("…")
	Phase    string // a named hold of a ramp; "": all of hold
	Mix      string // an entry of the stage's mix; "": all
	Model    string // a composing model; "": the target's own
}

// Part is a part of a place. A NameError names the one that is wrong.
type Part string

// The parts of a place, in the order in which they are written.
const (
	InBaseline Part = "baseline"
	InStage    Part = "stage"
	InPhase    Part = "phase"
	InMix      Part = "mix"
	InModel    Part = "model"
)

// scrapeWord begins a metric that the server's own endpoint reports: scrape("name{label='v'}").max.
const scrapeWord = "scrape"

const placeOrder = `the order is baseline.stage("id").phase("name").mix("name").model("name"), ` +
	`each of them optional`

// places lists the parts that are called with one text, in the order in which they may follow one
// another.
func places() []string { return []string{"stage", "phase", "mix", "model"} }

// functions lists the words that may be called.
func functions() []string { return append(places(), scrapeWord, "min", "max", "abs") }

// placeWords returns how messages name a part of the place, its text, and an example of that.
func placeWords(word string) (part, text, example string) {
	switch word {
	case "stage":
		return "a stage", "the id of one stage", "id"
	case "phase":
		return "a phase", "the name of one hold of a ramp", "name"
	case "mix":
		return "an entry of the mix", "the name of one entry of the mix", "name"
	case "model":
		return "a model", "the name of one composing model", "name"
	case scrapeWord:
		return "", "one series of the server", "name{label='v'}"
	}
	return "the baseline", "", ""
}

// placeHint says how a word that is called with one text is written.
func placeHint(word string) string {
	_, text, example := placeWords(word)
	return word + " takes " + text + `, as a text: ` + word + `("` + example + `")`
}

// field returns the name of a part of the place.
func (p *Place) field(part Part) *string {
	switch part {
	case InStage:
		return &p.Node
	case InPhase:
		return &p.Phase
	case InMix:
		return &p.Mix
	case InModel, InBaseline:
	}
	return &p.Model
}

// String spells the place before a metric, with its last dot:
// `baseline.stage("s").phase("spike").`; "" is the node that is judged.
func (p Place) String() string {
	var b strings.Builder
	if p.Baseline {
		b.WriteString(string(InBaseline) + ".")
	}
	for _, part := range [...]Part{InStage, InPhase, InMix, InModel} {
		if name := *p.field(part); name != "" {
			b.WriteString(string(part) + "(" + strconv.Quote(name) + ").")
		}
	}
	return b.String()
}

// segment is one part of a chain of members: a name, or a word that is called.
type segment struct {
	span      // with its brackets
	name      operand
	text      string // the name
	called    bool
	arguments []ast.Node
}

// segments cuts a chain of members and calls into its parts, first to last:
// stage("id").latency.p99. base is the node that it begins with if that is neither a name nor
// called.
func (c *checker) segments(n ast.Node) (list []segment, base ast.Node) {
	add := func(name ast.Node) ([]segment, ast.Node) {
		o := at(place(name))
		return append(list, segment{span: o.span, name: o, text: c.part(o.span)}), nil
	}
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if c.tokens[c.tokenAt(place(n).from)].kind == nameToken {
			return add(n)
		}
	case *ast.MemberNode:
		if list, base = c.segments(n.Node); base == nil {
			return add(n.Property)
		}
	case *ast.CallNode:
		if list, base = c.segments(n.Callee); base != nil {
			break
		}
		if last := &list[len(list)-1]; !last.called {
			last.called, last.arguments = true, n.Arguments
			last.to = c.closing(last.to)
			return list, nil
		}
	}
	if base == nil {
		base = n
	}
	return nil, base
}

// closing returns the end of the first pair of brackets after offset.
func (c *checker) closing(offset int) int {
	open := offset + strings.IndexByte(c.mask[offset:], '(')
	return c.balanced(span{open, open + 1}).to
}

// chain resolves a chain of members: latency.p99, stage("id").phase("spike").latency.p99.
func (c *checker) chain(n ast.Node) operand {
	list, base := c.segments(n)
	if base != nil {
		return c.baseless(n, base)
	}
	last := list[len(list)-1]
	o := at(span{list[0].from, last.to})
	for i, s := range list[1:] {
		if strings.ContainsAny(c.mask[list[i].to:s.from], "()") {
			return c.refuse(o, codeSyntax, "brackets do not belong into a name", "")
		}
	}
	where, parts, rest, ok := c.place(list)
	if !ok {
		return o
	}
	path, ok := c.path(rest)
	if !ok {
		return o
	}
	if path == "" {
		what, _, _ := placeWords(last.text)
		return c.refuse(o, codeName, what+" is not a value: name a metric of it",
			"such as "+c.part(o.span)+".latency.p99")
	}
	return c.reference(o, parts, where, path)
}

// baseless refuses a chain that begins with something that has no parts.
func (c *checker) baseless(n, base ast.Node) operand {
	if base == n {
		return c.refuse(at(place(n)), codeSyntax, "this cannot be called", "")
	}
	inner, o := c.walk(base), at(place(n))
	if o.from = inner.from; inner.kind == 0 {
		return o
	}
	return c.refuse(o, codeSyntax, "only stages and metrics have parts", "")
}

// place reads the segments that say where a metric is measured, and returns the others. parts holds
// the place of each part. False: a mistake was reported.
func (c *checker) place(list []segment) (p Place, parts map[Part]operand, rest []segment, ok bool) {
	fail := func(s segment, summary, detail string) (Place, map[Part]operand, []segment, bool) {
		c.refuse(s.name, codeSyntax, summary, detail)
		return p, nil, nil, false
	}
	parts = make(map[Part]operand)
	before := -1
	for i, s := range list {
		name, rank := s.text, slices.Index(places(), s.text)
		switch {
		case name == string(InBaseline) && s.called:
			return fail(s, "baseline is written without brackets", "such as baseline.latency.p99")
		case name == string(InBaseline) && i > 0:
			return fail(s, "baseline comes first, and once", placeOrder)
		case name == string(InBaseline):
			p.Baseline, parts[InBaseline] = true, s.name
			continue
		case rank < 0:
			return p, parts, list[i:], true
		case !s.called:
			return fail(s, placeHint(name), "")
		case rank == before:
			return fail(s, "duplicate "+name, "a metric is measured in one "+name)
		case rank < before:
			return fail(s, name+" must come before "+places()[before], placeOrder)
		}
		argument, text := c.argument(s)
		if text == "" {
			s.name = argument
			return fail(s, placeHint(name), "")
		}
		before, parts[Part(name)] = rank, argument
		*p.field(Part(name)) = text
	}
	return p, parts, nil, true
}

// path spells the segments that name a metric. False: a mistake was reported.
func (c *checker) path(rest []segment) (string, bool) {
	words := make([]string, 0, len(rest))
	for i, s := range rest {
		name, d := s.text, source.Diagnostic{Code: codeSyntax}
		switch {
		case !s.called:
		case i == 0 && name == scrapeWord:
			argument, text := c.argument(s)
			if text == "" || strings.Contains(text, `"`) {
				d.Summary, s.name = placeHint(scrapeWord), argument
			}
			name += `("` + text + `")`
		case i == 0:
			d.Summary, d.Allowed = "there is no function "+name, functions()
			d.Nearest = source.Nearest(name, functions())
		case slices.Contains(places(), name):
			d.Summary, d.Detail = name+" must come before the metric", placeOrder
		default:
			d.Summary = "a metric is not called with brackets"
			d.Detail = "a percentile is written .p99 or .p(99.9)"
		}
		if d.Summary != "" {
			c.reject(s.name, d)
			return "", false
		}
		words = append(words, name)
	}
	return strings.Join(words, "."), true
}

// argument returns the one text between the brackets of a call and its place; "" and the whole call
// if it has another.
func (c *checker) argument(s segment) (operand, string) {
	if len(s.arguments) == 1 {
		text, ok := s.arguments[0].(*ast.StringNode)
		if ok && c.tokens[c.tokenAt(place(text).from)].kind == textToken {
			if o := at(place(text)); o.to-o.from > 2 {
				return o, c.part(span{o.from + 1, o.to - 1})
			}
		}
	}
	return at(s.span), ""
}

// call is min, max or abs, or a chain that ends in brackets.
func (c *checker) call(n *ast.CallNode) operand {
	if _, ok := n.Callee.(*ast.IdentifierNode); !ok {
		return c.chain(n)
	}
	o := at(place(n))
	name := c.part(o.span)
	if name != "min" && name != "max" && name != "abs" {
		return c.chain(n)
	}
	o.to = c.closing(o.to)
	xs, whole := make([]operand, 0, len(n.Arguments)), true
	for _, a := range n.Arguments {
		x := c.negation(c.walk(a))
		xs, whole = append(xs, x), whole && x.kind != 0
	}
	switch {
	case name == "abs" && len(xs) != 1:
		return c.refuse(o, codeSyntax, "abs takes one quantity", "")
	case !whole:
		return o
	case name == "abs":
		r, ok := ruleOf(name, xs[0].kind, 0)
		if !ok {
			c.mistake(xs[0].span, codeType, "abs needs a quantity; this is "+xs[0].kind.an(), "")
			return o
		}
		return apply(o, name, r, xs[0])
	case len(xs) < 2:
		return c.refuse(o, codeSyntax, name+" takes two quantities or more", "")
	}
	return c.fold(o, name, xs)
}

// fold applies min or max to its operands, two by two.
func (c *checker) fold(o operand, name string, xs []operand) operand {
	folded := xs[0]
	for _, x := range xs[1:] {
		r, ok := ruleOf(name, folded.kind, x.kind)
		if !ok {
			return c.mismatch(name, o, folded, x)
		}
		if c.bareNumber(name, folded, x) {
			return o
		}
		folded = apply(at(o.span), name, r, folded, x)
	}
	return folded
}

// reference resolves path at a place, whose parts are written at parts.
func (c *checker) reference(o operand, parts map[Part]operand, where Place, path string) operand {
	if where.Baseline && !c.condition {
		return c.refuse(o, codeName, "only conditions are compared with the baseline",
			"the amounts of a load must have been measured in this run")
	}
	leaf, err := c.scope.Resolve(where, path)
	if errors.Is(err, errOpen) {
		return o // as after a mistake: nothing follows from it
	}
	if err == nil && (leaf.Row == nil || leaf.Dim() == 0) {
		err = errors.New("there is no metric " + path)
	}
	if err != nil {
		d, part := nameMistake(err, codeName)
		wrong, ok := parts[part]
		if !ok {
			wrong = o
		}
		c.problem(wrong.span, d)
		return o
	}
	o.kind, o.refs, o.ref = kind(leaf.Dim()), 1, len(c.refs)
	c.refs = append(c.refs, Ref{Place: where, Leaf: leaf, At: [2]int{o.from, o.to}})
	i := o.ref
	o.quantity = func(r *run) Quantity { return r.refs[i] }
	return o
}
