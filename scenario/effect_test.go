package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestNoEffectOfData: keys that nothing follows from are an error at their place; one that another
// stage needs is none.
func TestNoEffectOfData(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.json"), []byte(`{"inputs":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const head = "version: 1\ntargets: {m: {backend: kserve, url: \"http://h:1\", model: m}, j: {backend: " +
		"kserve, url: \"http://h:1\", model: m, tensors: {input: json}}}\n" +
		"datasets: {b: {bodies: b.json}, g: {generate: random}}\ndefaults: {target: m, load: {concurrency: 1}, " +
		"for: 1s}\n"
	for _, c := range []struct{ name, text, want string }{
		{
			"shapes beside bodies", head + "stages:\n- {id: a, data: b, shapes: {x: [1]}}\n",
			`6:20 no-effect "shapes" has no effect beside ` + "`bodies`",
		},
		{
			"shapes of a mix entry",
			head + "stages:\n- {id: a, mix: {b: {data: b, shapes: {x: [1]}}, g: {data: g}}}\n",
			`6:30 no-effect "shapes" has no effect beside ` + "`bodies`",
		},
		{
			"shapes of defaults that another stage needs",
			head + "stages:\n- {id: a, data: b}\n- {id: c, data: g, shapes: {x: [1]}}\n", "",
		},
		{
			"tensors beside bodies", head + "stages:\n- {id: a, data: b, target: j}\n",
			`2:112 no-effect "tensors" has no effect beside ` + "`bodies`",
		},
		{
			"tensors that another stage needs",
			head + "stages:\n- {id: a, data: b, target: j}\n- {id: c, data: g, target: j}\n", "",
		},
		{
			"string_length beside a file",
			"version: 1\ntarget: {backend: kserve, url: \"http://h:1\", model: m}\ndata: {file: b.json, format: " +
				"v2, string_length: 4}\nstages:\n- {id: a, load: {concurrency: 1}, for: 1s}\n",
			`3:34 does-not-fit "string_length" does not fit "file"`,
		},
		{
			"string_length beside generate",
			"version: 1\ntarget: {backend: kserve, url: \"http://h:1\", model: m}\ndata: {generate: random, " +
				"string_length: 4}\nstages:\n- {id: a, load: {concurrency: 1}, for: 1s}\n",
			"",
		},
	} {
		_, diags := Parse(filepath.Join(dir, "plan.yaml"), []byte(c.text), Overrides{})
		var list []string
		for _, d := range diags {
			if d.Severity == source.Error {
				list = append(list, d.Pos.String()[len(filepath.Join(dir, "plan.yaml:")):]+" "+d.Code+" "+d.Summary)
			}
		}
		if got := strings.Join(list, ""); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
