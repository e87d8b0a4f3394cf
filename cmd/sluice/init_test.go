package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/verdict"
)

// TestInitFitsTheModel: the plan fits what the server says of the model. One that keeps state is sent sequences, and a decoupled
// one is read as a stream.
func TestInitFitsTheModel(t *testing.T) {
	server, err := builtin.Start(context.Background(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	urls := map[string]string{"http": server.HTTPURL(), "grpc": server.GRPCURL()}
	for _, c := range []struct{ scheme, model, want string }{
		{"http", "sequence_acc", "\n  sequences: {}"},
		{"grpc", "sequence_acc_string", "\n  sequences: {}"},
		{"grpc", "repeat_decoupled", "\n  streaming: true"},
		{"http", "repeat_decoupled", "\n  endpoint: generate\n  streaming: true"},
		{"http", "simple", ""},
	} {
		t.Run(c.model+" "+c.scheme, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sluiceIn(t, dir, 0, "init", "--url", urls[c.scheme], "--model", c.model, "--out", "plan.yaml")
			plan, err := os.ReadFile(filepath.Join(dir, "plan.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"sequences:", "streaming:"} {
				if !strings.Contains(c.want, key) && strings.Contains(string(plan), key) {
					t.Errorf("there is %s\n%s", key, plan)
				}
			}
			if !strings.Contains(string(plan), c.want) {
				t.Errorf("there is no %q\n%s", c.want, plan)
			}
			sluiceIn(t, dir, 0, "validate", "plan.yaml")
			short := strings.NewReplacer("[1, 2, 4, 8]", "[1]", "for: 5s", "for: 1 requests", "for: 20s", "for: 1 requests", "warmup: 1s", "warmup: 0s").Replace(string(plan))
			if err := os.WriteFile(filepath.Join(dir, "short.yaml"), []byte(short), 0o600); err != nil {
				t.Fatal(err)
			}
			out := sluiceIn(t, dir, -1, "run", "short.yaml", "--out", "results")
			if strings.Contains(out, "does not fit") || strings.Contains(out, "could not be set up") {
				t.Error(out)
			}
		})
	}
}

// sluiceIn runs this program in dir, and gives what it printed. code is its exit code; -1: any but those of a plan or a program
// that is wrong.
func sluiceIn(t *testing.T, dir string, code int, args ...string) string {
	t.Helper()
	exe, err := exec.LookPath("sluice") // testscript puts this binary on PATH under that name
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(exe, args...)
	run.Dir = dir
	printed, err := run.CombinedOutput()
	got := run.ProcessState.ExitCode()
	if code < 0 && (got == verdict.CodePlan || got == verdict.CodeSetUp || got == verdict.CodeInternal) || code >= 0 && got != code {
		t.Fatalf("sluice %s: exit code %d (%v)\n%s", strings.Join(args, " "), got, err, printed)
	}
	return string(printed)
}
