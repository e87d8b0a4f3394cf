package artifact

import (
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// narrow removes columns until the table fits the terminal with node names cut, if that is enough,
// and returns the names of the removed columns. Files contain all columns.
func (g *grid) narrow(terminal int) (left []string) {
	if terminal <= 0 {
		return nil
	}
	for {
		width := widths(g.rows, g.header)
		width[0] = min(width[0], narrowest)
		at := g.nextToDrop()
		if tableWidth(width) <= terminal || at < 0 {
			return left
		}
		left = append(left, strings.ReplaceAll(g.header[at], "\n", "."))
		g.header = slices.Delete(g.header, at, at+1)
		for i := range g.rows {
			g.rows[i] = slices.Delete(g.rows[i], at, at+1)
		}
	}
}

// nextToDrop returns the column to remove next, -1 for none: first percentiles between the first
// and p99, then server columns, higher percentiles, the load (usually part of the node's name) and
// the count; then from the right.
func (g *grid) nextToDrop() int {
	var percentiles []int
	server := -1
	for i, h := range g.header {
		if strings.HasPrefix(h, "latency\n") {
			percentiles = append(percentiles, i)
		} else if strings.HasPrefix(h, "server.") {
			server = i
		}
	}
	p99 := slices.IndexFunc(percentiles, func(i int) bool { return g.header[i] == "latency\np99" })
	last := len(percentiles) - 1
	switch {
	case p99 > 1:
		return percentiles[1]
	case p99 < 0 && last > 1:
		return percentiles[1]
	case server >= 0:
		return server
	case last > 1:
		return percentiles[last]
	}
	for _, h := range []string{"load", "requests\ncount"} {
		if i := slices.Index(g.header, h); i >= 0 && server < 0 && len(percentiles) > 0 {
			return i
		}
	}
	for i := len(g.header) - 1; i > 0; i-- {
		if g.header[i] != "outcome" {
			return i
		}
	}
	return -1
}

// Fold breaks the lines of a text at spaces so that none is wider than terminal columns; 0: no
// limit. Continuation lines are indented: below the last column if the line begins with columns
// (separated by two or more spaces), else by two more than an indented line. A word that does not
// fit, such as a path, is not broken.
func Fold(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if twwidth.Width(line) > columns {
			lines[i] = foldLine(line, columns)
		}
	}
	return strings.Join(lines, "\n")
}

func foldLine(text string, columns int) string {
	indent := strings.Repeat(" ", hangingIndent(text, columns))
	var lines []string
	line, started := text[:len(text)-len(strings.TrimLeft(text, " "))], false
	for word := range strings.SplitSeq(text[len(line):], " ") {
		switch {
		case !started:
			line, started = line+word, true
		case twwidth.Width(line)+1+twwidth.Width(word) > columns && strings.TrimSpace(line) != "":
			lines = append(lines, strings.TrimRight(line, " "))
			line = indent + word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// hangingIndent returns the column of the continuation of a broken line.
func hangingIndent(line string, columns int) int {
	const gap = "  "
	blank := len(line) - len(strings.TrimLeft(line, " "))
	at := 0
	if blank > 0 {
		at = blank + len(gap)
	}
	for from := blank; ; {
		i := strings.Index(line[from:], gap)
		if i < 0 {
			return at
		}
		from += i
		from += len(line[from:]) - len(strings.TrimLeft(line[from:], " "))
		width := twwidth.Width(line[:from])
		if width > columns/2 {
			return at
		}
		at = width
	}
}
