package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// graphOf is a plan's graph in one format. Plans are named from their own folder, so that positions
// are short.
func graphOf(t *testing.T, file, format string) string {
	t.Helper()
	t.Chdir(filepath.Dir(file))
	var out, errs bytes.Buffer
	a := &app{out: &errorWriter{w: &out}, err: &errs, env: func(string) (string, bool) { return "", false }}
	if code := Main([]string{"graph", filepath.Base(file), "--format", format}, a); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs.String())
	}
	return out.String()
}

// golden compares text with a file; UPDATE_GRAPH=1 writes it.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if os.Getenv("UPDATE_GRAPH") != "" {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", filepath.Base(file), diff)
	}
}

// absolute is a path that stays when the folder changes.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestGraphFormats draws one plan that has everything in every format.
func TestGraphFormats(t *testing.T) {
	plan := absolute(t, "testdata/graph/rich.yaml")
	for format, ext := range map[string]string{
		"text": "txt", "mermaid": "mmd", "dot": "dot",
		"json": "json",
	} {
		t.Run(format, func(t *testing.T) {
			text := graphOf(t, plan, format)
			golden(t, strings.TrimSuffix(plan, "yaml")+ext, text)
			if again := graphOf(t, plan, format); again != text {
				t.Error("two drawings of one plan differ")
			}
		})
	}
}

// TestGraphJSON: scripts read the JSON by the names of executor.Description, and nothing else is in it.
func TestGraphJSON(t *testing.T) {
	d := json.NewDecoder(strings.NewReader(graphOf(t, absolute(t, "testdata/graph/rich.yaml"), "json")))
	d.DisallowUnknownFields()
	var got program.Description
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Nodes) != 12 || len(got.Units) != 6 || got.Longest != nil {
		t.Errorf("%d nodes, %d units, longest %v", len(got.Nodes), len(got.Units), got.Longest)
	}
}

// TestGraphOfExamples compiles every example of the plan language and draws it.
func TestGraphOfExamples(t *testing.T) {
	plans, err := filepath.Glob("../../testdata/plans/valid/example-*.yaml")
	if err != nil || len(plans) < 23 {
		t.Fatal(len(plans), err)
	}
	for _, plan := range plans {
		name := strings.TrimSuffix(filepath.Base(plan), ".yaml")
		plan, want := absolute(t, plan), absolute(t, "testdata/graph/"+name+".txt")
		t.Run(name, func(t *testing.T) {
			t.Chdir(filepath.Dir(plan))
			read, diags := scenario.LoadFile(filepath.Base(plan), scenario.Overrides{})
			if read == nil {
				t.Fatal(diags)
			}
			compiled, diags := program.Compile(read, all.Kinds())
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			golden(t, want, graphText(compiled.Describe()))
			for _, verb := range []string{"validate", "graph"} {
				var out, errs bytes.Buffer
				a := &app{
					out: &errorWriter{w: &out}, err: &errs,
					env: func(string) (string, bool) { return "", false },
				}
				code := Main([]string{verb, filepath.Base(plan)}, a)
				if code != 0 {
					t.Errorf("%s: exit code %d\n%s", verb, code, errs.String())
				}
			}
			if _, err := os.Stat("sluice-results"); err == nil {
				t.Error("a plan that is only read leaves a folder")
			}
		})
	}
}
