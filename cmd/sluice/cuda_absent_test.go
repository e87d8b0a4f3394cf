//go:build !cuda || !linux

package main

import (
	"strings"
	"testing"
)

// TestCUDAAbsent: a binary that does not share the memory of a GPU refuses a plan that does, at
// each line, with how to build one that runs it. validate and graph refuse what run does.
func TestCUDAAbsent(t *testing.T) {
	const plan = "../../testdata/plans/cuda.yaml"
	for _, command := range [][]string{
		{"run", plan, "--out", t.TempDir() + "/out"},
		{"validate", plan},
		{"graph", plan},
	} {
		code, out := invoke(t, nil, command...)
		if code != 2 || strings.Count(out, "error: this binary was built without cuda shared memory") != 3 {
			t.Errorf("%s: exit %d:\n%s", command[0], code, out)
		}
		for _, want := range []string{"cuda.yaml:16:27", "cuda.yaml:21:27", "cuda.yaml:26:20"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %s is not in:\n%s", command[0], want, out)
			}
		}
	}
}
