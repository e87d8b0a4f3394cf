// Package clean makes text of servers, plans and the system harmless in files and on terminals.
package clean

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes text of a server, a plan or the system fit for one line of any file: line breaks and
// tabs become spaces; what moves a cursor, colours a terminal, turns the reading direction or is no
// text goes.
func Line(s string) string {
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

// Cell keeps a spreadsheet from taking text for a formula. Numbers stay.
func Cell(s string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " "))
	if !strings.ContainsRune("=+-@\t\r＝＋－＠", first) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
