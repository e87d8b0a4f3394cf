package pyyaml_test

import (
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert/pyyaml"
)

// TestParse: truths in the spelling of Python are truths, quoted ones are texts, and the rest of what is ambiguous in a
// plan is a mistake.
func TestParse(t *testing.T) {
	root, diags := pyyaml.Parse("a.yaml", []byte("a: True\nb: [FALSE, {c: False}]\nd: \"True\"\ne: true\n"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for path, want := range map[string]any{"/a": true, "/b/0": false, "/b/1/c": false, "/d": "True", "/e": true} {
		if n := root.At(path); n == nil || n.JSON() != want {
			t.Errorf("%s is %v", path, n)
		}
	}
	for _, text := range []string{"a: 010", "a: Null", "a: [1"} {
		if _, diags := pyyaml.Parse("a.yaml", []byte(text)); !diags.HasErrors() {
			t.Errorf("%s is read", text)
		}
	}
}
