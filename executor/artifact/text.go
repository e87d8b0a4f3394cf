package artifact

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text of a server, a plan or the system fit for one line of any file: line breaks and tabs become spaces;
// what moves a cursor, colours a terminal, turns the reading direction or is no text goes.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\r', c == '\t', c == '\u2028', c == '\u2029':
			return ' '
		case unicode.IsControl(c), c >= '\u202a' && c <= '\u202e', c >= '\u2066' && c <= '\u2069',
			c == '\u200e', c == '\u200f', c == '\ufeff', c == '\ufffe', c == '\uffff':
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// cut is s with at most n characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// decimal writes v for machines: no exponent, no separators, twelve digits, so that scaling leaves no trace.
func decimal(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// plural is "1 request", "2 requests".
func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return whole(n) + " " + word + "s"
}
