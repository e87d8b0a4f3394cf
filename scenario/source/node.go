package source

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Get is the value of key in a map, or nil. It may be called on nil and on nodes that are no map.
func (n *Node) Get(key string) *Node {
	if e := n.Entry(key); e != nil {
		return e.Value
	}
	return nil
}

// Entry is the entry of key in a map, or nil. A change through it changes the node.
func (n *Node) Entry(key string) *Entry {
	if n == nil {
		return nil
	}
	for i := range n.Entries {
		if n.Entries[i].Key == key {
			return &n.Entries[i]
		}
	}
	return nil
}

// At is the node that a JSON pointer leads to, or nil. The empty pointer is the node itself.
func (n *Node) At(pointer string) *Node {
	for _, token := range SplitPointer(pointer) {
		if n = n.child(token); n == nil {
			return nil
		}
	}
	return n
}

// child is the value under a key of a map or an index of a list, or nil.
func (n *Node) child(token string) *Node {
	if n == nil {
		return nil
	}
	if n.Kind != List {
		return n.Get(token)
	}
	if i, ok := listIndex(token, len(n.Items)); ok {
		return n.Items[i]
	}
	return nil
}

// KeyPos returns the place of the key that a JSON pointer ends in, and its characters. An item
// of a list has no key: its own position and width 0 are given. A pointer that leads nowhere gives the
// zero Pos.
func (n *Node) KeyPos(pointer string) (Pos, int) {
	tokens := SplitPointer(pointer)
	if len(tokens) == 0 {
		if n == nil {
			return Pos{}, 0
		}
		return n.Pos, 0
	}
	last := tokens[len(tokens)-1]
	parent := n.At(JoinPointer(tokens[:len(tokens)-1]...))
	if e := parent.Entry(last); e != nil {
		return e.KeyPos, utf8.RuneCountInString(e.Key)
	}
	if item := parent.child(last); item != nil {
		return item.Pos, 0
	}
	return Pos{}, 0
}

// number is the form of numbers in a plan: JSON's grammar. So 010, 0x10, 1_000, .5, 5. and +5 are
// text, which no numeric key accepts: what YAML makes of them differs between versions and would
// surprise.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// JSON gives the node as JSON-like data: map[string]any, []any, string, bool, nil and json.Number.
// Only plain scalars are other than strings: true and false, null and ~ and nothing, and numbers as
// JSON writes them.
func (n *Node) JSON() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Map:
		m := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			m[e.Key] = e.Value.JSON()
		}
		return m
	case List:
		l := make([]any, len(n.Items))
		for i, item := range n.Items {
			l[i] = item.JSON()
		}
		return l
	case Null:
		return nil
	case Scalar:
		return n.scalarJSON()
	}
	return nil
}

func (n *Node) scalarJSON() any {
	if n.Quoted || n.Block {
		return n.Text
	}
	switch n.Tag {
	case tagBool:
		return n.Text == "true"
	case tagInt, tagFloat:
		return json.Number(n.Text)
	}
	return n.Text
}

// The tags that a scalar of a Node can have.
const (
	tagString = "!!str"
	tagInt    = "!!int"
	tagFloat  = "!!float"
	tagBool   = "!!bool"
	tagNull   = "!!null"
)

// Plain is the scalar that text gives when it is written without quotes at pos: "4" is a number,
// "true" a bool, "~" a null. Use it for values that come from variables and from --set.
func Plain(text string, pos Pos) *Node {
	n := &Node{Kind: Scalar, Tag: plainTag(text), Text: text, Pos: pos}
	if n.Tag == tagNull {
		n.Kind = Null
	}
	return n
}

// plainTag resolves an unquoted scalar.
func plainTag(text string) string {
	switch text {
	case "", "~", "null":
		return tagNull
	case "true", "false":
		return tagBool
	}
	if !number.MatchString(text) {
		return tagString
	}
	if strings.ContainsAny(text, ".eE") {
		return tagFloat
	}
	return tagInt
}

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// JoinPointer is the JSON pointer (RFC 6901) made of tokens; keys are escaped.
func JoinPointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		_, _ = pointerEscaper.WriteString(&b, t)
	}
	return b.String()
}

// SplitPointer gives the tokens of a JSON pointer, unescaped. The empty pointer has none.
func SplitPointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, t := range tokens {
		tokens[i] = pointerUnescaper.Replace(t)
	}
	return tokens
}

// listIndex reads an index of a list of n items: digits without leading zeros.
func listIndex(token string, n int) (int, bool) {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= n || strconv.Itoa(i) != token {
		return 0, false
	}
	return i, true
}
