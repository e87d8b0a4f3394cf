package program

import (
	"path/filepath"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestExamplesCompile: every example of the language is a plan that compiles, whether this version
// can run it or not.
func TestExamplesCompile(t *testing.T) {
	files, _ := filepath.Glob("../../testdata/plans/valid/example-*.yaml")
	if len(files) < 23 {
		t.Errorf("only %d examples", len(files))
	}
	for _, file := range files {
		plan, diags := scenario.LoadFile(file, scenario.Overrides{})
		if plan == nil {
			t.Errorf("%s: %v", file, diags)
			continue
		}
		program, diags := Compile(plan, all.Kinds())
		if diags.HasErrors() || len(program.Nodes) == 0 {
			t.Errorf("%s: %d nodes, %v", file, len(program.Nodes), diags)
		}
	}
}
