package expression

// operator reads an operator or a bracket, and refuses those that the language has not, with what to write instead.
func (l *lexer) operator() {
	from := l.at
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
	return r, "unexpected character " + r, ""
}
