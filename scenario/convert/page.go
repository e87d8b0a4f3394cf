package convert

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// page is the text of a plan as it grows. Comments of neighbouring lines are aligned.
type page struct{ lines []pageLine }

type pageLine struct{ text, comment string }

// add appends a line; comment may be "".
func (p *page) add(text, comment string) { p.lines = append(p.lines, pageLine{text, comment}) }

// String returns the text.
func (p *page) String() string {
	const widest = 72
	var b strings.Builder
	for i := 0; i < len(p.lines); {
		n := i
		column := 0
		for ; n < len(p.lines) && p.lines[n].text != ""; n++ {
			if w := utf8.RuneCountInString(p.lines[n].text); p.lines[n].comment != "" && w <= widest {
				column = max(column, w)
			}
		}
		for ; i < n; i++ {
			l := p.lines[i]
			b.WriteString(l.text)
			if l.comment != "" {
				gap := max(2, column+2-utf8.RuneCountInString(l.text))
				b.WriteString(strings.Repeat(" ", gap) + "# " + oneLine(l.comment))
			}
			b.WriteByte('\n')
		}
		for ; i < len(p.lines) && p.lines[i].text == ""; i++ {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// oneLine returns text without line breaks, which would end a comment.
func oneLine(text string) string {
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

// scalar writes a text as YAML reads it back, in or out of a flow; a literal ${ stays one.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !slices.Contains(spokenWords, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(escaped(strings.ToValidUTF8(text, "\ufffd")))
}

// escaped writes a text in which a plan reads no variable.
func escaped(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// flow writes "{a: 1, b: 2}" of its members.
func flow(members ...string) string { return "{" + strings.Join(members, ", ") + "}" }

// milliseconds writes a time as a plan does: 5s, 250ms.
func milliseconds(ms int64) string {
	if ms%1000 == 0 && ms > 0 {
		return strconv.FormatInt(ms/1000, 10) + "s"
	}
	return strconv.FormatInt(ms, 10) + "ms"
}

// decimal writes a number without an exponent.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func count(n int64) string { return strconv.FormatInt(n, 10) }
