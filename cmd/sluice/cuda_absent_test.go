//go:build !cuda || !linux

package main

import (
	"strings"
	"testing"
)

// TestCUDAAbsent: a binary that does not share the memory of a GPU checks and draws a plan that does, and refuses to run it
// at each line, with how to build one that runs it.
func TestCUDAAbsent(t *testing.T) {
	const plan = "../../testdata/plans/cuda.yaml"
	code, out := invoke(t, nil, "run", plan, "--out", t.TempDir()+"/out")
	if code != 2 || strings.Count(out, "error: this binary was built without cuda shared memory") != 3 {
		t.Errorf("exit %d:\n%s", code, out)
	}
	for _, want := range []string{"cuda.yaml:16:27", "cuda.yaml:21:27", "cuda.yaml:26:20"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in:\n%s", want, out)
		}
	}
	for _, verb := range []string{"validate", "graph"} {
		if code, out := invoke(t, nil, verb, plan); code != 0 {
			t.Errorf("%s: exit %d:\n%s", verb, code, out)
		}
	}
}
