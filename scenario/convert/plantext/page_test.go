package plantext_test

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestScalar: a text is read back as it was, by itself and inside a flow.
func TestScalar(t *testing.T) {
	for _, text := range []string{
		"a", "a/b-c.d", "", " ", "yes", "Null", "5", "0.5", "-", "a: b", "a #b", "[x]", "{x}", "a,b", "'", `"`, `\`, "ü", "a\nb",
		"${a}", "$a", "*a", "&a", "!a", "|", "%", "@", "`", "~", "?", "true",
	} {
		doc := "plain: " + plantext.Scalar(text) + "\nflow: " + plantext.Flow("a: "+plantext.Scalar(text), "b: 1") + "\n"
		root, diags := source.Parse("plan.yaml", []byte(doc))
		if diags.HasErrors() {
			t.Errorf("%q: %v\n%s", text, diags, doc)
			continue
		}
		want := strings.ReplaceAll(text, "${", "$${")
		for _, path := range []string{"/plain", "/flow/a"} {
			if n := root.At(path); n == nil || n.Text != want || n.Tag != "!!str" {
				t.Errorf("%q is read as %+v\n%s", text, n, doc)
			}
		}
	}
}

// TestPage: comments of neighbouring lines begin in one column, but for lines that are too long; a comment is one line.
func TestPage(t *testing.T) {
	var p plantext.Page
	p.Add("a: 1", "one")
	p.Add("bcd: 2", "two\nlines")
	p.Add("e: "+strings.Repeat("x", 80), "far")
	p.Add("", "")
	p.Add("f: 3", "after a gap")
	want := "a: 1    # one\nbcd: 2  # two lines\ne: " + strings.Repeat("x", 80) + "  # far\n\nf: 3  # after a gap\n"
	if got := p.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
