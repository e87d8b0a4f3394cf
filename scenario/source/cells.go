package source

import (
	"unicode"

	"golang.org/x/text/width"
)

// cellsOf is how many columns of a terminal a character takes: wide East Asian characters and emoji
// two, combining marks none.
func cellsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
