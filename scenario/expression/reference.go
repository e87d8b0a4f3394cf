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
	Phase    string // a named hold of a ramp, or Steady; "": all of hold
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

// Steady is the phase of a place that is the longest span of hold with at least 90 % of the most requests in
// flight. It is written as a word of its own: steady.latency.p99.
const Steady = "steady"

// scrapeWord begins a metric that the server's own endpoint reports: scrape("name{label='v'}").max.
const scrapeWord = "scrape"

const placeOrder = `the order is baseline.stage("id").phase("name").mix("name").model("name"), ` +
	`each of them optional; steady takes the place of phase("name")`

// places lists the parts that are called with one text, in the order in which they may follow one
// another.
var places = []string{"stage", "phase", "mix", "model"}

// functions lists the words that may be called.
func functions() []string { return slices.Concat(places, []string{scrapeWord, "min", "max", "abs"}) }

// placeWords holds how messages name a part of the place, its text, and an example of that.
var placeWords = map[string]struct{ part, text, example string }{
	"stage":    {"a stage", "the id of one stage", "id"},
	"phase":    {"a phase", "the name of one hold of a ramp", "name"},
	"mix":      {"an entry of the mix", "the name of one entry of the mix", "name"},
	"model":    {"a model", "the name of one composing model", "name"},
	"baseline": {part: "the baseline"},
	Steady:     {part: "the steady span"},
	scrapeWord: {text: "one series of the server", example: "name{label='v'}"},
}

// placeHint says how a word that is called with one text is written.
func placeHint(word string) string {
	w := placeWords[word]
	return word + " takes " + w.text + `, as a text: ` + word + `("` + w.example + `")`
}

// parts returns the names of those of places.
func (p *Place) parts() [4]*string { return [...]*string{&p.Node, &p.Phase, &p.Mix, &p.Model} }

// String spells the place before a metric, with its last dot:
// `baseline.stage("s").phase("spike").`; "" is the node that is judged.
func (p Place) String() string {
	var b strings.Builder
	if p.Baseline {
		b.WriteString(string(InBaseline) + ".")
	}
	for i, name := range p.parts() {
		if name == &p.Phase && *name == Steady {
			b.WriteString(Steady + ".")
		} else if *name != "" {
			b.WriteString(places[i] + "(" + strconv.Quote(*name) + ").")
		}
	}
	return b.String()
}

// segment is one part of a metric's name: a word, which may be called.
type segment struct {
	span
	name       string
	called     bool
	argument   string // the one text between its brackets; "": there is none
	argumentAt span   // of that text; else the word with its brackets
}

// metric resolves a reference: latency.p99, stage("id").phase("spike").latency.p99.
func (c *checker) metric(o operand, list []segment) operand {
	where, path, ok := c.named(list)
	switch {
	case !ok:
		return o
	case path == "":
		what := placeWords[list[len(list)-1].name].part
		return c.mistake(o.span, codeName, what+" is not a value: name a metric of it",
			"such as "+c.part(o.span)+".latency.p99")
	case where.Baseline && !c.condition:
		return c.mistake(o.span, codeName, "only conditions are compared with the baseline",
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
		wrong := o.span
		for _, s := range list {
			if s.name == string(part) {
				wrong = s.argumentAt
			}
		}
		c.problem(wrong, d)
		return o
	}
	o.kind, o.refs, o.ref = kind(leaf.Dim()), 1, len(c.refs)
	c.refs = append(c.refs, Ref{Place: where, Leaf: leaf, At: [2]int{o.from, o.to}})
	i := o.ref
	o.quantity = func(r *run) Quantity { return r.refs[i] }
	return o
}

// named reads the segments of a reference: the place, then the metric's path. False: a mistake was
// reported.
func (c *checker) named(list []segment) (where Place, path string, ok bool) {
	fail := func(s span, summary, detail string) (Place, string, bool) {
		c.mistake(s, codeSyntax, summary, detail)
		return where, "", false
	}
	before := -1 // rank of the last part of the place
	for i, s := range list {
		rank := slices.Index(places, s.name)
		if s.name == Steady && path == "" && !s.called {
			rank, s.argument = slices.Index(places, string(InPhase)), Steady
		}
		inPlace, word := path == "", s.name
		switch {
		case inPlace && s.name == string(InBaseline):
			switch {
			case s.called:
				return fail(s.span, "baseline is written without brackets", "such as baseline.latency.p99")
			case i > 0:
				return fail(s.span, "baseline comes first, and once", placeOrder)
			}
			where.Baseline = true
			continue
		case inPlace && rank >= 0:
			switch {
			case s.argument == "":
				return fail(s.argumentAt, placeHint(s.name), "")
			case rank == before:
				return fail(s.span, "duplicate "+s.name, "a metric is measured in one "+s.name)
			case rank < before:
				return fail(s.span, s.name+" must come before "+places[before], placeOrder)
			}
			before, *where.parts()[rank] = rank, s.argument
			continue
		case !s.called:
		case inPlace && s.name == scrapeWord:
			if s.argument == "" || strings.Contains(s.argument, `"`) {
				return fail(s.argumentAt, placeHint(scrapeWord), "")
			}
			word += `("` + s.argument + `")`
		case inPlace:
			c.problem(s.span, source.Errorf(codeSyntax, "there is no function %s", s.name).
				Among(source.Nearest(s.name, functions()), functions()))
			return where, "", false
		case rank >= 0:
			return fail(s.span, s.name+" must come before the metric", placeOrder)
		default:
			return fail(s.span, "a metric is not called with brackets",
				"a percentile is written .p99 or .p(99.9)")
		}
		path = strings.TrimPrefix(path+"."+word, ".")
	}
	return where, path, true
}

// call is min, max or abs.
func (c *checker) call(n *ast.CallNode) operand {
	callee := c.tokens[c.tokenAt(place(n).from)]
	if _, ok := n.Callee.(*ast.IdentifierNode); !ok || callee.kind != nameToken || callee.segments != nil {
		return c.mistake(place(n), codeSyntax, "this cannot be called", "")
	}
	name := c.part(callee.span)
	open := callee.to + strings.IndexByte(c.mask[callee.to:], '(')
	o := at(span{callee.from, c.balanced(span{open, open + 1}).to})
	xs, whole := make([]operand, 0, len(n.Arguments)), true
	for _, a := range n.Arguments {
		x := c.walk(a)
		xs, whole = append(xs, x), whole && x.kind != 0
	}
	switch {
	case name == "abs" && len(xs) != 1:
		return c.mistake(o.span, codeSyntax, "abs takes one quantity", "")
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
		return c.mistake(o.span, codeSyntax, name+" takes two quantities or more", "")
	}
	folded := xs[0]
	for _, x := range xs[1:] {
		r, ok := ruleOf(name, folded.kind, x.kind)
		if !ok {
			return c.mismatch(name, o, folded, x)
		}
		if c.bareNumber(name, folded, x) {
			return o
		}
		folded = apply(o, name, r, folded, x)
	}
	return folded
}
