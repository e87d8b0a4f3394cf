package source

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The library says where a mistake is in words only: "yaml: line 7: did not find expected key". Three
// things are wrong with that and undone here. It counts lines from 0 where its parser complains, from
// 1 where its scanner does. It names the start of the map, list or string that it could not finish,
// unless that is line 1, then the place where it gave up: so the text is read again with one line more
// before it. And for blocks that start is of no use to anybody.

var tabbed = regexp.MustCompile(`^ *\t`)

var errorText = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// late lists the messages that name the start of a block instead of the place of the mistake.
var late = []string{
	"did not find expected key", "did not find expected '-' indicator", "did not find expected node content",
	"did not find expected <document start>",
}

// unfinished lists the messages about a flow map or list, which name its start.
var unfinished = []string{"did not find expected ',' or ']'", "did not find expected ',' or '}'"}

// syntax says what is wrong with the text.
func (p *parser) syntax(err error) Diagnostic {
	line, message := splitError(err)
	if again := failure(append([]byte("#\n"), p.lines.data...)); again != nil {
		line, message = splitError(again)
		line-- // the line that was added
	}
	d := Errorf("bad-yaml", "this cannot be read as YAML: %s", message)
	switch {
	case slices.Contains(late, message):
		line = p.firstLineThatFails(message)
	case slices.Contains(unfinished, message):
		line++
	case strings.HasPrefix(message, "unknown anchor '"):
		name := strings.Split(message, "'")[1]
		return Errorf("unknown-anchor", "there is no anchor &%s before this alias", name).
			AtKey("", p.find(regexp.MustCompile(`\*`+regexp.QuoteMeta(name)+`\b`), 1), "*"+name)
	}
	line = max(1, min(line, p.lines.count()))
	text := p.lines.text(line)
	d.Pos = Pos{
		File: p.file, Line: line,
		Column: 1 + len([]rune(text)) - len([]rune(strings.TrimLeft(text, " \t"))),
	}
	p.explain(d, message, text)
	return *d
}

// blockMark is a > or | that begins a value.
var blockMark = regexp.MustCompile(`(?:^\s*|:\s+|-\s+)[>|]`)

func splitError(err error) (line int, message string) {
	m := errorText.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, strings.TrimPrefix(err.Error(), "yaml: ")
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// explain adds what the writer probably meant, and marks the exact place where it can be found.
func (p *parser) explain(d *Diagnostic, message, text string) {
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	switch {
	case strings.Contains(indent, "\t"), strings.Contains(message, "tab character"):
		d.Code, d.Summary = "tab-indentation", "a tab is used for indentation"
		d.Detail = "YAML indents with spaces only."
		d.Pos, d.Width = p.find(tabbed, d.Pos.Line), 1
		d.Pos.Column += len(tabbed.FindString(p.lines.text(d.Pos.Line))) - 1
	case slices.Contains(unfinished, message):
		p.explainFlow(d, text)
	case message == "found unexpected end of stream":
		d.Summary = "a quotation mark is not closed"
		d.mark(text, strings.IndexAny(text, `"'`))
	case strings.Contains(message, "cannot start any token"):
		d.Detail = "Text that begins with one of % @ ` needs quotes."
		d.mark(text, strings.IndexAny(text, "%@`"))
	case message == "did not find expected comment or line break":
		d.Detail = "Text that begins with > or | needs quotes. A condition begins with what is measured, " +
			"such as latency.p99 < 5ms."
		if at := blockMark.FindStringIndex(text); at != nil {
			d.mark(text, at[1]-1)
		}
	case strings.Contains(message, "mapping values are not allowed"):
		d.Detail = "Text that contains `: ` needs quotes; a map begins on a line of its own."
		d.mark(text, strings.LastIndex(text, ": "))
	case strings.Contains(message, "could not find expected ':'"):
		d.Detail = "A key needs a colon and a blank after it."
	case slices.Contains(late, message):
		d.Detail = "Keys of one map, and items of one list, begin in the same column; look at the " +
			"indentation here and above."
	}
}

// explainFlow looks for ${…} without quotes, which YAML takes for a $ and a map.
func (p *parser) explainFlow(d *Diagnostic, text string) {
	if at := p.unquotedVariable(d.Pos.Line); at != (Pos{}) {
		d.Code, d.Summary = "unquoted-variable", "${…} needs quotes inside { } and [ ]"
		d.Detail = `Write "${name}", with quotes around the whole value.`
		d.Pos, d.Width = at, 2
		return
	}
	d.Summary = "this { or [ is not closed, or a comma is missing in it"
	d.Detail = "Text that contains , [ ] { } needs quotes inside { } and [ ]."
	d.mark(text, strings.IndexAny(text, "{["))
}

// mark marks the character at a byte of the line; with -1 it leaves the place as it is.
func (d *Diagnostic) mark(line string, at int) {
	if at >= 0 {
		d.Pos.Column, d.Width = 1+utf8.RuneCountInString(line[:at]), 1
	}
}

// unquotedVariable finds the first ${ outside quotes and comments from a line on. It is good enough
// for a hint: quotes that continue on the next line are not followed.
func (p *parser) unquotedVariable(from int) Pos {
	for n := from; n <= p.lines.count(); n++ {
		var quote rune
		line := []rune(p.lines.text(n))
		for i, r := range line {
			switch {
			case quote != 0:
				if r == quote {
					quote = 0
				}
			case (r == '"' || r == '\'') && (i == 0 || strings.ContainsRune(" ,[{:", line[i-1])):
				quote = r
			case r == '$' && i+1 < len(line) && line[i+1] == '{':
				return Pos{File: p.file, Line: n, Column: i + 1}
			}
		}
	}
	return Pos{}
}

// find returns the first place of a pattern, from a line on.
func (p *parser) find(pattern *regexp.Regexp, from int) Pos {
	for n := from; n <= p.lines.count(); n++ {
		text := p.lines.text(n)
		if at := pattern.FindStringIndex(text); at != nil {
			return Pos{File: p.file, Line: n, Column: 1 + len([]rune(text[:at[0]]))}
		}
	}
	return Pos{File: p.file, Line: 1, Column: 1}
}

// firstLineThatFails is the line at which the library gives up with this message: the last one of the
// shortest piece of the file, from its start, that fails so. A longer piece fails the same way, so
// halving finds it.
func (p *parser) firstLineThatFails(message string) int {
	fine, fails := 0, p.lines.count()
	for fine+1 < fails {
		middle := (fine + fails) / 2
		if failsWith(p.lines.data[:p.lines.starts[middle]], message) {
			fails = middle
		} else {
			fine = middle
		}
	}
	return fails
}

func failsWith(data []byte, message string) bool {
	err := failure(data)
	if err == nil {
		return false
	}
	_, m := splitError(err)
	return m == message
}

// failure is the error that reading all documents of data ends with, nil if there is none.
func failure(data []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		switch err := decode(dec, &n); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
