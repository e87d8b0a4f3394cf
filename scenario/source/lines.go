package source

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// lines is a text cut at what YAML takes for line breaks: \n, \r, \r\n, U+0085, U+2028, U+2029.
type lines struct {
	data   []byte // without a byte order mark
	skip   int    // bytes of the byte order mark
	starts []int  // byte offset of each line in data
}

func splitLines(data []byte) lines {
	bare := bytes.TrimPrefix(data, []byte("\ufeff"))
	l := lines{data: bare, skip: len(data) - len(bare), starts: []int{0}}
	for i := 0; i < len(bare); {
		n := breakLength(bare[i:])
		if n == 0 {
			i++
			continue
		}
		i += n
		l.starts = append(l.starts, i)
	}
	return l
}

// breakLength returns the bytes of the line break at the start of b; 0: there is none.
func breakLength(b []byte) int {
	switch {
	case b[0] == '\r' && len(b) > 1 && b[1] == '\n':
		return 2
	case b[0] == '\n', b[0] == '\r':
		return 1
	case b[0] == 0xc2 && len(b) > 1 && b[1] == 0x85:
		return 2
	case b[0] == 0xe2 && len(b) > 2 && b[1] == 0x80 && (b[2] == 0xa8 || b[2] == 0xa9):
		return 3
	}
	return 0
}

func (l lines) count() int { return len(l.starts) }

// text is line n, counted from 1, without its line break; "" beyond the ends.
func (l lines) text(n int) string {
	if n < 1 || n > len(l.starts) {
		return ""
	}
	end := len(l.data)
	if n < len(l.starts) {
		end = l.starts[n]
	}
	line := l.data[l.starts[n-1]:end]
	for n := min(3, len(line)); n > 0; n-- {
		if i := len(line) - n; breakLength(line[i:]) == n {
			return string(line[:i])
		}
	}
	return string(line)
}

// byteOffset returns the offset in the file of a character of a line. Columns beyond the line's end count as
// the end.
func (l lines) byteOffset(line, column int) int {
	if line < 1 || line > len(l.starts) {
		return 0
	}
	return l.skip + l.starts[line-1] + len(runePrefix(l.text(line), column-1))
}

// runePrefix is the first n characters of s, or all.
func runePrefix(s string, n int) string {
	for i := range s {
		if n <= 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// badCharacter finds the first character that no plan can hold. what is "" if there is none.
func (l lines) badCharacter() (line, column int, what string) {
	line, column = 1, 1
	for i := 0; i < len(l.data); {
		r, size := utf8.DecodeRune(l.data[i:])
		switch n := breakLength(l.data[i:]); {
		case n > 0:
			line, column, i = line+1, 1, i+n
			continue
		case r == utf8.RuneError && size == 1:
			return line, column, fmt.Sprintf("byte 0x%02X is not UTF-8", l.data[i])
		case !printable(r):
			return line, column, fmt.Sprintf("character U+%04X is not allowed", r)
		}
		column++
		i += size
	}
	return 0, 0, ""
}

// printable is YAML 1.2's c-printable without line breaks and without the byte order mark inside a text.
func printable(r rune) bool {
	return r == '\t' || r >= 0x20 && r <= 0x7e || r >= 0xa0 && r <= 0xfffd && r != 0xfeff || r >= 0x10000
}
