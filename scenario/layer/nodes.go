package layer

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// withValues returns a map with other values; nil leaves a key out.
func withValues(n *source.Node, value func(key string, v *source.Node) *source.Node) *source.Node {
	c := *n
	c.Entries = make([]source.Entry, 0, len(n.Entries))
	for _, e := range n.Entries {
		if e.Value = value(e.Key, e.Value); e.Value != nil {
			c.Entries = append(c.Entries, e)
		}
	}
	return &c
}

// withItems returns a list with other items.
func withItems(n *source.Node, item func(i int, item *source.Node) *source.Node) *source.Node {
	c := *n
	c.Items = make([]*source.Node, len(n.Items))
	for i := range c.Items {
		c.Items[i] = item(i, n.Items[i])
	}
	return &c
}

// with returns a map with another value of a key that it has.
func with(n *source.Node, key string, value *source.Node) *source.Node {
	return withValues(n, func(k string, v *source.Node) *source.Node {
		if k == key {
			return value
		}
		return v
	})
}

// without returns a map without some keys.
func without(n *source.Node, keys ...string) *source.Node {
	return withValues(n, func(key string, v *source.Node) *source.Node {
		if slices.Contains(keys, key) {
			return nil
		}
		return v
	})
}

// appended returns a list with one more item.
func appended(list, item *source.Node) *source.Node {
	c := *list
	c.Items = append(slices.Clone(list.Items), item)
	return &c
}

// keysOf lists the keys of a map, which may be absent.
func keysOf(n *source.Node) []string {
	var keys []string
	for _, e := range entriesOf(n) {
		keys = append(keys, e.Key)
	}
	return keys
}

func entriesOf(n *source.Node) []source.Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

// A reference to a variable, ${NAME}, and a text that is nothing but one. $${ is an escape.
var (
	referenceForm = regexp.MustCompile(`\$?\$\{[^}]*\}?`)
	nameInside    = regexp.MustCompile(`^\$\{ *((?:matrix\.)?[A-Za-z_][A-Za-z0-9_]*) *\}$`)
)

// References finds the references in a text: where each begins and ends, and the name in it; "": it is
// an escape, or holds no name.
func References(text string) iter.Seq2[[]int, string] {
	return func(yield func([]int, string) bool) {
		if !strings.Contains(text, "${") {
			return
		}
		for _, at := range referenceForm.FindAllStringIndex(text, -1) {
			if !yield(at, nameIn(text[at[0]:at[1]])) {
				return
			}
		}
	}
}

// nameIn returns the name in a text that is one reference; "": it is none.
func nameIn(text string) string {
	if m := nameInside.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// Escape keeps a literal ${ from becoming a reference when the plan is read again.
func Escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }
