package main

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// invoke runs the program with more in its environment, and gives its exit code and all that it printed.
func invoke(t *testing.T, env []string, args ...string) (code int, out string) {
	t.Helper()
	exe, err := exec.LookPath("sluice")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}
