//go:build !cuda || !linux

package program

import (
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestCUDAAbsent: a binary that does not share memory of a GPU takes plans that do, and refuses to
// run them at their line, with how to get one that runs them.
func TestCUDAAbsent(t *testing.T) {
	plan, diags := scenario.Parse("plan.yaml", []byte(`version: 1
target: {backend: triton, url: "http://h", model: m}
stages:
  - {id: a, load: {concurrency: 1}, shared_memory: cuda, for: 5 requests}
  - {id: b, load: {concurrency: [1, 2]}, shared_memory: {kind: cuda, device: 1}, for: 5 requests}
  - {id: c, load: {concurrency: 1}, shared_memory: system, for: 5 requests}
`), scenario.Overrides{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	program, diags := Compile(plan, all.Kinds())
	const want = "4:52 not-in-binary: this binary was built without cuda shared memory\n5:64 not-in-binary: " +
		"this binary was built without cuda shared memory"
	if got := told(program.Missing); told(diags) != "" || got != want {
		t.Errorf("%v\n%s\nwant\n%s", diags, got, want)
	}
	if how := all.Kinds()[1].Absent; program.Missing[0].Detail == "" || len(how) != 1 {
		t.Errorf("%q, %v", program.Missing[0].Detail, how)
	}
}
