package kserve

import (
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// wantedField is a value that a reply must hold:
//
//	path := step { "." step }      step := name of a member | index of a list, from 0
type wantedField struct {
	path  string
	steps []string
	want  any // string, bool, int64, float64, or nil for null
}

func wantedFields(list []backends.Field) []wantedField {
	var out []wantedField
	for _, f := range list {
		out = append(out, wantedField{f.Path, strings.Split(f.Path, "."), f.Want})
	}
	return out
}

// fields holds JSON against the values that are wanted there. The note says what differs.
func (c *comparison) fields(e *expectation, text []byte) (equal bool) {
	for i := range e.fields {
		f := &e.fields[i]
		sc := scanner{b: text}
		if !sc.walk(f.steps) {
			c.note = append(append(append(c.note, "field "...), f.path...), " is missing"...)
			return false
		}
		start := sc.at
		if sc.equals(f.want) && !sc.bad {
			continue
		}
		sc = scanner{b: text, at: start}
		sc.skip()
		c.note = append(append(append(c.note, "field "...), f.path...), " is "...)
		c.note = append(c.note, printable(text[start:sc.at], fieldShown)...)
		c.note = appendWanted(append(c.note, ", want "...), f.want)
		return false
	}
	return true
}

// fieldShown is how much of a field's value a note shows.
const fieldShown = 80

// walk goes to the value that the steps lead to. False: there is none.
func (s *scanner) walk(steps []string) bool {
	for _, step := range steps {
		found := false
		switch s.peek() {
		case '{':
			for s.begin('{'); s.more('}'); s.skip() {
				if found = string(s.key()) == step; found {
					break
				}
			}
		case '[':
			index, err := strconv.Atoi(step)
			for s.begin('['); err == nil && s.more(']'); s.skip() {
				if found = index == 0; found {
					break
				}
				index--
			}
		}
		if !found || s.bad {
			return false
		}
	}
	s.peek()
	return !s.bad && s.at < len(s.b)
}

// equals reads a value and reports whether it is want. Numbers are equal by value: 1 is 1.0.
func (s *scanner) equals(want any) bool {
	if text, is := want.(string); is {
		if s.peek() != '"' {
			return false
		}
		got, escaped := s.text()
		if escaped {
			got = unescape(got)
		}
		return string(got) == text
	}
	switch s.peek() {
	case '"', '{', '[':
		return false
	}
	word := s.scalar()
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

func appendWanted(dst []byte, want any) []byte {
	switch v := want.(type) {
	case string:
		return strconv.AppendQuote(dst, v[:min(len(v), fieldShown)])
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	}
	return append(dst, "null"...)
}
