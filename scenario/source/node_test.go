package source

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const nodeText = `
version: 1
a/b~c d%: {list: [x, {y: 2}]}
nothing: ~
`

func TestNodePaths(t *testing.T) {
	root, ds := Parse("p", []byte(nodeText))
	if ds != nil {
		t.Fatal(ds)
	}
	odd := JoinPointer("a/b~c d%", "list", "1", "y")
	if odd != "/a~1b~0c d%/list/1/y" {
		t.Errorf("pointer %q", odd)
	}
	if diff := cmp.Diff([]string{"a/b~c d%", "list", "1", "y"}, SplitPointer(odd)); diff != "" {
		t.Error(diff)
	}
	if got := root.At(odd); got == nil || got.Text != "2" {
		t.Errorf("At(%s) = %v", odd, got)
	}
	if pos, width := root.KeyPos(odd); pos != (Pos{"p", 3, 23}) || width != 1 {
		t.Errorf("KeyPos(%s) = %v, %d", odd, pos, width)
	}
	if pos, width := root.KeyPos(JoinPointer("a/b~c d%", "list", "0")); pos != (Pos{"p", 3, 19}) || width != 0 {
		t.Errorf("an item has no key: %v, %d", pos, width)
	}
	if pos, _ := root.KeyPos(""); pos != root.Pos {
		t.Errorf("the key of the whole is %v", pos)
	}
	if root.At("") != root {
		t.Error("the empty pointer is not the root")
	}
	for _, nowhere := range []string{
		"/x", "/version/x", "/a~1b~0c d%/list/2", "/a~1b~0c d%/list/01", "/a~1b~0c d%/list/-1", "/nothing/x",
	} {
		if got := root.At(nowhere); got != nil {
			t.Errorf("At(%s) = %v", nowhere, got)
		}
		if pos, _ := root.KeyPos(nowhere); pos != (Pos{}) {
			t.Errorf("KeyPos(%s) = %v", nowhere, pos)
		}
	}
	var none *Node
	if none.Get("x") != nil || none.Entry("x") != nil || none.At("/x") != nil || none.JSON() != nil {
		t.Error("nil is not empty")
	}
}

func TestJSON(t *testing.T) {
	root, ds := Parse("p", []byte(`
int: 12
float: 1.50
exponent: 1e-5
quoted: "12"
block: |
  12
yes: yes
bool: false
none: ~
date: 2024-01-01
version: 1.2.3
list: [1, two, {three: null}]
`))
	if ds != nil {
		t.Fatal(ds)
	}
	want := map[string]any{
		"int": json.Number("12"), "float": json.Number("1.50"), "exponent": json.Number("1e-5"),
		"quoted": "12", "block": "12\n", "yes": "yes", "bool": false, "none": nil, "date": "2024-01-01",
		"version": "1.2.3",
		"list":    []any{json.Number("1"), "two", map[string]any{"three": nil}},
	}
	if diff := cmp.Diff(want, root.JSON()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]any{
		"4": json.Number("4"), "-0.5": json.Number("-0.5"), "true": true, "~": nil, "": nil, "null": nil,
		"04": "04", "0x1": "0x1", "1_0": "1_0", "4s": "4s", "True": "True", ".5": ".5", "5.": "5.", "+1": "+1",
		"1e": "1e", ".inf": ".inf",
	} {
		if got := Plain(text, Pos{}).JSON(); !cmp.Equal(got, want) {
			t.Errorf("Plain(%q) is %#v, want %#v", text, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"rate", "concurrency", "max_in_flight", "for", "until", "kserve", "triton"}
	for word, want := range map[string]string{
		"rat": "rate", "raet": "rate", "rates": "rate", "Rate": "rate", "concurency": "concurrency",
		"maxinflight":   "max_in_flight",
		"max-in-flight": "max_in_flight", "fro": "for", "untli": "until", "tritonn": "triton",
		"": "", "zzz": "", "x": "", "latency": "", "rate": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("di", []string{"description", "id"}); got != "id" {
		t.Errorf("two swapped letters: %q, want id", got)
	}
	if got := Nearest("dd", []string{"id"}); got != "" {
		t.Errorf("one of two letters: %q, want none", got)
	}
	if got := Nearest("ab", []string{"abc", "abd"}); got != "abc" {
		t.Errorf("the first of two equally near words, got %q", got)
	}
}
