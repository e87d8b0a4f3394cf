package expression

import (
	"errors"
	"sort"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/sluice-bench/sluice/scenario/source"
)

// parser makes a tree of the tokens with expr-lang's parser. That parser reads a mask of the text:
// as long as the text, with operators and brackets as they are, and with names and operands that
// are none of its words. So a place in its tree is a place in the text, whatever the operand is.
type parser struct {
	report
	tokens []token
	mask   string // for latency.p99 < 5ms: _______.___ < "_"
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

// cover writes the mask.
func (p *parser) cover() {
	mask := make([]byte, len(p.text)+1) // the space at the end keeps the end apart from the last token
	for i := range mask {
		mask[i] = ' '
	}
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
	var open []token
	signs, tooDeep := 0, false
	for _, t := range p.tokens {
		signs++
		switch {
		case t.is("-"), t.is("not"):
		case t.is("("):
			signs, open = 0, append(open, t)
		case t.is(")") && len(open) == 0:
			p.mistake(t.span, codeSyntax, neverOpened, "")
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
		p.mistake(t.span, codeSyntax, neverClosed, "")
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
		p.mistake(span{len(p.text), len(p.text)}, codeSyntax, atEnd, "")
		return
	}
	t, before, next := p.tokens[at], token{}, token{}
	if at > 0 {
		before = p.tokens[at-1]
	}
	if at+1 < len(p.tokens) {
		next = p.tokens[at+1]
	}
	d := source.Diagnostic{Code: codeSyntax, Summary: "this does not fit here"}
	begins := t.isOperand() || t.is("(")
	follows := before.isOperand() || before.is(")")
	place := t.span
	switch {
	case begins && follows:
		place.from = p.unjoined(before, t, &d)
	case at == 0:
		d.Summary = "an expression cannot begin with this"
	case !begins && !follows:
		d.Summary = "something is missing before this"
	case t.is(",") && before.kind == literalToken && next.kind == literalToken:
		whole := span{before.from, next.to}
		if meant := nearestLiteral(p.part(whole)); meant != "" {
			place, d.Nearest, d.Summary = whole, meant, "a number has no commas"
		}
	}
	p.problem(place, d)
}

// unjoined describes in d that nothing joins two operands: an operator is missing, or a word is no
// unit of the number before it. It returns where the mistake begins.
func (p *parser) unjoined(before, t token, d *source.Diagnostic) (from int) {
	if before.kind == literalToken && t.kind == nameToken {
		if meant := nearestLiteral(p.part(span{before.from, t.to})); meant != "" {
			d.Summary, d.Detail, d.Nearest = "unknown unit "+p.part(t.span), literalForms, meant
			return before.from
		}
	}
	d.Summary = "an operator is missing before this"
	d.Detail = "quantities are compared with < <= > >=, conditions are joined with and, or"
	return t.from
}
