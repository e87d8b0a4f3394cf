package expression

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/errors.txt anew")

// TestErrors compares every mistake's code, text and exact place with testdata/errors.txt:
// expressions that must be refused, one a block, with carets under what is marked.
func TestErrors(t *testing.T) {
	want, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	scope := newScope(t)
	var got strings.Builder
	for i, block := range strings.Split(strings.TrimRight(string(want), "\n"), "\n\n") {
		s, _, _ := strings.Cut(block, "\n")
		_, ds := Compile(text(s), scope)
		if !ds.HasErrors() {
			t.Errorf("%s: no error", s)
		}
		for _, d := range ds {
			if d.Pos.Line != 3 || d.Path != "/assert/0" || d.Code == "" || d.Summary == "" {
				t.Errorf("%s: diagnostic without a place, code or summary: %+v", s, d)
			}
		}
		if i > 0 {
			got.WriteString("\n")
		}
		got.WriteString(render(s, ds))
	}
	if *update {
		if err := os.WriteFile("testdata/errors.txt", []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("testdata/errors.txt (-want +got):\n%s", diff)
	}
}
