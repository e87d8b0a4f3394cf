package program

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// compile makes a program of a plan's text, which must have no mistake.
func compile(t *testing.T, text string) *Program {
	t.Helper()
	p, _ := compileWarned(t, text)
	return p
}

// compileWarned is compile with the warnings.
func compileWarned(t *testing.T, text string) (*Program, source.Diagnostics) {
	t.Helper()
	plan, diags := scenario.Parse("plan.yaml", []byte(text), scenario.Overrides{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := Compile(plan, all.Kinds())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p, diags
}
