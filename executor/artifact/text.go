package artifact

import (
	"strconv"
	"unicode/utf8"
)

// cut returns at most n characters of s.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// decimal formats v for machines: no exponent, no separators, twelve digits, so that scaling leaves
// no trace.
func decimal(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// plural returns "1 request", "2 requests".
func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return whole(n) + " " + word + "s"
}
