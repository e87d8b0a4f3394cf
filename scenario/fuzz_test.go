package scenario

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// FuzzLoad reads any bytes as a plan: never a panic, a place for every mistake, a plan exactly when
// there is none, and what is accepted can be read again from its resolved form with the same
// meaning.
func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("../testdata/plans/*/*.yaml")
	for _, path := range files {
		p := readPlanFile(f, path)
		f.Add([]byte(p.text), "n=1", "stages.s.for=2s")
	}
	f.Fuzz(func(t *testing.T, data []byte, variable, set string) {
		o := Overrides{
			Vars: []string{variable}, Sets: []string{set}, Env: func(string) (string, bool) { return "", false },
		}
		for _, o := range []Overrides{{}, o} {
			checkAnyPlan(t, data, o)
		}
	})
}

func checkAnyPlan(t *testing.T, data []byte, o Overrides) {
	t.Helper()
	plan, ds := Parse("../testdata/plans/valid/fuzz.yaml", data, o)
	if (plan == nil) != ds.HasErrors() {
		t.Fatalf("plan %v with diagnostics %v", plan != nil, ds)
	}
	for _, d := range ds {
		if d.Pos.File == "" || d.Pos.Line < 1 || d.Pos.Column < 1 || d.Summary == "" {
			t.Errorf("a diagnostic without a place or text: %+v", d)
		}
	}
	if plan == nil {
		return
	}
	resolved, err := json.Marshal(plan.Resolved())
	if err != nil {
		t.Fatalf("resolved plan: %v", err)
	}
	again, ds := Parse("../testdata/plans/valid/fuzz.yaml", resolved, Overrides{})
	if again == nil {
		t.Fatalf("the resolved plan is refused:\n%v\n%s", ds, resolved)
	}
	if again.Fingerprint() != plan.Fingerprint() {
		t.Errorf("the resolved plan means something else:\n%s", resolved)
	}
}
