package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found lists diagnostics as "line:column+width code".
func found(ds Diagnostics) []string {
	var all []string
	for _, d := range ds {
		all = append(all, fmt.Sprintf("%d:%d+%d %s", d.Pos.Line, d.Pos.Column, d.Width, d.Code))
	}
	return all
}

func TestParseMistakes(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"1:1+0 empty-plan"}},
		{"comments only", "# nothing\n\n# here\n", []string{"1:1+0 empty-plan"}},
		{"empty document", "---\n", []string{"1:1+0 empty-plan"}},
		{"too large", "a: " + strings.Repeat("x", MaxBytes), []string{"1:1+0 too-large"}},
		{"second document", "a: 1\n---\nb: 2\n", []string{"2:1+3 second-document"}},
		{"second document, empty", "a: 1\n---\n", []string{"2:1+3 second-document"}},
		{"second document, broken", "a: 1\n--- {b: [\n", []string{"2:1+3 second-document"}},
		{"second document without a mark", "a: 1\n...\nb: 2\n", []string{"3:1+0 second-document"}},
		{"end of document is fine", "---\na: 1\n...\n", nil},
		{"directive is fine", "%YAML 1.1\n---\na: 1\n", nil},
		{"duplicate key", "a: 1\nb: 2\na: 3\n", []string{"3:1+1 duplicate-key"}},
		{"duplicate key, quoted", "a: {key: 1, 'key': 3}\n", []string{"1:13+3 duplicate-key"}},
		{"key is a plain number", "a: {1: x, -2: y, 0.5: z, 0: u, 10.25: v}\n", nil},
		{"key is a number twice", "a: {1: x, '1': y}\n", []string{"1:11+1 duplicate-key"}},
		{"key is an octal number", "010: x\n", []string{"1:1+3 key-not-text"}},
		{"key is a hexadecimal number", "0x1F: x\n", []string{"1:1+4 key-not-text"}},
		{"key is a number with an exponent", "1e3: x\n", []string{"1:1+3 key-not-text"}},
		{"key is a number without a digit", ".5: x\n", []string{"1:1+2 key-not-text"}},
		{"key is a number that ends in a point", "1.: x\n", []string{"1:1+2 key-not-text"}},
		{"key is a bool", "a: {true: x}\n", []string{"1:5+4 key-not-text"}},
		{"key is nothing", "?\n: x\n", []string{"1:2+0 key-not-text"}},
		{"key is a list", "? [a]\n: b\n", []string{"1:3+0 key-not-text"}},
		{"key looks like a date", "2024-01-01: x\n", nil},
		{"quoted number is a key", "'1': x\n", nil},
		{"yes and on are keys", "yes: 1\non: 2\n", nil},
		{"tag", "a: !x\n", []string{"1:4+2 unknown-tag"}},
		{"tag of a map", "a: !thing {b: 1}\n", []string{"1:4+6 unknown-tag"}},
		{"binary", "a: !!binary aGk=\n", []string{"1:4+8 unknown-tag"}},
		{"text tag is fine", "a: !!str 5\n", nil},
		{"merge key", "a: &a {b: 1}\nc:\n  <<: *a\n", []string{"3:3+2 merge-key"}},
		{"quoted merge key is a key", "'<<': 1\n", nil},
		{"alias", "a: &a {b: 1}\nc: *a\n", nil},
		{"alias of itself", "a: &x [1, *x]\n", []string{"1:11+2 alias-loop"}},
		{"alias without anchor", "a: 1\nb: *nope\n", []string{"2:4+5 unknown-anchor"}},
		{
			"mistake behind an alias is said once", "a: &a {b: 1, b: 2}\nc: *a\nd: *a\n",
			[]string{"1:14+1 duplicate-key"},
		},
		{"alias bomb", bomb(8), []string{"5:30+0 too-many-aliases"}},
		{"deep", "a: " + strings.Repeat("[", 101) + strings.Repeat("]", 101), []string{"1:104+0 too-deep"}},
		{"not too deep", "a: " + strings.Repeat("[", 99) + strings.Repeat("]", 99), nil},
		{"too deep for the library", strings.Repeat("[", 20000), []string{"1:1+0 bad-yaml"}},
		{"infinity", "a: .inf\nb: -.INF\n", []string{"1:4+4 bad-number", "2:4+5 bad-number"}},
		{"not a number", "a: .nan\n", []string{"1:4+4 bad-number"}},
		{"beyond float64", "a: 1e500\n", []string{"1:4+5 bad-number"}},
		{"endless digits", "a: " + strings.Repeat("1", 101) + "\n", []string{"1:4+101 bad-number"}},
		{"octal, hex, underscore, plus", "a: 010\nb: 0x10\nc: 1_000\nd: +5\ne: 0o7\n", []string{
			"1:4+3 ambiguous", "2:4+4 ambiguous", "3:4+5 ambiguous", "4:4+2 ambiguous", "5:4+3 ambiguous",
		}},
		{"half floats", "a: .5\nb: 5.\n", []string{"1:4+2 ambiguous", "2:4+2 ambiguous"}},
		{"True and Null", "a: True\nb: Null\n", []string{"1:4+4 ambiguous", "2:4+4 ambiguous"}},
		{"quoted they are text", "a: '010'\nb: \".inf\"\nc: 'True'\n", nil},
		{"tab", "a:\n\tb: 1\n", []string{"2:1+1 tab-indentation"}},
		{"tab after blanks", "a:\n  b: 1\n  \tc: 2\n", []string{"3:3+1 tab-indentation"}},
		{"NUL", "a: x\x00y\n", []string{"1:5+0 bad-character"}},
		{"escape character", "é: 1\nb: \x1b[31m\n", []string{"2:4+0 bad-character"}},
		{"bad UTF-8", "a: é\xffz\n", []string{"1:5+0 bad-character"}},
		{"UTF-16", "\xff\xfea\x00", []string{"1:1+0 bad-character"}},
		{"unquoted variable in a map", "a: {u: ${x}}\n", []string{"1:8+2 unquoted-variable"}},
		{"unquoted variable in a list", "a: [b, ${x}]\n", []string{"1:8+2 unquoted-variable"}},
		{
			"unquoted variable, lines below", "x: 1\na: {u: \"${fine}\",\n  c: d ${x}, e: 1}\n",
			[]string{"3:8+2 unquoted-variable"},
		},
		{"block style needs no quotes", "a: ${x}\nb:\n  - c < ${d}\n", nil},
		{"two colons", "x: 1\na: b: c\n", []string{"2:5+1 bad-yaml"}},
		{"at sign", "a: @x\n", []string{"1:4+1 bad-yaml"}},
		{"value begins with >", "x: 1\nthat: > 5\n", []string{"2:7+1 bad-yaml"}},
		{"item begins with >", "x:\n  - > 5\n", []string{"2:5+1 bad-yaml"}},
		{"variable of another tool", "a: {{LIMIT}}\n", []string{"1:5+0 key-not-text"}},
		{"a comment cuts a value", "a: p99 < 5 # ms\n", nil},
		{
			"two merge keys", "a: &a {b: 1}\nc:\n  <<: *a\n  <<: *a\n",
			[]string{"3:3+2 merge-key", "4:3+2 merge-key"},
		},
		{"a list of merge keys", "a: &a {b: 1}\nc: {<<: [*a, *a]}\n", []string{"2:5+2 merge-key"}},
		{"yes, no and a sexagesimal are text", "a: yes\nb: no\nc: 22:22\nd: 2026-01-02\n", nil},
		{"quote not closed", "x: 1\na: \"b\nc: d\n", []string{"2:4+1 bad-yaml"}},
		{"brace not closed", "x: 1\na: {b: 1\nc: 2\n", []string{"2:4+1 bad-yaml"}},
		{"bracket not closed in line 1", "a: [b\nc: 2\n", []string{"1:4+1 bad-yaml"}},
		{"line without colon", "a: b\nfoo\nc: d\n", []string{"2:1+0 bad-yaml"}},
		{"wrong indentation of a map", "a:\n  b: 1\n c: 2\n", []string{"3:2+0 bad-yaml"}},
		{"wrong indentation in a list", "s:\n  - id: a\n   load: x\n  - id: b\n", []string{"3:4+0 bad-yaml"}},
		{
			"wrong indentation far below", "s:\n" + strings.Repeat("  - a\n", 50) + " - b\n",
			[]string{"52:2+0 bad-yaml"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, ds := Parse("p.yaml", []byte(test.text))
			if diff := cmp.Diff(test.want, found(ds)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s%v", diff, ds)
			}
			for _, d := range ds {
				if d.Pos.File != "p.yaml" || d.Severity != Error || d.Summary == "" {
					t.Errorf("incomplete: %+v", d)
				}
			}
		})
	}
}

