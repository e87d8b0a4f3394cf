package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// cursor reads JSON in place, a value at a time, strictly: what it passes over is valid JSON, except that NaN, Infinity
// and -Infinity count as numbers, as perf_analyzer's files may hold them. After the first mistake err is set, at is its
// place, and all calls do nothing.
//
//	for c.open('{'); c.more('}'); {
//		switch key := c.key(); string(key) {
//		case "data": …
//		default: c.skip()
//		}
//	}
type cursor struct {
	b     []byte
	at    int
	first bool // no member of the innermost map or list has been read yet
	err   error
}

// maxNesting bounds lists and maps inside each other.
const maxNesting = 64

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// peek skips white space and gives the next byte, 0 at the end.
func (c *cursor) peek() byte {
	for ; c.at < len(c.b); c.at++ {
		if b := c.b[c.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

// want reads one byte.
func (c *cursor) want(b byte) bool {
	if c.err != nil {
		return false
	}
	if got := c.peek(); got != b || c.at >= len(c.b) {
		c.fail("%s where %q must stand", c.found(), string(b))
		return false
	}
	c.at++
	return true
}

// found names what stands at the cursor.
func (c *cursor) found() string {
	if c.at >= len(c.b) {
		return "the end"
	}
	return fmt.Sprintf("%q", string(c.b[c.at]))
}

// open enters a map or list.
func (c *cursor) open(b byte) { c.first = c.want(b) }

// more goes to the next member, or leaves at the closing bracket.
func (c *cursor) more(closing byte) bool {
	if c.err != nil {
		return false
	}
	switch c.peek() {
	case closing:
		c.at++
		c.first = false
		return false
	case ',':
		if c.first {
			break // said by whoever reads the member
		}
		c.at++
		c.peek()
		return true
	default:
		if !c.first {
			c.fail("%s where \",\" or %q must stand", c.found(), string(closing))
			return false
		}
	}
	c.first = false
	return true
}

// key reads a member's name and the colon.
func (c *cursor) key() []byte {
	name := c.text()
	c.want(':')
	return name
}

// text reads a string. It is part of b unless it holds escapes.
func (c *cursor) text() []byte {
	if !c.want('"') {
		return nil
	}
	start, escaped := c.at, false
	for ; c.at < len(c.b); c.at++ {
		switch b := c.b[c.at]; {
		case b == '"':
			c.at++
			if raw := c.b[start : c.at-1]; !escaped {
				return raw
			}
			return c.unescape(c.b[start-1 : c.at])
		case b == '\\':
			escaped = true
			c.at++
		case b < ' ':
			c.fail("a control character inside a string")
			return nil
		}
	}
	c.at = min(c.at, len(c.b))
	c.fail("a string does not end")
	return nil
}

// unescape undoes the escapes of a string in its quotes.
func (c *cursor) unescape(quoted []byte) []byte {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		c.fail("a string has a broken escape: %.40q", quoted)
		return nil
	}
	return []byte(s)
}

// word reads a number, true, false, null, NaN, Infinity or -Infinity.
func (c *cursor) word() []byte {
	if c.err != nil {
		return nil
	}
	c.peek()
	start := c.at
	for c.at < len(c.b) && wordByte[c.b[c.at]] {
		c.at++
	}
	w := c.b[start:c.at]
	if isNumber(w) {
		return w
	}
	switch string(w) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return w
	}
	c.at = start
	if len(w) == 0 {
		c.fail("%s where a value must stand", c.found())
	} else {
		c.fail("%q is no value", string(w[:min(len(w), 40)]))
	}
	return nil
}

// wordByte are the bytes that words are made of.
var wordByte = func() (set [256]bool) {
	for _, c := range "0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_" {
		set[c] = true
	}
	return set
}()

// isNumber reports whether w is a number as JSON writes it.
func isNumber(w []byte) bool {
	i := 0
	digits := func() bool {
		start := i
		for i < len(w) && w[i] >= '0' && w[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(w) && w[i] == '-' {
		i++
	}
	if i < len(w) && w[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(w) && w[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(w) && (w[i] == 'e' || w[i] == 'E') {
		if i++; i < len(w) && (w[i] == '+' || w[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(w)
}

// value passes over any value and gives its text.
func (c *cursor) value() []byte {
	c.peek()
	start := c.at
	c.pass(0)
	if c.err != nil {
		return nil
	}
	return c.b[start:c.at]
}

func (c *cursor) skip() { c.pass(0) }

func (c *cursor) pass(depth int) {
	if depth > maxNesting {
		c.fail("lists and maps are nested deeper than %d", maxNesting)
	}
	if c.err != nil {
		return
	}
	switch c.peek() {
	case '{':
		for c.open('{'); c.more('}'); {
			c.key()
			c.pass(depth + 1)
		}
	case '[':
		for c.open('['); c.more(']'); {
			c.pass(depth + 1)
		}
	case '"':
		c.text()
	default:
		c.word()
	}
}

// over reports whether nothing but white space is left.
func (c *cursor) over() bool {
	c.peek()
	return c.at >= len(c.b)
}

// end wants nothing but white space to be left.
func (c *cursor) end() {
	if c.err == nil && !c.over() {
		c.fail("%s after the end of the value", c.found())
	}
}

// kind names what the text of a valid value is.
func kind(text []byte) string {
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
	case wordByte[text[0]]:
		return "a number"
	}
	return strconv.Quote(string(text[:1]))
}

// position says where in data an offset is.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset, 0), len(data))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// mistake is the cursor's error with its place.
func (c *cursor) mistake() error {
	if c.err == nil {
		return nil
	}
	line, column := position(c.b, c.at)
	return fmt.Errorf("line %d, column %d: %w", line, column, c.err)
}
