package tokenizer

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// pattern finds words as the regular expression of a tokenizer does. Such expressions have a few things
// that Go's lack: \s and \d mean Unicode's, quantifiers may be possessive, and white space that is
// followed by a word is left to it by \s+(?!\S). The expression is rewritten; a group of its own stands for
// the last of these, and find applies what it asks for.
type pattern struct {
	re   *regexp.Regexp
	tail int // group of \s+(?!\S); 0: none
}

// white are the characters of \s, for a class.
const white = `\t-\r\x{85}\p{Z}`

// classes are the classes of Unicode by the letter after the backslash, for inside of brackets.
var classes = map[byte]string{'s': white, 'd': `\p{Nd}`, 'w': `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}`}

var errLookaround = errors.New("it looks around in a way that this program does not know")

// compile rewrites an expression.
func compile(text string) (*pattern, error) {
	p := &pattern{}
	own, err := p.rewrite(text)
	if err == nil {
		p.re, err = regexp.Compile(own)
	}
	var bad *syntax.Error
	if errors.As(err, &bad) {
		err = fmt.Errorf("%s: %s", bad.Code, bad.Expr)
	}
	if err != nil {
		return nil, fmt.Errorf("the pattern %.60q cannot be used: %w", text, err)
	}
	return p, nil
}

// spaceTail is white space that leaves its last character to a word behind it.
const spaceTail = `\s+(?!\S)`

func (p *pattern) rewrite(text string) (string, error) {
	var b strings.Builder
	groups, depth := 0, 0 // depth of brackets
	quantified := false
	for i := 0; i < len(text); i++ {
		rest, wasQuantified := text[i:], quantified
		quantified = false
		switch {
		case depth == 0 && p.tail == 0 && strings.HasPrefix(rest, spaceTail) && topLevel(text, i):
			groups++
			p.tail = groups
			b.WriteString(`([` + white + `]+)`)
			i += len(spaceTail) - 1
		case strings.HasPrefix(rest, `\`) && len(rest) > 1:
			if err := escape(&b, rest[1], depth > 0); err != nil {
				return "", err
			}
			i++
			if end := strings.IndexByte(text[i:], '}'); end > 0 && strings.ContainsRune("pPx", rune(rest[1])) &&
				strings.HasPrefix(text[i+1:], "{") { // \p{L}
				b.WriteString(text[i+1 : i+end+1])
				i += end
			}
		case depth > 0 && strings.HasPrefix(rest, "&&"):
			return "", errors.New("it has an intersection of classes")
		case rest[0] == '[' && depth > 0 && !strings.HasPrefix(rest, "[:"):
			b.WriteString(`\[`)
		case rest[0] == '[':
			depth++
			b.WriteByte('[')
			for _, first := range []string{"^", "]"} {
				if strings.HasPrefix(text[i+1:], first) {
					b.WriteString(first)
					i++
				}
			}
		case rest[0] == ']' && depth > 0:
			depth--
			b.WriteByte(']')
		case depth > 0:
			b.WriteByte(rest[0])
		case strings.HasPrefix(rest, "(?!"), strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?<"):
			return "", errLookaround
		case rest[0] == '(' && !strings.HasPrefix(rest, "(?"):
			groups++
			b.WriteByte('(')
		case rest[0] == '+' && wasQuantified: // possessive, which none of the known expressions needs
		case strings.ContainsRune("?*+}", rune(rest[0])):
			quantified = true
			b.WriteByte(rest[0])
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String(), nil
}

// topLevel reports whether the alternative of an expression that begins at an offset is one of all of it.
func topLevel(text string, at int) bool {
	const behind = len(spaceTail)
	return (at == 0 || text[at-1] == '|') && (at+behind == len(text) || text[at+behind] == '|') &&
		strings.Count(text[:at], "(")-strings.Count(text[:at], `\(`) ==
			strings.Count(text[:at], ")")-strings.Count(text[:at], `\)`)
}

// escape writes the character that follows a backslash.
func escape(b *strings.Builder, c byte, inside bool) error {
	class, lower := classes[c|0x20], c&0x20 != 0
	switch {
	case class == "" || c == '_': // of another meaning
		b.WriteByte('\\')
		b.WriteByte(c)
	case !lower && inside:
		return fmt.Errorf(`it has \%c inside of brackets`, c)
	case inside:
		b.WriteString(class)
	case lower:
		b.WriteString("[" + class + "]")
	default:
		b.WriteString("[^" + class + "]")
	}
	return nil
}

// The regular expression sees a window of the text, as its cost grows with what it sees. A match that
// comes near the end of the window might have gone on, and is looked for again in a larger one.
const (
	window = 64 // bytes
	margin = 16
)

// find returns the first match in text, which is never empty; nil: there is none.
func (p *pattern) find(text string) []int {
	for size := window; ; size *= 4 {
		seen := text
		if size < len(text) {
			for size > 0 && !utf8.RuneStart(text[size]) {
				size--
			}
			seen = text[:size]
		}
		m := p.within(seen)
		if len(seen) == len(text) || m != nil && m[1]+margin <= len(seen) {
			return m
		}
	}
}

func (p *pattern) within(text string) []int {
	for from := 0; from <= len(text); {
		m := p.re.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return nil
		}
		if m[1] == m[0] {
			_, size := utf8.DecodeRuneInString(text[from+m[0]:])
			from += m[0] + max(size, 1)
			continue
		}
		start, end := from+m[0], from+m[1]
		if g := 2 * p.tail; g > 0 && m[g] >= 0 && end < len(text) {
			_, size := utf8.DecodeLastRuneInString(text[start:end])
			if end-size > start {
				end -= size
			}
		}
		return []int{start, end}
	}
	return nil
}
