package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sluice-bench/sluice/scenario/convert"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
)

// writeLLM writes the files to the folder of the test.
func writeLLM(t *testing.T) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "llm_files.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("HF_HUB_CACHE", filepath.Join(t.TempDir(), "none"))
	for _, f := range archive.Files {
		if err := os.MkdirAll(filepath.Dir(f.Name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, f.Name, string(f.Data))
	}
}

// Every command line becomes a plan that validate accepts, with the text that testdata/llm_plans.txt holds.
func TestLLMLines(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "llm_lines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	golden, _ := filepath.Abs(filepath.Join("testdata", "llm_plans.txt"))
	want, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	tools := map[string]convert.Tool{}
	for _, tool := range convert.Tools() {
		tools[tool.Name] = tool
	}
	writeLLM(t)
	var got strings.Builder
	of, n := "", 0
	for l := range strings.Lines(string(data)) {
		if at, found := strings.CutPrefix(l, "# Source: "); found {
			of = at
		}
		if strings.HasPrefix(l, "#") || strings.TrimSpace(l) == "" {
			continue
		}
		if of == "" {
			t.Errorf("no source is named for %s", l)
		} else if !strings.HasPrefix(of, "ours") {
			n++
		}
		words := strings.Fields(l)
		_, text, _ := strings.Cut(strings.TrimSpace(l[len(words[0]):]), words[2]+" ")
		t.Run(words[0], func(t *testing.T) {
			fmt.Fprintf(&got, "=== %s\n%s", words[0], planBy(t, tools[words[1]], strings.TrimSpace(text)))
		})
	}
	if n < 60 {
		t.Errorf("%d command lines of others, want 60 or more", n)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("testdata/llm_plans.txt (-want +got):\n%s", diff)
	}
}

// planBy converts a command line by a tool and compiles its plan; the warnings of the conversion come first.
func planBy(t *testing.T, tool convert.Tool, text string) string {
	t.Helper()
	args, err := shell.Split(text)
	if err != nil {
		t.Fatal(err)
	}
	out, diags := tool.Convert(convert.Options{Args: args})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	valid(t, out.Plan, out.Secrets...)
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s: %s\n", d.Severity, d.Summary)
	}
	return b.String() + out.Plan
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
