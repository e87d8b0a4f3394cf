package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/schema"
)

// TestInitFitsTheModel: the plan fits what the server says of the model. One that keeps state is
// sent sequences, and a decoupled one is read as a stream.
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
			runs(t, dir, string(plan))
		})
	}
}

// runs plays a plan of init in short: it reaches its server and sends what the model takes.
func runs(t *testing.T, dir, plan string) {
	t.Helper()
	short := regexp.MustCompile(`( for:) [0-9]+(s|m| requests)?`).ReplaceAllString(plan, "$1 2 requests")
	short = regexp.MustCompile(`(?m)^ *every: .*\n`).ReplaceAllString(short, "")
	short = strings.NewReplacer("2 requests sequences", "2 sequences", "for: ${length}",
		"for: 2 requests", "warmup: 1s", "warmup: 0s", "[1, 2, 4, 8]", "[1]").Replace(short)
	if err := os.WriteFile(filepath.Join(dir, "short.yaml"), []byte(short), 0o600); err != nil {
		t.Fatal(err)
	}
	out := sluiceIn(t, dir, -1, "run", "short.yaml", "--out", "results")
	if strings.Contains(out, "does not fit") || strings.Contains(out, "could not be set up") {
		t.Error(out)
	}
}

// TestInitForEveryPurpose: each kind of plan is valid without a warning, for each backend and over
// each protocol, and so is its profile; it runs, and editors find its schema beside it.
func TestInitForEveryPurpose(t *testing.T) {
	server, err := builtin.Start(context.Background(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	n := 0
	for i, p := range purposes() {
		for _, backend := range []string{"kserve", "triton"} {
			for _, url := range []string{
				server.HTTPURL(), server.GRPCURL(), "builtin://http",
				"builtin://grpc",
			} {
				scheme, _, _ := strings.Cut(url, "://")
				if scheme == "builtin" && backend == "kserve" {
					continue // the same texts
				}
				if n++; !cases.Runs(n+i, 4) { // each purpose, backend and protocol is among them
					continue
				}
				t.Run(strings.Join([]string{p.name, backend, scheme}, " "), func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					sluiceIn(t, dir, 0, "init", "--for", p.name, "--backend", backend, "--url", url,
						"--model", p.model, "--out", "plan.yaml")
					plan, err := os.ReadFile(filepath.Join(dir, "plan.yaml"))
					if err != nil {
						t.Fatal(err)
					}
					schemaLine, _, _ := strings.Cut(string(plan), "\n")
					if text, err := os.ReadFile(filepath.Join(dir,
						strings.TrimPrefix(schemaLine,
							"# yaml-language-server: $schema="))); err != nil ||
						!bytes.Equal(text, schema.Plan()) {
						t.Errorf("%s: %v, %d bytes", schemaLine, err, len(text))
					}
					for _, profile := range scenario.OutlineOf(filepath.Join(dir, "plan.yaml")).Profiles {
						if out := sluiceIn(t, dir, 0, "validate", "plan.yaml", "--profile",
							profile); strings.Contains(out, "warning") {
							t.Errorf("%s\n%s", out, plan)
						}
					}
					if out := sluiceIn(t, dir, 0, "validate", "plan.yaml"); strings.Contains(out, "warning") {
						t.Errorf("%s\n%s", out, plan)
					}
					if p.name == "gate" && !strings.Contains(string(plan), "\nprofiles:\n  ci:") {
						t.Errorf("there is no profile\n%s", plan)
					}
					runs(t, dir, string(plan))
				})
			}
		}
	}
}

// TestInitRefuses: a plan is written only where it can be valid.
func TestInitRefuses(t *testing.T) {
	server, err := builtin.Start(context.Background(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for _, c := range []struct{ flags, want string }{
		{
			"--url 127.0.0.1:18000 --model m",
			"has no scheme\nwrite --url http://127.0.0.1:18000, or --url grpc://127.0.0.1:18000 for gRPC",
		},
		{"--url triton --model m", "--url triton has no scheme"},
		{"--url ftp://127.0.0.1 --model m", "backend triton has no scheme ftp://\nallowed: http://"},
		{"--url grpc://127.0.0.1:1", "--model is needed"},
		{
			"--for gates",
			`unknown purpose "gates": allowed: start, smoke, gate, capacity, soak, sequence; did you mean "gate"?`,
		},
		{"--backend tritn", `unknown backend "tritn": allowed: kserve, triton, tfserving; did you mean "triton"?`},
		{"--backend openai", `unknown backend "openai": allowed: kserve, triton, tfserving`},
		{"--backend triton_inprocess", `unknown backend "triton_inprocess": allowed: kserve, triton, tfserving`},
		{"--model simpl --url " + server.GRPCURL(), "the server does not know model \"simpl\""},
		{"--model simpl --url " + server.HTTPURL(), "did you mean \"simple\"?\nit has "},
		{
			"--for sequence --model simple --url " + server.HTTPURL(),
			"model simple keeps no state between requests: --for sequence needs one with sequence batching",
		},
	} {
		dir := t.TempDir()
		if out := sluiceIn(t, dir, 2, append(strings.Fields("init --out plan.yaml"),
			strings.Fields(c.flags)...)...); !strings.Contains(out, c.want) {
			t.Errorf("init %s: %s", c.flags, out)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("init %s: wrote %v, %v", c.flags, files, err)
		}
	}
}

// TestInitSchema: the schema is written over an older one and nothing else, and only where a plan
// names it.
func TestInitSchema(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, schemaFile)
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"$id": "https://example.com/other.json"}`)
	if out := sluiceIn(t, dir, 2, "init", "--out", "plan.yaml"); !strings.Contains(out,
		"exists and is not a schema of plans") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(dir, "plan.yaml")); err == nil {
		t.Error("the plan was written")
	}
	sluiceIn(t, dir, 0, "init", "--out", "plan.yaml", "--schema=false")
	if text, err := os.ReadFile(filepath.Join(dir, "plan.yaml")); err != nil ||
		strings.Contains(string(text), "$schema") {
		t.Errorf("%v\n%s", err, text)
	}
	write(`{"$id": "https://sluice-bench.github.io/schema/plan/v1.json"}`)
	sluiceIn(t, dir, 0, "init", "--out", "plan.yaml", "--force")
	if text, err := os.ReadFile(file); err != nil || !bytes.Equal(text, schema.Plan()) {
		t.Errorf("%v, %d bytes", err, len(text))
	}
	if out := sluiceIn(t, t.TempDir(), 0, "init"); strings.Contains(out, "$schema") {
		t.Error("a plan on standard output names a file that is not there")
	}
}

// sluiceIn runs this program in dir, and gives what it printed. code is its exit code; -1: any but
// those of a plan or a program that is wrong.
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
	if code < 0 && (got == verdict.CodePlan || got == verdict.CodeSetUp ||
		got == verdict.CodeInternal) || code >= 0 && got != code {
		t.Fatalf("sluice %s: exit code %d (%v)\n%s", strings.Join(args, " "), got, err, printed)
	}
	return string(printed)
}
