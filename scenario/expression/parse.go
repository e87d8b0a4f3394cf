package expression

import (
	"bytes"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/sluice-bench/sluice/scenario/source"
)

// parser makes a tree of the tokens with expr-lang's parser. That parser reads a mask of the text:
// as long as the text, with operators and brackets as they are, and with metrics and other operands
// that are none of its words. So a place in its tree is a place in the text, whatever the operand is.
type parser struct {
	report
	tokens []token
	mask   string // for latency.p99 < 5ms: ___________ < "_"
}

// parse returns the root of the tree; nil where it or the scanner found mistakes.
func (p *parser) parse() ast.Node {
	if p.brackets(); len(p.found) > 0 {
		return nil
	}
	if len(p.tokens) == 0 {
		p.mistake(span{0, len(p.text)}, codeSyntax, "the expression is empty",
			"write a comparison, such as latency.p99 < 50ms")
		return nil
	}
	p.join()
	p.cover()
	tree, err := exprparser.Parse(p.mask)
	if err == nil {
		return tree.Node
	}
	at := len(p.text)
	if located := (*file.Error)(nil); errors.As(err, &located) {
		at = located.From
	}
	p.misplaced(at)
	return nil
}

// join makes one token of those of each metric.
func (p *parser) join() {
	joined := make([]token, 0, len(p.tokens))
	for i := 0; i < len(p.tokens); {
		t := p.tokens[i]
		if t.kind != nameToken || p.callsFunction(i) {
			joined, i = append(joined, t), i+1
			continue
		}
		for more := true; more; {
			var s segment
			s, i = p.segment(i)
			t.segments, t.to = append(t.segments, s), p.tokens[i-1].to
			more = i+1 < len(p.tokens) && p.tokens[i].is(".") && p.tokens[i+1].kind == nameToken
			if more {
				i++
			}
		}
		joined = append(joined, t)
	}
	p.tokens = joined
}

// callsFunction reports whether token i is min, max or abs before a bracket.
func (p *parser) callsFunction(i int) bool {
	return slices.Contains([]string{"min", "max", "abs"}, p.part(p.tokens[i].span)) &&
		i+1 < len(p.tokens) && p.tokens[i+1].is("(") && (i == 0 || !p.tokens[i-1].is("."))
}

// segment reads the part of a metric's name that begins with token i, and returns the next token.
func (p *parser) segment(i int) (s segment, next int) {
	name := p.tokens[i].span
	s = segment{span: name, name: p.part(name), argumentAt: name}
	next = i + 1
	if next == len(p.tokens) || !p.tokens[next].is("(") {
		return s, next
	}
	for open := 1; open > 0; {
		next++
		if p.tokens[next].is("(") {
			open++
		} else if p.tokens[next].is(")") {
			open--
		}
	}
	s.called, s.argumentAt.to = true, p.tokens[next].to
	if text := p.tokens[next-1]; next == i+3 && text.kind == textToken && text.to-text.from > 2 {
		s.argument, s.argumentAt = p.part(span{text.from + 1, text.to - 1}), text.span
	}
	return s, next + 1
}

// cover writes the mask.
func (p *parser) cover() {
	mask := bytes.Repeat([]byte(" "), len(p.text)+1) // the last one keeps the end apart from the last token
	for _, t := range p.tokens {
		covered := mask[t.from:t.to]
		if t.kind == symbolToken {
			copy(covered, t.text)
			continue
		}
		for i := range covered {
			covered[i] = '_'
		}
		if t.kind != nameToken && len(covered) > 1 { // two in a row must stay two
			covered[0], covered[len(covered)-1] = '"', '"'
		}
	}
	p.mask = string(mask)
}

// brackets checks that every bracket has its other half, which the parser would report at the wrong
// place, and that neither they nor signs are nested deeper than the parser's recursion may go.
func (p *parser) brackets() {
	detail := ""
	if n := p.source.Node; n != nil && !n.Quoted && !n.Block && !strings.Contains(p.source.Text, ",") {
		detail = "inside { } and [ ] a comma ends a text: write the whole text in quotes"
	}
	var open []token
	signs, tooDeep := 0, false
	for _, t := range p.tokens {
		signs++
		switch {
		case t.is("-"), t.is("not"):
		case t.is("("):
			signs, open = 0, append(open, t)
		case t.is(")") && len(open) == 0:
			p.mistake(t.span, codeSyntax, "this ) was never opened", detail)
		case t.is(")"):
			signs, open = 0, open[:len(open)-1]
		default:
			signs = 0
		}
		if !tooDeep && (signs > maxDepth || len(open) > maxDepth) {
			tooDeep = true
			p.mistake(t.span, codeTooLong, "this is nested too deep", "")
		}
	}
	for _, t := range open {
		p.mistake(t.span, codeSyntax, "this ( is never closed", detail)
	}
}

// tokenAt returns the index of the token that character offset is in; the number of tokens after
// the last.
func (p *parser) tokenAt(offset int) int {
	return sort.Search(len(p.tokens), func(i int) bool { return p.tokens[i].to > offset })
}

// misplaced reports the token at offset, which the grammar does not allow there.
func (p *parser) misplaced(offset int) {
	at := p.tokenAt(offset)
	if at > 1 && p.tokens[at-2].is(".") && p.tokens[at-1].kind != nameToken { // reported one token too late
		at--
	}
	if at == len(p.tokens) {
		detail := ""
		if n := p.source.Node; n != nil && n.Comment != "" {
			detail = "in YAML a # after a space begins a comment: write the whole text in quotes"
		}
		p.mistake(span{len(p.text), len(p.text)}, codeSyntax, "something is missing at the end", detail)
		return
	}
	t, before, next := p.tokens[at], token{}, token{}
	if at > 0 {
		before = p.tokens[at-1]
	}
	if at+1 < len(p.tokens) {
		next = p.tokens[at+1]
	}
	begins := t.isOperand() || t.is("(")
	follows := before.isOperand() || before.is(")")
	switch {
	case begins && follows:
		p.unjoined(before, t)
	case at == 0:
		p.mistake(t.span, codeSyntax, "an expression cannot begin with this", "")
	case !begins && !follows:
		p.mistake(t.span, codeSyntax, "something is missing before this", "")
	case !t.is(",") || before.kind != literalToken || next.kind != literalToken ||
		!p.offered(span{before.from, next.to}, codeSyntax, "a number has no commas", ""):
		p.mistake(t.span, codeSyntax, "this does not fit here", "")
	}
}

// unjoined reports that nothing joins two operands: an operator is missing, or a word is no unit of
// the number before it.
func (p *parser) unjoined(before, t token) {
	if before.kind != literalToken || t.kind != nameToken ||
		!p.offered(span{before.from, t.to}, codeSyntax, "unknown unit "+p.part(t.span), literalForms) {
		p.mistake(t.span, codeSyntax, "an operator is missing before this",
			"quantities are compared with < <= > >=, conditions are joined with and, or")
	}
}

// offered reports a mistake where the literal is known that a span was meant as, and returns whether
// it is.
func (r *report) offered(s span, code, summary, detail string) bool {
	meant := nearestLiteral(r.part(s))
	if meant != "" {
		r.problem(s, source.Errorf(code, "%s", summary).Help(detail).Among(meant, nil))
	}
	return meant != ""
}
