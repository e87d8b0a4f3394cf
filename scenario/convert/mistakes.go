package convert

import (
	"regexp"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// place is an option of the command line: its value and its position.
type place struct {
	value string
	pos   source.Pos
	width int
}

// places returns the options that were given, by each of their names in messages.
func (r *reader) places() map[string]place {
	all := map[string]place{}
	for name, g := range r.seen {
		pos, width := r.position(g.at)
		all[name] = place{g.value, pos, width}
		all[g.String()] = all[name]
	}
	return all
}

var optionWord = regexp.MustCompile(`(?:^|[ ,(])(-{1,2}[A-Za-z][A-Za-z0-9-]*)`)

// Mistakes returns the errors of the plan as mistakes of the command line: each at the option that the
// comment of its line names, or that of the block around it. An error of a line without an option is one of
// the whole command line. Files that are missing here are none: the plan may be run elsewhere.
func (c Converted) Mistakes(plan source.Diagnostics) (all source.Diagnostics) {
	lines := strings.Split(c.Plan, "\n")
	for _, d := range plan {
		if d.Severity != source.Error || d.Code == codeFile {
			continue
		}
		option, at := c.blamed(lines, d)
		if option == "" {
			option, at.pos = "the plan of this command line", source.Pos{File: LineFile, Line: 1, Column: 1}
		}
		found := d
		found.Summary = option + ": " + d.Summary
		all = append(all, found.At("", at.pos, at.width))
	}
	return all.Sorted()
}

// blamed returns the option of a mistake; "": unknown. Of several options of a line it is the one with the
// value that the mistake marks.
func (c Converted) blamed(lines []string, d source.Diagnostic) (option string, at place) {
	if d.Pos.Line < 1 || d.Pos.Line > len(lines) {
		return "", at
	}
	isUnit := func(r rune) bool { return r == '%' || r == '/' || r >= 'a' && r <= 'z' }
	marked := ""
	if text := []rune(lines[d.Pos.Line-1]); d.Pos.Column > 0 && d.Pos.Column-1+d.Width <= len(text) {
		marked = strings.TrimRightFunc(string(text[d.Pos.Column-1:d.Pos.Column-1+d.Width]), isUnit)
	}
	outer := len(lines[d.Pos.Line-1]) + 1
	for i := d.Pos.Line - 1; i >= 0 && outer > 0; i-- {
		indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " -"))
		if indent >= outer || strings.TrimSpace(lines[i]) == "" {
			continue
		}
		outer = indent
		_, comment, _ := strings.Cut(lines[i], "  # ")
		for _, m := range optionWord.FindAllStringSubmatch(comment, -1) {
			p, given := c.places[m[1]]
			if given && (option == "" || marked != "" && strings.Contains(p.value, marked)) {
				option, at = m[1], p
				if marked != "" && strings.Contains(p.value, marked) {
					break
				}
			}
		}
		if option != "" {
			return option, at
		}
	}
	return "", at
}
