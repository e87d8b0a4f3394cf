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
// the server says, the tail beyond, the load, which mostly stands in the node's name, and the count.
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
		if i := slices.Index(g.header, h); i >= 0 {
			return i
		}
	}
	return -1
}

// fold breaks a text of words into lines of a terminal, those after the first two columns further in. 0: one line.
func fold(text, indent string, terminal int) string {
	if terminal <= 0 || twwidth.Width(indent+text) <= terminal {
		return indent + text
	}
	var lines []string
	line := indent
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line += word
		case twwidth.Width(line)+1+twwidth.Width(word) > terminal:
			lines = append(lines, line)
			line = indent + "  " + word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}
