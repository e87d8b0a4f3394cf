package jsonscan

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// valueShown is the number of bytes of a value in a message.
const valueShown = 80

// AppendMismatch appends how the value at a path of a JSON text differs from want, a string, bool,
// int64, float64 or nil for null; nothing if it is equal. The path to a value is
//
//	path := step { "." step }      step := name of a member | index of a list, from 0
func AppendMismatch(dst, text []byte, path string, want any) []byte {
	sc := Lenient(text)
	if !sc.Find(path) {
		return fmt.Appendf(dst, "field %s is missing", path)
	}
	found := sc
	if sc.Equals(want) && sc.OK() {
		return dst
	}
	start := found.Offset()
	found.Skip()
	return fmt.Appendf(dst, "field %s is %s, want %s", path, shown(found.Since(start)), wanted(want))
}

// Find goes to the value that a path leads to. It returns false if there is none.
func (s *Scanner) Find(path string) bool {
	for more := true; more; {
		var step string
		step, path, more = strings.Cut(path, ".")
		found := false
		switch s.Peek() {
		case '{':
			for s.Enter('{'); s.More('}'); s.Skip() {
				if found = string(s.Key()) == step; found {
					break
				}
			}
		case '[':
			index, err := strconv.Atoi(step)
			for s.Enter('['); err == nil && s.More(']'); s.Skip() {
				if found = index == 0; found {
					break
				}
				index--
			}
		}
		if !found || !s.OK() {
			return false
		}
	}
	return s.OK() && !s.AtEnd()
}

// Equals reads a value and reports whether it is want. Numbers are equal by value: 1 is 1.0.
func (s *Scanner) Equals(want any) bool {
	if text, is := want.(string); is {
		if s.Peek() != '"' {
			return false
		}
		return string(s.Text()) == text
	}
	switch s.Peek() {
	case '"', '{', '[':
		return false
	}
	word := s.Word()
	switch v := want.(type) {
	case bool:
		return string(word) == strconv.FormatBool(v)
	case int64:
		if n, err := strconv.ParseInt(string(word), 10, 64); err == nil {
			return n == v
		}
		f, err := strconv.ParseFloat(string(word), 64)
		return err == nil && f == float64(v)
	case float64:
		f, err := strconv.ParseFloat(string(word), 64)
		return err == nil && f == v
	}
	return string(word) == "null"
}

// shown cuts a value for a message, on the boundary of a character.
func shown(b []byte) string {
	n := min(len(b), valueShown)
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n])
}

func wanted(want any) string {
	switch v := want.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v[:min(len(v), valueShown)])
	}
	return fmt.Sprint(want)
}
