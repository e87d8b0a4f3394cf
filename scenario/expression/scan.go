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

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	nameToken     tokenKind = iota + 1 // latency, p99.9, p(99.9), stage, max; once joined, a whole metric
	literalToken                       // 50ms, 0.1 %, 2
	variableToken                      // ${limit}
	textToken                          // "id"
	symbolToken                        // < <= > >= == != + - * / . , ( ) and or not
)

// token is one word of an expression.
type token struct {
	span
	kind     tokenKind
	text     string     // of a symbol
	dim      metric.Dim // of a literal
	value    float64    // of a literal, in base units
	segments []segment  // of a metric
}

func (t token) is(symbol string) bool { return t.kind == symbolToken && t.text == symbol }

// isOperand reports whether the token is a name, a literal, a variable or a text.
func (t token) isOperand() bool { return t.kind > 0 && t.kind != symbolToken }

// scanner cuts the text into tokens. It goes on after a mistake, so that all are found at once.
type scanner struct {
	report
	at     int
	tokens []token
}

func (s *scanner) scan() {
	for s.spaces(); s.at < len(s.text); s.spaces() {
		switch r := s.text[s.at]; {
		case isDigit(r), r == '.' && isDigit(s.peek(1)) && !s.afterName():
			s.number()
		case isLetter(r):
			s.word()
		case r == '$':
			s.variable()
		case r == '"', r == '\'':
			s.quoted(r)
		case r == '{' && s.peek(1) == '{':
			s.template()
		default:
			s.symbol()
		}
	}
}

func (s *scanner) spaces() {
	s.skip(func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

// peek returns the character n after the current one; 0 after the end.
func (s *scanner) peek(n int) rune {
	if s.at+n < len(s.text) {
		return s.text[s.at+n]
	}
	return 0
}

// skip moves over the characters that f accepts.
func (s *scanner) skip(f func(rune) bool) {
	for s.at < len(s.text) && f(s.text[s.at]) {
		s.at++
	}
}

// take moves over the characters that f accepts and returns them.
func (s *scanner) take(f func(rune) bool) string {
	from := s.at
	s.skip(f)
	return string(s.text[from:s.at])
}

// last returns the nth token from the end; the zero token before the first.
func (s *scanner) last(n int) token {
	if n > len(s.tokens) {
		return token{}
	}
	return s.tokens[len(s.tokens)-n]
}

// afterName reports whether a dot here is that of a member.
func (s *scanner) afterName() bool { return s.last(1).kind == nameToken || s.last(1).is(")") }

// add appends the token that begins at from and ends here.
func (s *scanner) add(from int, t token) {
	t.span = span{from, s.at}
	s.tokens = append(s.tokens, t)
}

// refuse reports a mistake between from and the current character.
func (s *scanner) refuse(from int, summary, detail string) {
	s.mistake(span{from, s.at}, codeSyntax, summary, detail)
}

// variable reads ${name}.
func (s *scanner) variable() {
	from := s.at
	if s.peek(1) != '{' {
		s.at++
		s.misspelt(from, s.take(isLetterOrDigit))
		return
	}
	end := slices.Index(s.text[from:], '}')
	if end < 0 {
		s.at = len(s.text)
		s.refuse(from, "the } of ${ is missing", "")
		return
	}
	if s.at = from + end + 1; strings.TrimSpace(string(s.text[from+2:from+end])) == "" {
		s.misspelt(from, "")
		return
	}
	s.add(from, token{kind: variableToken})
}

// template refuses the variable of a template language, {{ name }}.
func (s *scanner) template() {
	from := s.at
	s.at += 2
	inner := s.take(func(r rune) bool { return r != '}' })
	s.at = min(s.at+2, len(s.text))
	s.misspelt(from, strings.TrimPrefix(strings.TrimSpace(inner), "."))
}

// misspelt refuses a variable that is written as in another language.
func (s *scanner) misspelt(from int, name string) {
	if !plainName(name) {
		name = "name"
	}
	s.refuse(from, "a variable is written ${"+name+"}", "")
}

// plainName reports whether s is a name without dots: letters and digits of ASCII, and _.
func plainName(s string) bool {
	return s != "" && !isDigit(rune(s[0])) && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !isLetterOrDigit(r)
	})
}

// quoted reads the text of stage("id").
func (s *scanner) quoted(quote rune) {
	from := s.at
	end := slices.Index(s.text[from+1:], quote)
	if end < 0 {
		s.at = len(s.text)
		s.refuse(from, "the closing "+string(quote)+" is missing", "")
		return
	}
	s.at = from + end + 2
	escaped := func(r rune) bool { return r == '\\' || unicode.IsControl(r) }
	if slices.ContainsFunc(s.text[from:s.at], escaped) {
		s.refuse(from, "a text here has no escapes and no line breaks", "")
		return
	}
	s.add(from, token{kind: textToken})
}

// word reads a name, a percentile with its dot or brackets (p99.9, p(99.9)), or one of the words
// and, or, not.
func (s *scanner) word() {
	from, member := s.at, s.last(1).is(".")
	s.skip(isLetterOrDigit)
	text := string(s.text[from:s.at])
	percentile := len(text) > 1 && text[0] == 'p' && strings.Trim(text[1:], "0123456789") == ""
	switch {
	case member && text == "p" && s.peek(0) == '(':
		s.skip(func(r rune) bool { return r != ')' })
		s.at = min(s.at+1, len(s.text))
	case member && percentile && s.peek(0) == '.' && isDigit(s.peek(1)):
		s.at++
		s.skip(isDigit)
	case !member && s.known(from): // behind a dot any word is a name, whatever it means elsewhere
		return
	}
	s.add(from, token{kind: nameToken})
}

