package kserve

import (
	"encoding/json"
	"unicode/utf8"
)

// scanner reads JSON in place, one token at a time, and allocates nothing. It takes every valid text, and some that are
// not (it is lenient inside numbers, and takes NaN, Infinity and -Infinity, as Triton and Python write them); after the first
// thing that it cannot read bad is set and all calls do nothing.
//
//	for s.begin('{'); s.more('}'); {
//		switch key := s.key(); string(key) {
//		case "outputs": …
//		default: s.skip()
//		}
//	}
type scanner struct {
	b     []byte
	at    int
	first bool // no member of the innermost object or array has been read yet
	bad   bool
	texts bool // count has met texts or objects
}

// maxDepth bounds nesting; replies nest as deep as tensors have dimensions.
const maxDepth = 64

// peek skips white space and gives the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.bad || s.peek() != c || s.at >= len(s.b) {
		s.bad = true
		return false
	}
	s.at++
	return true
}

// begin enters an object or array.
func (s *scanner) begin(c byte) { s.first = s.take(c) }

// more goes to the next member, or leaves at closing.
func (s *scanner) more(closing byte) bool {
	if s.bad {
		return false
	}
	if s.peek() == closing {
		s.take(closing)
		s.first = false
		return false
	}
	if !s.first && !s.take(',') {
		return false
	}
	s.first = false
	return !s.bad
}

// key reads a member's name and the colon, undone of escapes.
func (s *scanner) key() []byte {
	text, escaped := s.text()
	s.take(':')
	if escaped {
		return unescape(text)
	}
	return text
}

// text reads a string and gives it without quotes, escapes as they are.
func (s *scanner) text() (text []byte, escaped bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.at
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; {
		case c == '"':
			s.at++
			return s.b[start : s.at-1], escaped
		case c == '\\':
			escaped = true
			s.at++
		case c < ' ':
			s.bad = true
			return nil, false
		}
	}
	s.bad = true
	return nil, false
}

// unescape undoes escapes; a broken one leaves nothing. It allocates, as names and strings seldom have any.
func unescape(text []byte) []byte {
	quoted := append(append([]byte{'"'}, text...), '"')
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return nil
	}
	return []byte(out)
}

// scalar reads a number, true, false, null, NaN or ±Infinity.
func (s *scanner) scalar() []byte {
	s.peek()
	start := s.at
	for s.at < len(s.b) {
		c := s.b[s.at]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '+' && c != '.' {
			break
		}
		s.at++
	}
	if s.bad = s.bad || start == s.at; s.bad {
		return nil
	}
	return s.b[start:s.at]
}

// skip passes over any value.
func (s *scanner) skip() { s.skipAt(0) }

func (s *scanner) skipAt(depth int) {
	if depth > maxDepth {
		s.bad = true
	}
	if s.bad {
		return
	}
	switch s.peek() {
	case '{':
		for s.begin('{'); s.more('}'); {
			s.key()
			s.skipAt(depth + 1)
		}
	case '[':
		for s.begin('['); s.more(']'); {
			s.skipAt(depth + 1)
		}
	case '"':
		s.text()
	default:
		if word := s.scalar(); len(word) > 0 && max(word[0], word[len(word)-1]) > '9' {
			switch string(word) {
			case "true", "false", "null", "NaN", "Infinity", "-Infinity":
			default:
				s.bad = true
			}
		}
	}
}

// count passes over a tensor's values, in lists as deep as they go, and says how many there are; -1: it is no list.
func (s *scanner) count() int64 {
	if s.peek() != '[' {
		s.skip()
		return -1
	}
	return s.countAt(0)
}

func (s *scanner) countAt(depth int) (n int64) {
	if depth > maxDepth {
		s.bad = true
	}
	s.begin('[')
	for n = s.numbers(); s.more(']'); {
		c := s.peek()
		if c == '[' {
			n += s.countAt(depth + 1)
			continue
		}
		s.texts = s.texts || c == '"' || c == '{'
		s.skipAt(depth)
		n++
	}
	return n
}

// numbers passes over the plain numbers that a list begins with, and says how many: most data are nothing else.
func (s *scanner) numbers() (n int64) {
	if s.bad {
		return 0
	}
	b := s.b
	for at := s.at; ; n++ {
		if n > 0 {
			if at++; at < len(b) && b[at] == ' ' {
				at++
			}
		}
		from := at
		for at < len(b) && inNumber[b[at]] {
			at++
		}
		if at == from || at == len(b) || !digit(b[at-1]) || b[from] != '-' && !digit(b[from]) || b[at] != ',' && b[at] != ']' {
			return n
		}
		s.at, s.first = at, false
		if b[at] == ']' {
			return n + 1
		}
	}
}

func digit(c byte) bool { return c-'0' <= 9 }

// inNumber are the bytes of which numbers are made.
var inNumber = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'-': true, '+': true, '.': true, 'e': true, 'E': true,
}

// dimension reads a number that a shape can have, or passes over another value and gives -1.
func (s *scanner) dimension() int64 {
	try := *s
	if n := try.number(); !try.bad {
		*s = try
		return n
	}
	s.skip()
	return -1
}

// end reports whether nothing but white space is left.
func (s *scanner) end() bool {
	s.peek()
	return !s.bad && s.at == len(s.b)
}

// number reads a number of at most 19 digits that is not negative.
func (s *scanner) number() (n int64) {
	word := s.scalar()
	if len(word) == 0 || len(word) > 18 {
		s.bad = true
		return 0
	}
	for _, c := range word {
		if c < '0' || c > '9' {
			s.bad = true
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// printable cuts b for a note, on the boundary of a character.
func printable(b []byte, most int) []byte {
	if len(b) <= most {
		return b
	}
	for most > 0 && !utf8.RuneStart(b[most]) {
		most--
	}
	return b[:most]
}
