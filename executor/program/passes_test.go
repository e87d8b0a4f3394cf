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
		for i, pass := range passes() {
			pass(d)
			if text := d.Graph.Mermaid() + d.Graph.DOT(); text == "" {
				t.Errorf("%s: nothing is drawn after pass %d", file, i)
			}
			if _, err := json.Marshal(d.Describe()); err != nil {
				t.Errorf("%s: after pass %d: %v", file, i, err)
			}
		}
		first, second := d.Describe(), compileAgain(plan)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%s: two compilations differ: %s", file, diff)
		}
	}
}

func compileAgain(plan *scenario.Plan) Description {
	p, _ := Compile(plan, all.Kinds())
	return p.Describe()
}
