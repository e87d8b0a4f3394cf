package expression

import (
	"errors"
	"sort"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Placeholders stand for tokens in what the parser sees: nothing that a user writes can be one of its keywords,
// builtins or literals, and every node leads back to its token.
const (
	nameMark    = "m" // a name
	literalMark = "k" // a literal or a variable
	textMark    = "s" // a text
)

// Summaries of mistakes that YAML may be the reason of.
const (
	atEnd       = "something is missing at the end"
	neverClosed = "this ( is never closed"
	neverOpened = "this ) was never opened"
)

// emit writes the tokens for the parser. starts[i] is where token i begins in it.
func emit(tokens []token) (text string, starts []int) {
	var b strings.Builder
	for i, t := range tokens {
		starts = append(starts, b.Len())
		switch t.kind {
		case tokName:
			b.WriteString(nameMark + strconv.Itoa(i))
		case tokLiteral, tokVariable:
			b.WriteString(literalMark + strconv.Itoa(i))
		case tokText:
			b.WriteString(strconv.Quote(textMark + strconv.Itoa(i)))
		case tokWord, tokOperator, tokBracket:
			b.WriteString(t.text)
		}
		b.WriteByte(' ')
	}
	return b.String(), starts
}

// parse gives expr-lang's tree of the tokens of what was written.
func parse(written []rune, tokens []token) (tree *parser.Tree, starts []int, p *problem) {
	text, starts := emit(tokens)
	tree, err := parser.ParseWithConfig(text, &conf.Config{MaxNodes: 2 * maxBytes})
	if err == nil {
		return tree, starts, nil
	}
	at := len(tokens)
	var located *file.Error
	if errors.As(err, &located) {
		at = tokenAt(starts, located.From, len(text))
	}
	if at >= len(tokens) {
		return nil, nil, &problem{from: len(written), to: len(written), code: codeSyntax, summary: atEnd}
	}
	wrong := misplaced(written, tokens, at)
	return nil, nil, &wrong
}

// tokenAt is the token that offset of the emitted text lies in; as many as there are tokens: after the last one.
func tokenAt(starts []int, offset, length int) int {
	if offset >= length-1 {
		return len(starts)
	}
	return sort.SearchInts(starts, offset+1) - 1
}

// misplaced says what is wrong about a token that the grammar does not allow where it stands.
func misplaced(text []rune, tokens []token, at int) problem {
	t := tokens[at]
	p := problem{from: t.from, to: t.to, code: codeSyntax, summary: "this does not fit here"}
	switch {
	case at > 0 && startsOperand(t) && endsOperand(tokens[at-1]):
		return unjoined(text, tokens, at)
	case at > 0 && !startsOperand(t) && !endsOperand(tokens[at-1]):
		p.summary = "something is missing before this"
	case at == 0:
		p.summary = "an expression cannot begin with this"
	case t.text == "," && at+1 < len(tokens) && tokens[at-1].kind == tokLiteral && tokens[at+1].kind == tokLiteral:
		if meant := nearestLiteral(string(text[tokens[at-1].from:tokens[at+1].to])); meant != "" {
			p.from, p.to, p.nearest = tokens[at-1].from, tokens[at+1].to, meant
			p.summary = "a number has no commas"
		}
	}
	return p
}

// unjoined says that nothing joins a token with the one before it: an operator, or a unit and its number.
func unjoined(text []rune, tokens []token, at int) problem {
	t, before := tokens[at], tokens[at-1]
	p := problem{from: t.from, to: t.to, code: codeSyntax, summary: "an operator is missing before this"}
	if before.kind == tokLiteral && t.kind == tokName {
		if meant := nearestLiteral(string(text[before.from:t.to])); meant != "" {
			p.from, p.nearest = before.from, meant
			p.summary, p.detail = "unknown unit "+t.text, "literals are written 50ms, 200/s, 0.1% or 64MiB"
			return p
		}
	}
	p.detail = "quantities are compared with < <= > >=, conditions are joined with and, or"
	return p
}

func startsOperand(t token) bool {
	return t.kind == tokName || t.kind == tokLiteral || t.kind == tokVariable || t.kind == tokText || t.text == "("
}

func endsOperand(t token) bool {
	return t.kind == tokName || t.kind == tokLiteral || t.kind == tokVariable || t.kind == tokText || t.text == ")"
}

// tokenOf is the token that a placeholder stands for.
func tokenOf(placeholder, mark string) (int, bool) {
	digits, ok := strings.CutPrefix(placeholder, mark)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil
}

// property is the token of a member's name.
func property(n *ast.MemberNode) (int, bool) {
	s, ok := n.Property.(*ast.StringNode)
	if !ok {
		return 0, false
	}
	return tokenOf(s.Value, nameMark)
}
