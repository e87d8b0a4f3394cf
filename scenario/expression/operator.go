package expression

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// operator reads an operator or a bracket, and refuses those that the language has not, with what to write instead.
func (l *lexer) operator() {
	from := l.at
	if l.foreign() || l.template() {
		return
	}
	if text := l.known(); text != "" {
		l.at += len(text)
		kind := tokOperator
		if text == "(" || text == ")" {
			kind = tokBracket
		}
		l.add(token{kind: kind, text: text, from: from})
		return
	}
	text, summary, detail := l.unknown()
	l.at += len([]rune(text))
	l.refuse(from, codeSyntax, summary, detail)
}

// foreign is an operator of another language or a character that only looks like one of ours, and what to write.
type foreign struct{ theirs, ours string }

// foreigners are looked up at every character, the longest first.
func foreigners() []foreign {
	return []foreign{
		{"===", "=="},
		{"!==", "!="},
		{"<>", "!="},
		{"=<", "<="},
		{"=>", ">="},
		{"≤", "<="},
		{"≥", ">="},
		{"≠", "!="},
		{"×", "*"},
		{"·", "*"},
		{"÷", "/"},
		{"−", "-"},
		{"–", "-"},
		{"—", "-"},
		{"＜", "<"},
		{"＞", ">"},
		{"∧", "and"},
		{"∨", "or"},
		{"¬", "not"},
	}
}

// foreign refuses an operator that is not ours and has one that is: it is read as that, so that nothing else is said. It
// reports whether one stands here.
func (l *lexer) foreign() bool {
	for _, f := range foreigners() {
		theirs := []rune(f.theirs)
		if l.at+len(theirs) > len(l.text) || string(l.text[l.at:l.at+len(theirs)]) != f.theirs {
			continue
		}
		from := l.at
		l.at += len(theirs)
		l.refuse(from, codeSyntax, "write "+f.ours, "")
		l.add(token{kind: operatorKind(f.ours), text: f.ours, from: from})
		return true
	}
	return false
}

func operatorKind(text string) tokenKind {
	if text == "and" || text == "or" || text == "not" {
		return tokWord
	}
	return tokOperator
}

// template refuses the variable of a template language, {{ name }}, as one mistake.
func (l *lexer) template() bool {
	if l.text[l.at] != '{' || l.peek(1) != '{' {
		return false
	}
	from, inner := l.at, []rune(nil)
	for l.at += 2; l.at < len(l.text) && l.text[l.at] != '}'; l.at++ {
		inner = append(inner, l.text[l.at])
	}
	l.at = min(l.at+2, len(l.text))
	l.wrongVariable(from, strings.TrimPrefix(strings.TrimSpace(string(inner)), "."))
	return true
}

// wrongVariable refuses a variable that is written as elsewhere. It is read as a variable, whose value is not looked at.
func (l *lexer) wrongVariable(from int, name string) {
	meant := "${name}"
	if plainName.MatchString(name) {
		meant = "${" + name + "}"
	}
	l.refuse(from, codeSyntax, "a variable is written "+meant, "")
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// strange says what a character is that cannot be seen, or that only looks like one of ours.
func strange(r rune) (summary, detail string) {
	code := fmt.Sprintf("U+%04X", r)
	switch {
	case strings.ContainsRune("\u201c\u201d\u201e\u00ab\u00bb", r):
		return "unexpected character " + string(r) + " (" + code + ")", `write straight quotes: "id"`
	case strings.ContainsRune("\u2018\u2019\u201a\u00b4`", r):
		return "unexpected character " + string(r) + " (" + code + ")", "write straight quotes: 'id'"
	case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		return "this space is the character " + code, "it often comes from a copied page: type an ordinary space"
	case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
		return "an invisible character: " + code, "delete it"
	case r == '%' || r > unicode.MaxASCII:
		return "unexpected character " + string(r) + " (" + code + ")", ""
	}
	return "unexpected character " + string(r), ""
}

// known gives the operator that stands here, "" if none of ours does.
func (l *lexer) known() string {
	r, next := l.text[l.at], l.peek(1)
	switch r {
	case '(', ')', ',', '+', '-':
		return string(r)
	case '.':
		if next != '.' {
			return "."
		}
	case '*':
		if next != '*' {
			return "*"
		}
	case '/':
		if next != '/' && next != '*' {
			return "/"
		}
	case '<', '>':
		if next == '=' {
			return string(r) + "="
		}
		return string(r)
	case '=', '!':
		if next == '=' {
			return string(r) + "="
		}
	}
	return ""
}

func (l *lexer) unknown() (text, summary, detail string) {
	r, two := string(l.text[l.at]), string(l.text[l.at:min(l.at+2, len(l.text))])
	switch two {
	case "&&":
		return two, "write and", ""
	case "||":
		return two, "write or", ""
	case "//", "/*":
		return two, "there are no comments in an expression", "YAML's begin with #, outside the expression"
	case "**":
		return two, "there is no power operator", ""
	case "..":
		return two, "there are no ranges", ""
	case "??", "?.":
		return two, "there is no " + two, "what happens without data is said by on_no_data"
	}
	switch r {
	case "!":
		return r, "write not", "not (a < b)"
	case "=":
		return r, "write ==", ""
	case "&":
		return r, "write and", ""
	case "|":
		return r, "write or", ""
	case "%":
		return r, "there is no % operator", "a ratio is a number and a %, such as 0.1%"
	case "?", ":":
		return r, "there is no choice a ? b : c", "conditions are made of comparisons, and, or and not"
	case "[", "]", "{", "}":
		return r, "there are no lists and maps in an expression", ""
	case ";":
		return r, "an assertion is one expression", "give each its own entry of assert, or join them with and"
	case "^":
		return r, "there is no power operator", ""
	case "#":
		return r, "there are no comments in an expression", "YAML's begin with #, outside the expression"
	}
	summary, detail = strange(l.text[l.at])
	return r, summary, detail
}
