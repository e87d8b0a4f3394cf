package kserve

import (
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// wantedField is an expected value of a reply:
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

// fields compares values in the JSON text with the expected ones. The note describes the first
// difference.
func (c *comparison) fields(e *expectation, text []byte) (equal bool) {
	for i := range e.fields {
		f := &e.fields[i]
		sc := jsonscan.Lenient(text)
		if !walk(&sc, f.steps) {
			c.note = append(append(append(c.note, "field "...), f.path...), " is missing"...)
			return false
		}
		found := sc
		if equals(&sc, f.want) && sc.OK() {
			continue
		}
		start := found.Offset()
		found.Skip()
		c.note = append(append(append(c.note, "field "...), f.path...), " is "...)
		c.note = append(c.note, printable(found.Since(start), fieldShown)...)
		c.note = appendWanted(append(c.note, ", want "...), f.want)
		return false
	}
	return true
}

// fieldShown is the number of bytes of a field's value in a note.
const fieldShown = 80

// walk goes to the value that the steps lead to. It returns false if there is none.
func walk(s *jsonscan.Scanner, steps []string) bool {
	for _, step := range steps {
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

// equals reads a value and reports whether it is want. Numbers are equal by value: 1 is 1.0.
func equals(s *jsonscan.Scanner, want any) bool {
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
