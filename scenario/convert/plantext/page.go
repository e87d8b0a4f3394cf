// Package plantext writes the text of a plan: lines with aligned comments, and values as YAML reads them
// back.
//
// It is not: a reader of plans, and knows none of their keys.
package plantext

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Page is the text of a plan as it grows. Comments of neighbouring lines are aligned.
type Page struct{ Lines []Line }

// Line is a line of a page; its comment may be "".
type Line struct{ Text, Comment string }

// Add appends a line; comment may be "".
func (p *Page) Add(text, comment string) { p.Lines = append(p.Lines, Line{text, comment}) }

// String returns the text.
func (p *Page) String() string {
	const widest = 72
	var b strings.Builder
	for i := 0; i < len(p.Lines); {
		n := i
		column := 0
		for ; n < len(p.Lines) && p.Lines[n].Text != ""; n++ {
			if w := utf8.RuneCountInString(p.Lines[n].Text); p.Lines[n].Comment != "" && w <= widest {
				column = max(column, w)
			}
		}
		for ; i < n; i++ {
			l := p.Lines[i]
			b.WriteString(l.Text)
			if l.Comment != "" {
				gap := max(2, column+2-utf8.RuneCountInString(l.Text))
				b.WriteString(strings.Repeat(" ", gap) + "# " + OneLine(l.Comment))
			}
			b.WriteByte('\n')
		}
		for ; i < len(p.Lines) && p.Lines[i].Text == ""; i++ {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// OneLine returns text without line breaks, which would end a comment.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

var (
	plainScalar = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./-]*$`)
	spokenWords = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
)

// Reserved reports whether a plain word is no text in YAML.
func Reserved(word string) bool { return slices.Contains(spokenWords, strings.ToLower(word)) }

// Scalar writes a text as YAML reads it back, in or out of a flow; a literal ${ stays one.
func Scalar(text string) string {
	if plainScalar.MatchString(text) && !Reserved(text) {
		return text
	}
	return strconv.Quote(Escaped(strings.ToValidUTF8(text, "\ufffd")))
}

// Escaped writes a text in which a plan reads no variable.
func Escaped(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// Flow writes "{a: 1, b: 2}" of its members.
func Flow(members ...string) string { return "{" + strings.Join(members, ", ") + "}" }

// Milliseconds writes a time as a plan does: 5s, 250ms.
func Milliseconds(ms int64) string {
	if ms%1000 == 0 && ms > 0 {
		return strconv.FormatInt(ms/1000, 10) + "s"
	}
	return strconv.FormatInt(ms, 10) + "ms"
}

// Decimal writes a number without an exponent.
func Decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Count writes a whole number.
func Count(n int64) string { return strconv.FormatInt(n, 10) }
