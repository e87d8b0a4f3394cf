// Package jsonscan reads JSON in place, one token at a time, and allocates nothing but for escapes.
//
//	for s.Enter('{'); s.More('}'); {
//		switch key := s.Key(); string(key) {
//		case "outputs": …
//		default: s.Skip()
//		}
//	}
//
// After the first mistake OK is false and all calls do nothing. NaN, Infinity and -Infinity count as
// numbers, as Triton, Python and perf_analyzer write them.
package jsonscan

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// Scanner reads one text. The zero Scanner reads the empty one.
type Scanner struct {
	b       []byte
	at      int
	first   bool // no member of the innermost object or array has been read yet
	lenient bool
	texts   bool // Count has met texts or objects
	problem problem
	want    byte  // for expected and notMember
	from    int   // of the string with a broken escape
	err     error // of Fail
}

// Strict returns a Scanner that takes valid JSON only.
func Strict(text []byte) Scanner { return Scanner{b: text} }

// Lenient returns a Scanner that takes every valid text and some others: it does not look inside
// numbers, and not at escapes of strings that it skips.
func Lenient(text []byte) Scanner { return Scanner{b: text, lenient: true} }

// MaxDepth bounds the nesting of values that are skipped.
const MaxDepth = 64

// OK reports whether everything so far could be read.
func (s *Scanner) OK() bool { return s.problem == none }

// Offset returns the place of the next byte to be read.
func (s *Scanner) Offset() int { return s.at }

// Since returns the text from an offset to the next byte to be read.
func (s *Scanner) Since(start int) []byte { return s.b[start:s.at] }

// Rest returns the unread text, without leading white space.
func (s *Scanner) Rest() []byte {
	s.Peek()
	return s.b[min(s.at, len(s.b)):]
}

// Left returns the number of unread bytes.
func (s *Scanner) Left() int { return len(s.b) - s.at }

// Take reads n bytes that are not JSON; n is at most Left.
func (s *Scanner) Take(n int) []byte {
	s.at += n
	return s.b[s.at-n : s.at]
}

// Peek skips white space and returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
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

func (s *Scanner) take(c byte) bool {
	if s.problem != none {
		return false
	}
	if s.Peek() != c || s.at >= len(s.b) {
		s.problem, s.want = expected, c
		return false
	}
	s.at++
	return true
}

// Enter reads the opening bracket of an object or array.
func (s *Scanner) Enter(bracket byte) { s.first = s.take(bracket) }

// More goes to the next member, or reads the closing bracket and returns false.
func (s *Scanner) More(closing byte) bool {
	if s.problem != none {
		return false
	}
	switch c := s.Peek(); {
	case c == closing:
		s.at++
		s.first = false
		return false
	case s.first: // whoever reads the member refuses a comma
	case c != ',':
		s.problem, s.want = notMember, closing
		return false
	default:
		s.at++
	}
	s.first = false
	return true
}

// Key reads a member's name and the colon. It allocates if the name has escapes.
func (s *Scanner) Key() []byte {
	name := s.Text()
	s.take(':')
	return name
}

// Text reads a string. It is part of the text unless it has escapes; broken ones leave nothing, and
// are a mistake to a strict Scanner.
func (s *Scanner) Text() []byte {
	raw, escaped := s.Raw()
	if !escaped {
		return raw
	}
	text, ok := Unescape(raw)
	if !ok && !s.lenient {
		s.problem, s.from = escape, s.at-len(raw)-2
	}
	return text
}

// Raw reads a string and returns it without quotes, with its escapes as they are.
func (s *Scanner) Raw() (raw []byte, escaped bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.at
	for ; s.at < len(s.b); s.at++ {
		s.at += plain(s.b[s.at:])
		if s.at == len(s.b) {
			break
		}
		switch c := s.b[s.at]; {
		case c == '"':
			s.at++
			return s.b[start : s.at-1], escaped
		case c == '\\':
			escaped = true
			s.at++
		case c < ' ':
			s.problem = control
			return nil, false
		}
	}
	s.at = min(s.at, len(s.b))
	s.problem = unended
	return nil, false
}

// plain returns the number of bytes at the start of b that are neither a quote, a backslash nor a control
// character. It reads eight at a time: a byte of these expressions has its high bit set where that of the
// text is such a character, and above it perhaps others, so the lowest one counts.
func plain(b []byte) (n int) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(b)-n >= 8; n += 8 {
		v := binary.LittleEndian.Uint64(b[n:])
		quote, slash := v^ones*'"', v^ones*'\\'
		if found := (v-ones*' ')&^v | (quote-ones)&^quote | (slash-ones)&^slash; found&high != 0 {
			return n + bits.TrailingZeros64(found&high)/8
		}
	}
	for n < len(b) && b[n] != '"' && b[n] != '\\' && b[n] >= ' ' {
		n++
	}
	return n
}

// Unescape returns a string, given without quotes, with its escapes undone. It allocates.
func Unescape(raw []byte) (text []byte, ok bool) {
	quoted := append(append(append(make([]byte, 0, len(raw)+2), '"'), raw...), '"')
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return nil, false
	}
	return []byte(out), true
}

// Word reads a number, true, false or null; a lenient Scanner takes any word.
func (s *Scanner) Word() []byte {
	if s.problem != none {
		return nil
	}
	s.Peek()
	start := s.at
	for s.at < len(s.b) && inWord[s.b[s.at]] {
		s.at++
	}
	w := s.b[start:s.at]
	if s.lenient && len(w) > 0 {
		return w
	}
	if !s.lenient && (s.at == len(s.b) || s.b[s.at] != '_') && (IsNumber(w) || isName(w)) {
		return w
	}
	s.at = start
	s.problem = notValue
	return nil
}

// Value reads any value and returns its text.
func (s *Scanner) Value() []byte {
	s.Peek()
	start := s.at
	s.skip(0)
	if s.problem != none {
		return nil
	}
	return s.b[start:s.at]
}

// Skip reads any value.
func (s *Scanner) Skip() { s.skip(0) }

func (s *Scanner) skip(depth int) {
	if s.problem == none && depth > MaxDepth {
		s.problem = nested
	}
	if s.problem != none {
		return
	}
	switch s.Peek() {
	case '{':
		for s.Enter('{'); s.More('}'); {
			s.skipText()
			s.take(':')
			s.skip(depth + 1)
		}
	case '[':
		for s.Enter('['); s.More(']'); {
			s.skip(depth + 1)
		}
	case '"':
		s.skipText()
	default:
		if w := s.Word(); s.lenient && len(w) > 0 && max(w[0], w[len(w)-1]) > '9' && !isName(w) {
			s.problem = notValue
		}
	}
}

func (s *Scanner) skipText() {
	if s.lenient {
		s.Raw()
	} else {
		s.Text()
	}
}

// AtEnd reports whether all was read and only white space is left.
func (s *Scanner) AtEnd() bool {
	s.Peek()
	return s.problem == none && s.at >= len(s.b)
}

// End makes it a mistake if more than white space is left.
func (s *Scanner) End() {
	if s.problem == none && !s.AtEnd() {
		s.problem = trailing
	}
}
