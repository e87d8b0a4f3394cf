package source

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		nodeText, shown, bomb(4), "a: &x [*x]\n", "a: |2\n    x\n   y\n", "a: >\n  x\n\n    y\n  z\n", `a: "\t\x41é\U0001F600\
  b"`, "a: 'it''s\n  so'\n", "? [a]\n: &k !!str b\n", "a: {u: ${x}}\n", "a: 1\n---\n{", "\ufeff%YAML 1.1\n---\n&a a: *a\n", "a:\n\tb", "<<: 1\n", "a: .nan\n",
		"a: !x !!y\n", "- - - a\n-b", "a: 1e400\n", "a\u0085b: c\u2028d\n", "a: &x\n\n# c\n  b: 1\nc: *x\n",
		"a: \"\\\n\n b\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, ds := Parse("p", data)
		if root == nil && !ds.HasErrors() {
			t.Fatal("neither a tree nor an error")
		}
		l := splitLines(data)
		inside := func(p Pos) {
			if p.File != "p" || p.Line < 1 || p.Line > l.count() || p.Column < 1 ||
				p.Column > utf8.RuneCountInString(l.text(p.Line))+1 {
				t.Fatalf("position %v is outside of the text", p)
			}
		}
		for _, d := range ds {
			inside(d.Pos)
		}
		walk(root, inside)
		if root != nil {
			root.JSON()
		}
		sources := func(string) []byte { return data }
		if err := Render(&strings.Builder{}, ds, sources, Look{}); err != nil {
			t.Fatal(err)
		}
		if _, err := JSON(ds, sources, nil); err != nil {
			t.Fatal(err)
		}
	})
}

// walk checks the positions of all nodes, keys and characters.
func walk(n *Node, inside func(Pos)) {
	if n == nil {
		return
	}
	inside(n.Pos)
	if n.Kind == Scalar {
		text := n.AsText("")
		runes := utf8.RuneCountInString(n.Text)
		for offset := range min(runes, 50) {
			if p := text.At(offset); p.Line < 1 || p.Column < 1 {
				panic("a character of a scalar stands nowhere")
			}
		}
	}
	for _, e := range n.Entries {
		inside(e.KeyPos)
		walk(e.Value, inside)
	}
	for _, item := range n.Items {
		walk(item, inside)
	}
}
