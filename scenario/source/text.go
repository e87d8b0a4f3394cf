package source

import (
	"sort"
	"unicode/utf8"
)

// Text is a piece of the plan in another grammar (an expression) and its place.
type Text struct {
	Text string
	Pos  Pos    // of its first character, inside any quotes
	Path string // JSON pointer
	Node *Node  // where it was read from; nil for text that is not from a file
}

// AsText is the text of a scalar whose JSON pointer is path.
func (n *Node) AsText(path string) Text {
	return Text{Text: n.Text, Pos: n.textPos(0), Path: path, Node: n}
}

// textPos returns the place of character offset of the node's text.
func (n *Node) textPos(offset int) Pos {
	if n.Anchor != (Pos{}) {
		return n.Pos // the text is written elsewhere; only its use is here
	}
	at := Run{Pos: n.Pos}
	if n.Quoted {
		at.Pos.Column++
	}
	if i := sort.Search(len(n.Runs), func(i int) bool { return n.Runs[i].Offset > offset }); i > 0 {
		at = n.Runs[i-1]
	}
	at.Pos.Column += offset - at.Offset
	return at.Pos
}

// At returns the place of character offset of the text, following block scalars to the lines below and
// skipping escapes. The offset may be the text's length, the place after its end. Offsets outside are
// moved to the nearest end.
func (t Text) At(offset int) Pos {
	offset = max(0, min(offset, utf8.RuneCountInString(t.Text)))
	if t.Node == nil {
		t.Pos.Column += offset
		return t.Pos
	}
	return t.Node.textPos(t.start() + offset)
}

// start is the offset in the node's text at which t begins.
func (t Text) start() int {
	for i := range utf8.RuneCountInString(t.Node.Text) {
		if t.Node.textPos(i) == t.Pos {
			return i
		}
	}
	return 0
}

// Slice is the piece from character from up to, not including, character to. Bounds outside are moved
// to the ends.
func (t Text) Slice(from, to int) Text {
	runes := []rune(t.Text)
	from = max(0, min(from, len(runes)))
	to = max(from, min(to, len(runes)))
	s := t
	s.Text, s.Pos = string(runes[from:to]), t.At(from)
	return s
}
