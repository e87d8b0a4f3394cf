package source

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// Each text holds one @, which is found by its place in the scalar and must be given where it
// stands in the source.
func TestTextAt(t *testing.T) {
	tests := []struct{ name, text string }{
		{"plain", "a: some @ text\n"},
		{"plain, wide characters before", "é: 猫 @\n"},
		{"double quotes", "a: \"some @ text\"\n"},
		{"single quotes", "a: 'some @ text'\n"},
		{"escapes", `a: "tab\t quote\" unicode é \x41 @"` + "\n"},
		{"doubled single quote", "a: 'it''s ''so'' @'\n"},
		{"literal block", "a: |\n  first\n  second @\n"},
		{"literal block, stripped, indented", "a:\n  b: |-\n      first\n\n        second @\n"},
		{"literal block with blank lines first", "a: |\n\n\n  x @\n"},
		{"literal block with an indicator", "a: |2\n    x\n   y @\n"},
		{"folded block", "a: >\n  one\n  two\n\n  three @\n"},
		{"plain on several lines", "a: one\n  two\n  three @\n"},
		{"quoted on several lines", "a: \"one\n  two\n\n  three @\"\n"},
		{"quoted with a continued line", "a: \"one\\\n   two @\"\n"},
		{"in a list", "a:\n  - x < 1\n  - latency.p99 < @\n"},
		{"in flow style", "a: [x, {b: 'c @'}]\n"},
		{"behind an anchor", "a: &x some @\n"},
		{"behind a tag", "a: !!str some @\n"},
		{"CRLF", "a: |\r\n  first\r\n  @\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root, ds := Parse("p", []byte(test.text))
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			scalar := scalarWith(root, "@")
			offset := utf8.RuneCountInString(scalar.Text[:strings.Index(scalar.Text, "@")])
			got := scalar.AsText("/a").At(offset)
			if want := place(test.text, "@"); fmt.Sprint(got.Line, got.Column) != want {
				t.Errorf("@ is offset %d of %q: got %d %d, want %s; runs %v",
					offset, scalar.Text, got.Line, got.Column, want, scalar.Runs)
			}
			piece := scalar.AsText("/a").Slice(offset, offset+1)
			if piece.Text != "@" || piece.Pos != got || piece.At(0) != got {
				t.Errorf("slice: %+v at %v, want @ at %v", piece, piece.At(0), got)
			}
		})
	}
}

func scalarWith(n *Node, text string) *Node {
	if n.Kind == Scalar && strings.Contains(n.Text, text) {
		return n
	}
	for _, e := range n.Entries {
		if s := scalarWith(e.Value, text); s != nil {
			return s
		}
	}
	for _, item := range n.Items {
		if s := scalarWith(item, text); s != nil {
			return s
		}
	}
	return nil
}

// place finds a mark in the source by itself: "line column".
func place(text, mark string) string {
	before := text[:strings.Index(text, mark)]
	line := 1 + strings.Count(before, "\n")
	return fmt.Sprint(line, 1+utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]))
}

func TestTextAtEdges(t *testing.T) {
	root, _ := Parse("p", []byte("a: &x abc\nb: *x\n"))
	text := root.Get("a").AsText("/a")
	if got := text.At(3); got != (Pos{"p", 1, 10}) {
		t.Errorf("the end is %v", got)
	}
	if text.At(99) != text.At(3) || text.At(-1) != text.At(0) {
		t.Error("offsets outside are not moved to the ends")
	}
	alias := root.Get("b").AsText("/b")
	if got := alias.At(2); got != (Pos{"p", 2, 4}) {
		t.Errorf("text behind an alias stands at %v, want its use", got)
	}
	free := Text{Text: "x < 1", Pos: Pos{"--set", 1, 1}}
	if got := free.At(4); got != (Pos{"--set", 1, 5}) {
		t.Errorf("text without a node: %v", got)
	}
}
