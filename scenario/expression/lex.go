package expression

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

type tokenKind uint8

const (
	tokName     tokenKind = iota + 1 // latency, p99.9, p(99.9), stage, max
	tokLiteral                       // 50ms, 0.1%, 2
	tokVariable                      // ${limit}
	tokText                          // "id"
	tokWord                          // and or not
	tokOperator                      // < <= > >= == != + - * / . ,
	tokBracket                       // ( )
)

// token is one word of an expression. from and to are character offsets; text is what a name, variable or text says.
type token struct {
	kind     tokenKind
	text     string
	from, to int
	dim      metric.Dim // of a literal
	value    float64    // of a literal, in base units
}

// problem is a mistake at character offsets of the text.
type problem struct {
	from, to              int
	code, summary, detail string
	allowed               []string
	nearest               string
}

// lexer cuts the text into tokens. It goes on after a mistake, so that all are found at once.
type lexer struct {
	text     []rune
	at       int
	tokens   []token
	problems []problem
	alone    bool // one literal is read: nothing is proposed in its place
}

func lex(text string) ([]token, []problem) {
	l := lexer{text: []rune(text)}
	for {
		l.spaces()
		if l.at >= len(l.text) {
			return l.tokens, l.problems
		}
		l.next()
	}
}

func (l *lexer) next() {
	switch r := l.text[l.at]; {
	case isDigit(r), r == '.' && isDigit(l.peek(1)) && !l.afterOperand():
		l.number()
	case isLetter(r):
		l.word()
	case r == '$':
		l.variable()
	case r == '"', r == '\'':
		l.quoted(r)
	default:
		l.operator()
	}
}

func (l *lexer) spaces() {
	for l.at < len(l.text) && (l.text[l.at] == ' ' || l.text[l.at] == '\t' || l.text[l.at] == '\n' || l.text[l.at] == '\r') {
		l.at++
	}
}

func (l *lexer) peek(n int) rune {
	if l.at+n < len(l.text) {
		return l.text[l.at+n]
	}
	return 0
}

// afterOperand reports whether a dot here would be that of a member.
func (l *lexer) afterOperand() bool {
	if len(l.tokens) == 0 {
		return false
	}
	last := l.tokens[len(l.tokens)-1]
	return last.kind == tokName || last.text == ")"
}

// take moves over the characters that f accepts and gives them.
func (l *lexer) take(f func(rune) bool) string {
	from := l.at
	for l.at < len(l.text) && f(l.text[l.at]) {
		l.at++
	}
	return string(l.text[from:l.at])
}

func (l *lexer) add(t token) {
	t.to = l.at
	l.tokens = append(l.tokens, t)
}

func (l *lexer) refuse(from int, code, summary, detail string) {
	l.problems = append(l.problems, problem{from: from, to: l.at, code: code, summary: summary, detail: detail})
}

// variable reads ${name}.
func (l *lexer) variable() {
	from := l.at
	if l.peek(1) != '{' {
		l.at++
		l.wrongVariable(from, l.take(func(r rune) bool { return isLetter(r) || isDigit(r) }))
		return
	}
	end := slices.Index(l.text[l.at:], '}')
	if end < 0 {
		l.at = len(l.text)
		l.refuse(from, codeSyntax, "the } of ${ is missing", "")
		return
	}
	name := strings.TrimSpace(string(l.text[l.at+2 : l.at+end]))
	l.at += end + 1
	if name == "" {
		l.refuse(from, codeSyntax, "a variable is written ${name}", "")
		return
	}
	l.add(token{kind: tokVariable, text: name, from: from})
}

// quoted reads the text of stage("id").
func (l *lexer) quoted(quote rune) {
	from := l.at
	end := slices.Index(l.text[from+1:], quote)
	if end < 0 {
		l.at = len(l.text)
		l.refuse(from, codeSyntax, "the closing "+string(quote)+" is missing", "")
		return
	}
	text := string(l.text[from+1 : from+1+end])
	l.at = from + end + 2
	if strings.ContainsFunc(text, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		l.refuse(from, codeSyntax, "a text here has no escapes and no line breaks", "")
		return
	}
	l.add(token{kind: tokText, text: text, from: from})
}

// word reads a name, a percentile with its dot or brackets (p99.9, p(99.9)), or one of the words and, or, not.
func (l *lexer) word() {
	from := l.at
	member := len(l.tokens) > 0 && l.tokens[len(l.tokens)-1].text == "." && l.tokens[len(l.tokens)-1].kind == tokOperator
	text := l.take(func(r rune) bool { return isLetter(r) || isDigit(r) })
	switch {
	case member && text == "p" && l.peek(0) == '(':
		text += l.bracketed()
	case member && len(text) > 1 && text[0] == 'p' && strings.Trim(text[1:], "0123456789") == "" && l.peek(0) == '.' && isDigit(l.peek(1)):
		l.at++
		text += "." + l.take(isDigit)
	case member: // any other word is a name here, whatever it means elsewhere
	case text == "and" || text == "or" || text == "not":
		l.add(token{kind: tokWord, text: text, from: from})
		return
	default:
		if summary, detail := refusedWord(text); summary != "" {
			l.refuse(from, codeSyntax, summary, detail)
			return
		}
	}
	l.add(token{kind: tokName, text: text, from: from})
}