// bomb is a text of n lines, each of which is nine times the one before.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < n; i++ {
		item := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i,
			strings.Join([]string{item, item, item, item, item, item, item, item, item}, ", "))
	}
	return b.String()
}

func TestParseListsNoEndOfMistakes(t *testing.T) {
	_, ds := Parse("p", []byte("a:\n"+strings.Repeat("  - 010\n", 100_000)))
	if len(ds) != maxFound+1 || ds[maxFound].Code != "too-many-mistakes" {
		t.Errorf("%d mistakes, the last %+v", len(ds), ds[len(ds)-1])
	}
}

func TestCodesAreExplained(t *testing.T) {
	known := map[string]bool{}
	for i, c := range Codes() {
		known[c.Name] = true
		if c.Help == "" || i > 0 && Codes()[i-1].Name >= c.Name {
			t.Errorf("%s: no help, or out of order", c.Name)
		}
	}
	for _, text := range []string{
		"", "a: 1\na: 1\n1: x\n", "a: !x 010\nb: .inf\n", "<<: 1\n", "a: *b\n", "a: &x [*x]\n", "a:\n\tb\n",
		"a: [${x}]\n", "a: b: c\n",
		"a: \x00\n", "a: 1\n---\n", bomb(8), "a: " + strings.Repeat("[", 101) + strings.Repeat("]", 101),
		strings.Repeat("x", MaxBytes+1),
	} {
		_, ds := Parse("p", []byte(text))
		if len(ds) == 0 {
			t.Errorf("%.20q has no mistake", text)
		}
		for _, d := range ds {
			if !known[d.Code] {
				t.Errorf("code %s is not explained", d.Code)
			}
		}
	}
}

