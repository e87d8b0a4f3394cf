package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestPasses: a program can be printed after each step of Compile, and the steps together give the
// same every time.
func TestPasses(t *testing.T) {
	files, err := filepath.Glob("../../testdata/plans/valid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	env := func(name string) (string, bool) { return os.LookupEnv(name) }
	for _, file := range files {
		plan, _ := scenario.LoadFile(file, scenario.Overrides{Env: env})
		if plan == nil {
			continue // it needs flags
		}
		d := newDraft(plan, all.Kinds())
		for _, pass := range passes() {
			pass.do(d)
			if text := d.program.Graph.Mermaid() + d.program.Graph.DOT(); text == "" {
				t.Errorf("%s: nothing is drawn after %s", file, pass.name)
			}
			if _, err := json.Marshal(d.program.Describe()); err != nil {
				t.Errorf("%s: after %s: %v", file, pass.name, err)
			}
		}
		first, second := d.program.Describe(), compileAgain(plan)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%s: two compilations differ: %s", file, diff)
		}
	}
}

func compileAgain(plan *scenario.Plan) Description {
	p, _ := Compile(plan, all.Kinds())
	return p.Describe()
}
