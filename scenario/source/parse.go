package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// MaxBytes is the size of the largest plan, in bytes.
const MaxBytes = 1 << 20

// Parse turns the text of a plan into nodes, and says all that is wrong with it as YAML: one document
// of at most 1 MiB, keys that are text and unique, no tags, no merge keys. file is the name that
// positions carry. Text that cannot be read as YAML at all gives nil; other mistakes leave a tree, so
// that what else is wrong can be found too.
func Parse(file string, data []byte) (*Node, Diagnostics) {
	p := parser{file: file, lines: splitLines(data)}
	if !p.readable(data) {
		return nil, p.found
	}
	document, ok := p.document()
	if !ok {
		return nil, p.found
	}
	w := walker{parser: &p, active: map[*yaml.Node]bool{}}
	root := w.node(document.Content[0], 0)
	return root, p.found.Sorted()
}

// parser is the text being read and what was found wrong with it.
type parser struct {
	file  string
	lines lines
	found Diagnostics

	line  int    // that runes holds
	runes []rune // of one line: a file may be one line with a hundred thousand values
}

// lineRunes is line n as characters.
func (p *parser) lineRunes(n int) []rune {
	if p.line != n {
		p.line, p.runes = n, []rune(p.lines.text(n))
	}
	return p.runes
}

// maxFound limits the mistakes that are listed: enough for any person, and a bound for what a broken file
// can cost.
const maxFound = 1000

func (p *parser) report(d Diagnostic) {
	switch {
	case len(p.found) > maxFound:
		return
	case len(p.found) == maxFound:
		d = Errorf("too-many-mistakes", "there are more mistakes than are listed").At("", d.Pos, 0)
	}
	d.Pos = p.inside(Pos{File: p.file, Line: d.Pos.Line, Column: d.Pos.Column})
	p.found = append(p.found, d)
}

// inside moves a position into the text: the library adds a line break at the end, and is then behind it.
func (p *parser) inside(pos Pos) Pos {
	if pos.Line > p.lines.count() {
		pos.Line, pos.Column = p.lines.count(), MaxBytes
	}
	pos.Column = max(1, min(pos.Column, 1+len(p.lineRunes(pos.Line))))
	return pos
}

// readable checks what does not need YAML: length and characters.
func (p *parser) readable(data []byte) bool {
	if len(data) > MaxBytes {
		p.report(Errorf("too-large", "the plan is longer than %d bytes, which is all that is read", MaxBytes).
			Help("Keep data in files of its own and name them under data.file.").
			At("", Pos{Line: 1, Column: 1}, 0))
		return false
	}
	line, column, what := p.lines.badCharacter()
	if what == "" {
		return true
	}
	p.report(Errorf("bad-character", "%s", what).Help("A plan is UTF-8 text without control characters.").
		At("", Pos{Line: line, Column: column}, 0))
	return false
}

// document reads the one document of the file.
func (p *parser) document() (document *yaml.Node, ok bool) {
	dec := yaml.NewDecoder(bytes.NewReader(p.lines.data))
	document = new(yaml.Node)
	switch err := decode(dec, document); {
	case errors.Is(err, io.EOF), err == nil && empty(document):
		p.report(Errorf("empty-plan", "the plan is empty").Help("Run `sluice init` for one to start from.").
			At("", Pos{Line: 1, Column: 1}, 0))
		return nil, false
	case err != nil:
		p.report(p.syntax(err))
		return nil, false
	}
	var second yaml.Node
	if err := decode(dec, &second); !errors.Is(err, io.EOF) {
		p.report(p.secondDocument(document, err))
	}
	return document, true
}

// empty reports a document without content: "---", or nothing but comments after it.
func empty(document *yaml.Node) bool {
	if len(document.Content) == 0 {
		return true
	}
	root := document.Content[0]
	return root.Kind == yaml.ScalarNode && root.Tag == tagNull && root.Value == "" && root.Style == 0 &&
		root.Anchor == ""
}

// decode turns what the library panics with into an error: text from outside must not end the program.
func decode(dec *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	return dec.Decode(into) //nolint:wrapcheck // its text is taken apart by syntax
}

// secondDocument points at the mark that begins it.
func (p *parser) secondDocument(first *yaml.Node, err error) Diagnostic {
	d := Errorf("second-document", "a plan is one YAML document, and here a second begins").
		Help("Move it to a file of its own, or remove the line.")
	for n := first.Content[0].Line + 1; n <= p.lines.count(); n++ {
		text := p.lines.text(n)
		rest, mark := strings.CutPrefix(text, "---")
		if mark && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			return d.AtKey("", Pos{Line: n, Column: 1}, "---")
		}
	}
	pos := Pos{Line: p.lines.count(), Column: 1}
	if err != nil {
		pos = p.syntax(err).Pos
	}
	return d.At("", pos, 0)
}