func TestParseHints(t *testing.T) {
	tests := []struct{ name, text, detail, nearest string }{
		{"! is not", "a: !done\n", "`not done`", ""},
		{"first of duplicates", "a: 1\na: 2\n", "line 1, column 1", ""},
		{"number as key", "010: x\n", `"010"`, ""},
		{"variable", "a: [${x}]\n", `"${name}"`, ""},
		{"octal", "a: 010\n", `"010"`, "10"},
		{"underscore", "a: 1_000\n", "decimal", "1000"},
		{"half float", "a: .5\n", "both sides", "0.5"},
		{"True", "a: True\n", "true", "true"},
		{"tab", "a:\n\tb: 1\n", "spaces", ""},
		{"colon", "a: b: c\n", "quotes", ""},
		{"condition that begins with >", "a: > 5\n", "needs quotes", ""},
		{"template", "a: {{LIMIT}}\n", `"${name}"`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, ds := Parse("p.yaml", []byte(test.text))
			if len(ds) != 1 || !strings.Contains(ds[0].Detail, test.detail) || ds[0].Nearest != test.nearest {
				t.Errorf("got %+v, want one with detail %q, nearest %q", ds, test.detail, test.nearest)
			}
		})
	}
}

// outline writes a tree with positions.
func outline(b *strings.Builder, n *Node, indent string) {
	anchor := ""
	if n.Anchor != (Pos{}) {
		anchor = fmt.Sprintf(" from %d:%d", n.Anchor.Line, n.Anchor.Column)
	}
	fmt.Fprintf(b, " %s %q %d:%d%s\n", n.Tag, n.Text, n.Pos.Line, n.Pos.Column, anchor)
	for _, e := range n.Entries {
		fmt.Fprintf(b, "%s%s %d:%d:", indent, e.Key, e.KeyPos.Line, e.KeyPos.Column)
		outline(b, e.Value, indent+"  ")
	}
	for _, item := range n.Items {
		fmt.Fprintf(b, "%s-", indent)
		outline(b, item, indent+"  ")
	}
}

func TestParseTree(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"text as written", "a: 1.0\nb: 1e3\nc: 2024-01-01\nd: null\ne: ~\nf:\ng: 12:30:45\nh: no\ni: -7\nj: 'x'\n", ` !!map "" 1:1
a 1:1: !!float "1.0" 1:4
b 2:1: !!float "1e3" 2:4
c 3:1: !!str "2024-01-01" 3:4
d 4:1: !!null "null" 4:4
e 5:1: !!null "~" 5:4
f 6:1: !!null "" 6:3
g 7:1: !!str "12:30:45" 7:4
h 8:1: !!str "no" 8:4
i 9:1: !!int "-7" 9:4
j 10:1: !!str "x" 10:4
`},
		{"columns count characters", "é: {ü: ß, 猫: x}\n", ` !!map "" 1:1
é 1:1: !!map "" 1:4
  ü 1:5: !!str "ß" 1:8
  猫 1:11: !!str "x" 1:14
`},
		{"byte order mark and CRLF", "\ufeffa: 1\r\nb:\r\n  - c\r\n", ` !!map "" 1:1
a 1:1: !!int "1" 1:4
b 2:1: !!seq "" 3:3
  - !!str "c" 3:5
`},
		{"aliases stand where they are used", "a: &x\n  b: [1]\nc: *x\nd: &y text\ne: [*y]\n", ` !!map "" 1:1
a 1:1: !!map "" 2:3
  b 2:3: !!seq "" 2:6
    - !!int "1" 2:7
c 3:1: !!map "" 3:4 from 2:3
  b 3:4: !!seq "" 3:4 from 2:6
    - !!int "1" 3:4 from 2:7
d 4:1: !!str "text" 4:7
e 5:1: !!seq "" 5:4
  - !!str "text" 5:5 from 4:7
`},
		{"the first of two keys stays", "a: 1\na: 2\n", ` !!map "" 1:1
a 1:1: !!int "1" 1:4
`},
		{"tags are left out", "a: !!str 5\nb: !x  y\n", ` !!map "" 1:1
a 1:1: !!str "5" 1:10
b 2:1: !!str "y" 2:8
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root, _ := Parse("p", []byte(test.text))
			var b strings.Builder
			outline(&b, root, "")
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}
