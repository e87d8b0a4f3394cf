package shell_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/scenario/convert/shell"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a  b\tc\n", []string{"a", "b", "c"}},
		{`$ a 'b c' "d \"e\" $f \x" g\ h`, []string{"a", "b c", `d "e" $f \x`, "g h"}},
		{"a \\\n  b \\\r\n c", []string{"a", "b", "c"}},
		{`a '' ""`, []string{"a", "", ""}},
		{`a'b'"c"d`, []string{"abcd"}},
		{"a b # c d\ne", []string{"a", "b", "e"}},
		{"a#b", []string{"a#b"}},
		{"a b > out.txt 2>&1", []string{"a", "b"}},
		{"a b 2>/dev/null", []string{"a", "b"}},
		{"a | tee x", []string{"a"}},
		{"a > log 2>&1 -v", []string{"a", "-v"}},
		{"a >log -v 2> err -f x >>more &", []string{"a", "-v", "-f", "x"}},
		{"a &> log -v && b -x", []string{"a", "-v"}},
		{"a -v; b -x", []string{"a", "-v"}},
		{"a -v ; b", []string{"a", "-v"}},
		{"a '>' \\> \"2>&1\" ';' \"|\" -v", []string{"a", ">", ">", "2>&1", ";", "|", "-v"}},
		{"a -m <model> -v", []string{"a", "-m", "<model>", "-v"}},
		{"a >", []string{"a"}},
	} {
		got, err := shell.Split(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
	for _, text := range []string{`a 'b`, `a "b`, `a \`} {
		if got, err := shell.Split(text); err == nil {
			t.Errorf("%q: %q, want an error", text, got)
		}
	}
}
