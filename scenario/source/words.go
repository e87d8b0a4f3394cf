package source

import (
	"fmt"
	"strings"
)

// Short is a position in the plan without the file's name, or one on the command line with it.
func Short(p Pos) string {
	if strings.HasPrefix(p.File, "--") {
		return p.String()
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// QuoteAll joins words: "a", "b" and "c".
func QuoteAll(words []string, last string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" " + last + " ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", w)
	}
	return b.String()
}