// symbol reads an operator or a bracket, the longest that fits, and refuses those of other languages.
func (s *scanner) symbol() {
	from := s.at
	for n := min(3, len(s.text)-from); n > 0; n-- {
		if s.at = from + n; s.known(from) {
			return
		}
	}
	summary, detail := strange(s.text[from])
	s.refuse(from, summary, detail)
}

// known adds the symbol between from and the current character, or refuses it as one of other
// languages. It returns false for every other text.
func (s *scanner) known(from int) bool {
	symbol := s.part(span{from, s.at})
	if !slices.Contains(symbols, symbol) {
		meant, summary, detail := foreign(symbol)
		if summary == "" {
			return false
		}
		s.refuse(from, summary, detail)
		symbol = meant
	}
	if symbol != "" { // of another language: so that nothing else is reported about it
		s.add(from, token{kind: symbolToken, text: symbol})
	}
	return true
}

var symbols = strings.Fields("< <= > >= == != + - * / . , ( ) and or not")

const (
	whenNoData     = "what happens without data is said by on_no_data"
	onlyConditions = "conditions are made of comparisons, and, or and not"
)

// foreign says that a word or symbol of other languages does not exist here, and which of ours is
// meant; "" for every other text.
func foreign(text string) (meant, summary, detail string) {
	switch strings.ToLower(text) {
	case "===", "=":
		meant = "=="
	case "!==", "<>", "≠":
		meant = "!="
	case "=<", "≤":
		meant = "<="
	case "=>", "≥":
		meant = ">="
	case "＜":
		meant = "<"
	case "＞":
		meant = ">"
	case "×", "·":
		meant = "*"
	case "÷":
		meant = "/"
	case "−", "–", "—":
		meant = "-"
	case "&&", "&", "∧", "and":
		meant = "and"
	case "||", "|", "∨", "or":
		meant = "or"
	case "!", "¬", "not":
		meant, detail = "not", "not (a < b)"
	case "true", "false":
		return "", "there is no " + text + " here", "a condition compares a metric with a limit"
	case "nan", "inf", "infinity":
		return "", text + " is not a limit: a number must be finite", ""
	case "nil", "null", "none":
		return "", "there is no " + text + " here", whenNoData
	case "if", "else", "let", "in", "matches", "contains", "startswith", "endswith", "xor":
		return "", "there is no `" + text + "` here", onlyConditions
	case "//", "/*", "#":
		return "", "there are no comments in an expression",
			"YAML's begin with #, outside the expression"
	case "**", "^":
		return "", "there is no power operator", ""
	case "..":
		return "", "there are no ranges", ""
	case "??", "?.":
		return "", "there is no " + text, whenNoData
	case "%":
		return "", "there is no % operator", "a ratio is a number and a %, such as 0.1%"
	case "?", ":":
		return "", "there is no choice a ? b : c", onlyConditions
	case "[", "]", "{", "}":
		return "", "there are no lists and maps in an expression", ""
	case ";":
		return "", "an assertion is one expression",
			"give each its own entry of assert, or join them with and"
	default:
		return "", "", ""
	}
	return meant, "write " + meant, detail
}

// strange describes a character that is invisible, or that only looks like one of ours.
func strange(r rune) (summary, detail string) {
	code := fmt.Sprintf("U+%04X", r)
	switch {
	case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		summary = "this space is the character " + code
		return summary, "it often comes from a copied page: type an ordinary space"
	case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
		return "an invisible character: " + code, "delete it"
	case strings.ContainsRune("\u201c\u201d\u201e\u00ab\u00bb", r):
		detail = `write straight quotes: "id"`
	case strings.ContainsRune("\u2018\u2019\u201a\u00b4`", r):
		detail = "write straight quotes: 'id'"
	case r <= unicode.MaxASCII:
		return "unexpected character " + string(r), ""
	}
	return "unexpected character " + string(r) + " (" + code + ")", detail
}

// missingPercentile refuses latency.99, which lacks its p, and errors.5xx. It reports whether it did.
func (s *scanner) missingPercentile(digits string) bool {
	if !s.last(1).is(".") || s.last(2).kind != nameToken {
		return false
	}
	first := 2
	for s.last(first+1).is(".") && s.last(first+2).kind == nameToken {
		first += 2
	}
	whole := span{s.last(first).from, s.at}
	name := s.part(span{whole.from, s.last(1).from})
	d := source.Errorf(codeStat, "").Help("a percentile is written .p99 or .p(99.9)")
	if _, _, ok := metric.ParseStat("p" + digits); ok {
		d.Nearest = name + ".p" + digits
	}
	classes := s.take(isLiteralPart)
	if classes != "" || strings.HasPrefix(name, "errors") { // errors.5xx, errors.500.count
		whole.to, d.Detail, d.Nearest = s.at, "", ""
		if name == "errors" {
			d.Nearest = metric.ErrorsOf("status")
			d.Detail = "replies with an HTTP or gRPC error status are counted in " + d.Nearest
		}
	}
	d.Summary = name + " has no ." + digits + classes
	s.problem(whole, d)
	return true
}

// propose reports d between from and the current character, with the literal that was likely meant.
func (s *scanner) propose(from int, d *source.Diagnostic) {
	whole := span{from, s.at}
	d.Nearest = cmp.Or(nearestLiteral(s.part(whole)), d.Nearest)
	s.problem(whole, d)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isLetterOrDigit(r rune) bool { return isLetter(r) || isDigit(r) }

func isLiteralPart(r rune) bool { return isLetterOrDigit(r) || r == '.' }
