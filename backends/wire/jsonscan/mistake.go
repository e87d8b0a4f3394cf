package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// problem is the first mistake; the words for it are made only when they are read.
type problem uint8

const (
	none      problem = iota
	failed            // Fail: see Scanner.err
	expected          // another byte than want
	notMember         // neither a comma nor the closing bracket want
	notValue
	control
	unended
	escape
	nested
	trailing
)

// Fail makes it a mistake that the reader of the values has found. The first mistake counts.
func (s *Scanner) Fail(format string, args ...any) {
	if s.problem == none {
		s.problem, s.err = failed, fmt.Errorf(format, args...)
	}
}

// Reject is Fail for a reader that needs no words. It allocates nothing.
func (s *Scanner) Reject() {
	if s.problem == none {
		s.problem = notValue
	}
}

// Err returns the first mistake without its place; nil if there is none.
func (s *Scanner) Err() error {
	switch s.problem {
	case none:
		return nil
	case expected:
		return fmt.Errorf("found %s, want %q", s.Found(), string(s.want))
	case notMember:
		return fmt.Errorf("found %s, want \",\" or %q", s.Found(), string(s.want))
	case notValue:
		end := s.at
		for end < len(s.b) && (inWord[s.b[end]] || s.b[end] == '_') {
			end++
		}
		if end == s.at {
			return fmt.Errorf("found %s, want a value", s.Found())
		}
		return fmt.Errorf("%q is no value", string(s.b[s.at:min(end, s.at+40)]))
	case control:
		return errors.New("a control character inside a string")
	case unended:
		return errors.New("a string does not end")
	case escape:
		return fmt.Errorf("a string has a broken escape: %.40q", s.b[s.from:s.at])
	case nested:
		return fmt.Errorf("lists and maps are nested deeper than %d", MaxDepth)
	case trailing:
		return fmt.Errorf("%s after the end of the value", s.Found())
	default:
		return s.err
	}
}

// Mistake returns Err with its line and column.
func (s *Scanner) Mistake() error {
	err := s.Err()
	if err == nil {
		return nil
	}
	before := s.b[:min(s.at, len(s.b))]
	line, column := bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// Found names the next byte for a message.
func (s *Scanner) Found() string {
	if s.at >= len(s.b) {
		return "the end"
	}
	return fmt.Sprintf("%q", string(s.b[s.at]))
}

// Kind names the kind of a valid value for a message.
func Kind(text []byte) string {
	switch {
	case len(text) == 0:
		return "nothing"
	case text[0] == '{':
		return "a map"
	case text[0] == '[':
		return "a list"
	case text[0] == '"':
		return "a string"
	case text[0] == 't', text[0] == 'f':
		return "a bool"
	case text[0] == 'n':
		return "null"
	case inWord[text[0]] || text[0] == '_':
		return "a number"
	}
	return strconv.Quote(string(text[:1]))
}
