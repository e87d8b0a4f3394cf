package source

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// valuePos returns the place at which a value itself begins. The library gives the place of an anchor
// or tag before it.
func (p *parser) valuePos(y *yaml.Node) Pos {
	pos := p.inside(Pos{File: p.file, Line: y.Line, Column: y.Column})
	if y.Anchor == "" && y.Style&yaml.TaggedStyle == 0 || y.Kind == yaml.AliasNode {
		return pos
	}
	c := cursor{lines: p.lines, line: y.Line, rest: p.lineRunes(y.Line)}
	c.skip(y.Column - 1)
	for {
		c.skipBlanks()
		switch r, ok := c.peek(); {
		case ok && (r == '&' || r == '!'):
			for r, ok := c.peek(); ok && !strings.ContainsRune(" \t,[]{}", r); r, ok = c.peek() {
				c.skip(1)
			}
		case (!ok || r == '#') && c.line < p.lines.count():
			c.nextLine(0)
		case !ok || r == '#':
			return pos
		default:
			return c.pos(p.file)
		}
	}
}

// runs finds the places of the characters of a scalar by reading text and source side by side. It is nil
// if the text is in one piece. The place of a character written as an escape is that of its backslash.
func (p *parser) runs(n *Node) []Run {
	c := cursor{lines: p.lines, line: n.Pos.Line, rest: p.lineRunes(n.Pos.Line)}
	c.skip(n.Pos.Column - 1)
	var quote rune
	indent := 0
	switch {
	case n.Block:
		indent = p.blockIndent(n)
		c.rest = nil
	case n.Quoted:
		quote, _ = c.peek()
		c.skip(1)
	}
	text := []rune(n.Text)
	if !n.Block && len(text) <= len(c.rest) && slices.Equal(c.rest[:len(text)], text) {
		return nil
	}
	if n.Block && len(text) > 0 && text[0] != '\n' {
		c.nextLine(indent)
	}
	return c.match(text, quote, indent, p.file)
}

// blockIndent counts the blanks before the text of a block scalar: those of its first line that
// is not blank, or of its text if that begins with blanks itself (an indentation indicator says so).
func (p *parser) blockIndent(n *Node) int {
	for line := n.Pos.Line + 1; line <= p.lines.count(); line++ {
		text := p.lines.text(line)
		if strings.TrimSpace(text) == "" {
			continue
		}
		first := strings.TrimLeft(n.Text, "\n")
		own := len(first) - len(strings.TrimLeft(first, " "))
		return max(0, len(text)-len(strings.TrimLeft(text, " "))-own)
	}
	return 0
}

// cursor is a place in the source.
type cursor struct {
	lines lines
	line  int    // counted from 1
	past  int    // characters of the line before rest
	rest  []rune // of the line
}

func (c *cursor) pos(file string) Pos { return Pos{File: file, Line: c.line, Column: c.past + 1} }

func (c *cursor) peek() (rune, bool) {
	if len(c.rest) == 0 {
		return 0, false
	}
	return c.rest[0], true
}

func (c *cursor) skip(n int) {
	n = min(n, len(c.rest))
	c.past, c.rest = c.past+n, c.rest[n:]
}

func (c *cursor) skipBlanks() {
	for r, ok := c.peek(); ok && (r == ' ' || r == '\t'); r, ok = c.peek() {
		c.skip(1)
	}
}

// nextLine goes to the next line that is not blank, behind indent characters.
func (c *cursor) nextLine(indent int) {
	for c.line < c.lines.count() {
		c.line++
		c.past, c.rest = 0, []rune(c.lines.text(c.line))
		if strings.TrimSpace(string(c.rest)) != "" {
			break
		}
	}
	c.skip(indent)
}

// match pairs text with source. quote is the quotation mark, 0 for plain and block scalars.
func (c *cursor) match(text []rune, quote rune, indent int, file string) []Run {
	var runs []Run
	next := Pos{} // place of the next character if it follows the one before
	for i := 0; i < len(text); i++ {
		width := 1
		if quote == '"' {
			c.continued()
		}
		if c.folds(text[i], indent == 0) {
			for i+1 < len(text) && text[i] == '\n' && text[i+1] == '\n' {
				i++
			}
			c.nextLine(indent)
			if indent == 0 {
				c.skipBlanks()
			}
			next = Pos{}
			continue
		}
		if r, ok := c.peek(); !ok || r != text[i] || r == quote || r == '\\' && quote == '"' {
			if width = c.escape(quote); width == 0 {
				return runs // not understood: the rest counts as following the last run
			}
		}
		if at := c.pos(file); at != next {
			runs = append(runs, Run{Offset: i, Pos: at})
		}
		c.skip(width)
		next = c.pos(file)
		if width > 1 {
			next = Pos{}
		}
	}
	return runs
}

// folds reports whether character r of the text is the line break at c. Flow scalars may have blanks
// before it.
func (c *cursor) folds(r rune, flow bool) bool {
	if r != ' ' && r != '\n' {
		return false
	}
	return len(c.rest) == 0 || flow &&
		!slices.ContainsFunc(c.rest, func(r rune) bool { return r != ' ' && r != '\t' })
}

// continued skips a backslash at the end of a line of a double-quoted scalar, which means nothing.
func (c *cursor) continued() {
	if len(c.rest) == 1 && c.rest[0] == '\\' {
		c.nextLine(0)
		c.skipBlanks()
	}
}

// escape counts the characters of source that make one of the text here; 0: they make none.
func (c *cursor) escape(quote rune) int {
	if len(c.rest) < 2 {
		return 0
	}
	switch {
	case quote == '\'' && c.rest[0] == '\'' && c.rest[1] == '\'':
		return 2
	case quote != '"' || c.rest[0] != '\\':
		return 0
	}
	switch c.rest[1] {
	case 'x':
		return 4
	case 'u':
		return 6
	case 'U':
		return 10
	}
	return 2
}