// bracketed takes the (…) of p(…); what stands in it is judged with the statistic.
func (l *lexer) bracketed() string {
	from := l.at
	for l.at < len(l.text) && l.text[l.at] != ')' {
		l.at++
	}
	if l.at < len(l.text) {
		l.at++
	}
	return string(l.text[from:l.at])
}

func refusedWord(w string) (summary, detail string) {
	switch strings.ToLower(w) {
	case "true", "false":
		return "there is no " + w + " here", "a condition compares a metric with a limit"
	case "nan", "inf", "infinity":
		return w + " is not a limit: a number must be finite", ""
	case "nil", "null", "none":
		return "there is no " + w + " here", "what happens without data is said by on_no_data"
	case "if", "else", "let", "in", "matches", "contains", "startswith", "endswith", "xor":
		return "there is no `" + w + "` here", "conditions are made of comparisons, and, or and not"
	}
	if lower := strings.ToLower(w); lower != w && (lower == "and" || lower == "or" || lower == "not") {
		return "write " + lower, ""
	}
	return "", ""
}

// number reads a literal with its unit.
func (l *lexer) number() {
	from := l.at
	digits := l.decimal()
	switch {
	case digits == "":
		l.at = max(l.at, min(from+1, len(l.text)))
		l.take(literalPart)
		l.propose(from, problem{code: codeLiteral, summary: "a number begins with a digit"})
		return
	case l.percentile(from, digits):
		return
	}
	t := token{kind: tokLiteral, from: from, dim: metric.Number}
	factor := 1.0
	unit := l.unit()
	switch {
	case unit == "" && l.percent():
		t.dim, factor = metric.Ratio, 0.01
	case unit == "":
	case durationUnit(unit) != 0:
		l.compound(t, digits, unit)
		return
	case sizeUnit(unit) != 0:
		t.dim, factor = metric.Bytes, sizeUnit(unit)
	case powerUnit(unit) != 0:
		t.dim, factor = metric.Power, powerUnit(unit)
	default:
		l.take(func(r rune) bool { return isLetter(r) || isDigit(r) })
		l.unknownUnit(from, unit)
		return
	}
	var ok bool
	if t.value, ok = scaled(digits, factor); !ok {
		l.refuse(from, codeLiteral, "this number is too large: a number must be finite", "")
		return
	}
	if t.dim != metric.Ratio && t.dim != metric.Power && !l.rate(&t) {
		return
	}
	l.add(t)
}

// decimal takes the digits of a number, with a point and an exponent; "" where it does not begin with a digit.
func (l *lexer) decimal() string {
	from := l.at
	if l.take(isDigit) == "" {
		return ""
	}
	if l.peek(0) == '.' && isDigit(l.peek(1)) {
		l.at++
		l.take(isDigit)
	}
	if e := l.peek(0); e == 'e' || e == 'E' {
		skip := 1
		if sign := l.peek(1); sign == '+' || sign == '-' {
			skip = 2
		}
		if isDigit(l.peek(skip)) {
			l.at += skip
			l.take(isDigit)
		}
	}
	return string(l.text[from:l.at])
}

func (l *lexer) unknownUnit(from int, unit string) {
	summary := "unknown unit " + unit
	if unit[0] == '_' {
		summary = "a number has no _ in it"
	}
	l.propose(from, problem{
		code: codeLiteral, summary: summary, detail: "literals are written 50ms, 200/s, 0.1% or 64MiB",
		allowed: units(), nearest: source.Nearest(unit, units()),
	})
}

// propose refuses what stands from … to here, with the literal that was likely meant.
func (l *lexer) propose(from int, p problem) {
	p.from, p.to = from, l.at
	if !l.alone {
		p.nearest = cmp.Or(nearestLiteral(string(l.text[from:l.at])), p.nearest)
	}
	l.problems = append(l.problems, p)
}

// percentile refuses latency.99, whose p is missing. It reports whether that stands here.
func (l *lexer) percentile(from int, digits string) bool {
	n := len(l.tokens)
	if n < 2 || l.tokens[n-1].text != "." || l.tokens[n-1].kind != tokOperator || l.tokens[n-2].kind != tokName {
		return false
	}
	first := n - 2
	for first > 1 && l.tokens[first-1].text == "." && l.tokens[first-2].kind == tokName {
		first -= 2
	}
	name := string(l.text[l.tokens[first].from:l.tokens[n-1].from])
	p := problem{from: l.tokens[first].from, to: l.at, code: codeStat, summary: name + " has no ." + digits, detail: "a percentile is written .p99 or .p(99.9)"}
	if _, _, ok := metric.ParseStat("p" + digits); ok {
		p.nearest = name + ".p" + digits
	}
	if classes := l.take(literalPart); classes != "" || strings.HasPrefix(name, "errors") { // errors.5xx, errors.500.count
		p.to, p.summary = l.at, fmt.Sprintf("%s has no .%s%s", name, digits, classes)
		if p.detail, p.nearest = "", ""; name == "errors" {
			p.nearest = metric.ErrorsOf("status")
			p.detail = "replies with an HTTP or gRPC error status are counted in " + p.nearest
		}
	}
	l.problems = append(l.problems, p)
	return true
}

func literalPart(r rune) bool { return isLetter(r) || isDigit(r) || r == '.' }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }
