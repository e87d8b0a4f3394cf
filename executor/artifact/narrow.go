package artifact

import (
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// narrow leaves out columns until the table is as wide as the terminal once the node's name is cut, if that is enough,
// and gives the names of those left out. The files have all of them.
func (g *grid) narrow(terminal int) (left []string) {
	if terminal <= 0 {
		return nil
	}
	for {
		width := widths(g.rows, g.header)
		width[0] = min(width[0], narrowest)
		at := g.leastWanted()
		if sum(width) <= terminal || at < 0 {
			return left
		}
		left = append(left, strings.ReplaceAll(g.header[at], "\n", "."))
		g.header = slices.Delete(g.header, at, at+1)
		for i := range g.rows {
			g.rows[i] = slices.Delete(g.rows[i], at, at+1)
		}
	}
}

// leastWanted is the column to leave out next; -1 for none. Percentiles between the first and the p99 go first, then what
// the server says, the tail beyond, the load, which mostly stands in the node's name, and the count; then from the right.
func (g *grid) leastWanted() int {
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

// Fold breaks the lines of a text at spaces so that none is wider than a terminal has columns; 0: it has no end. What is broken
// off is indented: below the last column, where the line begins with columns (two spaces or more between them), else by two more
// than the line is, if it is. A word that has no room, such as a path, stays whole.
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
	indent := strings.Repeat(" ", hang(text, columns))
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

// hang is the column at which the rest of a line that is broken goes on.
func hang(line string, columns int) int {
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
