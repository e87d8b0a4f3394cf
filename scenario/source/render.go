package source

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Sources gives the bytes of a file that a position names, nil if they are not at hand.
type Sources func(file string) []byte

const (
	colorReset  = "\x1b[0m"
	colorBold   = "\x1b[1m"
	colorRed    = "\x1b[1;31m"
	colorYellow = "\x1b[1;33m"
	colorBlue   = "\x1b[34m"
)

// Render writes the diagnostics for people: what is wrong, where, the line with the place marked,
// what to do.
//
//	error: `rat` is not a key of load
//	  --> plan.yaml:6:7
//	   |
//	 6 |       rat: 100/s
//	   |       ^^^
//	   = allowed: concurrency, rate
//	   = did you mean `rate`?
func Render(w io.Writer, ds Diagnostics, sources Sources, look Look) error {
	r := renderer{w: bufio.NewWriter(w), Look: look, files: filesOf(sources)}
	for i, d := range ds {
		if i > 0 {
			r.line("")
		}
		r.diagnostic(d)
	}
	return r.w.Flush() //nolint:wrapcheck // the writer is the caller's
}

// Look says how diagnostics are shown.
type Look struct {
	Color   bool
	Columns int // of the terminal, to which lines of a file are cut; 0: it has no end
}

type renderer struct {
	Look
	w     *bufio.Writer
	files func(file string) (lines, bool)
}

// filesOf cuts each file into lines once.
func filesOf(sources Sources) func(file string) (lines, bool) {
	known := map[string]lines{}
	return func(file string) (lines, bool) {
		if l, ok := known[file]; ok {
			return l, true
		}
		if sources == nil {
			return lines{}, false
		}
		data := sources(file)
		if data == nil {
			return lines{}, false
		}
		known[file] = splitLines(data)
		return known[file], true
	}
}

func (r *renderer) line(parts ...string) {
	for _, p := range parts {
		_, _ = r.w.WriteString(p) // bufio keeps the error for Flush
	}
	_ = r.w.WriteByte('\n')
}

func (r *renderer) paint(color, text string) string {
	if !r.Color {
		return text
	}
	return color + text + colorReset
}

func (r *renderer) diagnostic(d Diagnostic) {
	shade := colorRed
	if d.Severity == Warning {
		shade = colorYellow
	}
	r.line(r.paint(shade, string(d.Severity)+":"), " ", r.paint(colorBold, visible(d.Summary)))
	margin := len(strconv.Itoa(d.Pos.Line))
	if d.Pos != (Pos{}) {
		r.line(strings.Repeat(" ", margin), r.paint(colorBlue, "-->"), " ", d.Pos.String())
		r.snippet(d, margin, shade)
	}
	bar := strings.Repeat(" ", margin+1) + r.paint(colorBlue, "=") + " "
	if d.Detail != "" {
		for line := range strings.SplitSeq(d.Detail, "\n") {
			r.line(bar, visible(line))
		}
	}
	if len(d.Allowed) > 0 {
		r.line(bar, "allowed: ", strings.Join(d.Allowed, ", "))
	}
	if d.Nearest != "" {
		r.line(bar, fmt.Sprintf("did you mean `%s`?", d.Nearest))
	}
}

// snippet shows the line and marks the place under it.
func (r *renderer) snippet(d Diagnostic, margin int, shade string) {
	file, ok := r.files(d.Pos.File)
	if d.Hidden || !ok || d.Pos.Line < 1 || d.Pos.Line > file.count() {
		return
	}
	text, column := clip(file.text(d.Pos.Line), d.Pos.Column, r.Columns-margin-len(" |  …"))
	before := runePrefix(text, column-1)
	marked := runePrefix(text[len(before):], max(1, d.Width))
	bar := r.paint(colorBlue, "|")
	pad := strings.Repeat(" ", margin)
	r.line(pad, " ", bar)
	r.line(strings.TrimRight(r.paint(colorBlue, strconv.Itoa(d.Pos.Line))+" "+bar+" "+visible(text), " "))
	r.line(pad, " ", bar, " ", strings.Repeat(" ", cells(visible(before))),
		r.paint(shade, strings.Repeat("^", max(1, cells(visible(marked))))))
}

// clip cuts a long line to the part around a column, of at most room columns where that is known, and
// returns which column that is in it.
func clip(text string, column, room int) (string, int) {
	around := 160
	if room > 0 {
		around = min(around, max(room, 20))
	}
	if len(text) <= around {
		return text, column
	}
	from := max(0, column-1-around*3/8)
	text = text[len(runePrefix(text, from)):]
	part := runePrefix(text, around)
	if len(part) < len(text) {
		part += "…"
	}
	if from == 0 {
		return part, column
	}
	return "…" + part, column - from + 1
}

// visible is text as it can be shown on a terminal: tabs as four blanks, characters that move the
// cursor as themselves in escaped form.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '\n' || strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToGraphic(r), "'"))
		}
	}
	return b.String()
}

// cells counts the columns of a terminal that text takes.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n += cellsOf(r)
	}
	return n
}

// cellsOf counts the columns of a terminal that a character takes: wide East Asian characters and emoji
// two, combining marks none.
func cellsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
