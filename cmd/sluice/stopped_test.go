package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
)

// TestStopped stops the client of a closed loop for 0.3 s, six times in 4 s (twice unless all cases are
// asked), while its server answers in 20 ms. What it measured breaks `latency.max < 100ms`, which is neither
// pass nor fail: the client may have been the cause, and the result says how often it stood still.
func TestStopped(t *testing.T) {
	for _, row := range []struct{ name, validity, cause, severity, code string }{
		{"over 10 % of hold", "{}", "invalid", result.Invalidating, result.PausedShare},
		{
			"as much as the plan allows", "{paused: 90%}", string(result.CauseClient), result.Bounding,
			result.ClientPaused,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			stops := cases.Count(2, 6)
			r := stopped(t, stops, row.validity)
			n := r.Nodes[0]
			a := n.Assertions[0]
			if r.ExitCode != verdict.CodeInvalid || a.Verdict != result.Inconclusive ||
				string(a.Cause) != row.cause {
				t.Errorf("exit %d: %s; %s, cause %q: %s", r.ExitCode, r.Reason, a.Verdict, a.Cause,
					a.Reason)
			}
			if f := n.Finding(row.code); f == nil || f.Severity != row.severity {
				t.Errorf("findings %+v", n.Validity.Findings)
			}
			f := n.Finding(result.ClientPaused)
			if f == nil {
				t.Fatal("no pause is found")
			}
			times := regexp.MustCompile(`stood still ([0-9]+) times`).FindStringSubmatch(f.Text)
			if times == nil {
				t.Fatal(f.Text)
			}
			// A busy machine adds pauses of its own.
			if found, err := strconv.Atoi(times[1]); err != nil || found < stops || found > 10*stops {
				t.Errorf("stopped %d times: %s", stops, f.Text)
			}
		})
	}
}

// stopped returns the result of a run whose process is stopped so often.
func stopped(t *testing.T, stops int, validity string) *result.Result {
	t.Helper()
	server, err := builtin.Start(t.Context(), builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	const stop, between = 300 * time.Millisecond, 250 * time.Millisecond
	length := time.Duration(stops)*(stop+between) + 700*time.Millisecond
	dir := t.TempDir()
	file, out := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "out")
	plan := `
version: 1
validity: ` + validity + `
target: {backend: kserve, url: "` + server.HTTPURL() + `", model: simple}
stages: [{id: s, load: {concurrency: 2}, for: ` + length.String() + `, assert: [latency.max < 100ms]}]
`
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := exec.LookPath("sluice")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(exe, "run", file, "--out", out)
	var printed strings.Builder
	run.Stdout, run.Stderr = &printed, &printed
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill() })
	name := filepath.Join(out, "result.json")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if _, err := os.Stat(name); err == nil {
			break // it is about to send
		}
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // another process makes the file
	}
	for range stops {
		time.Sleep(between) //nolint:forbidigo // the stops are the fault
		send(t, run, syscall.SIGSTOP)
		time.Sleep(stop) //nolint:forbidigo // as above
		send(t, run, syscall.SIGCONT)
	}
	_ = run.Wait() // its exit code is in the result
	t.Log(printed.String())
	text, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = text.Close() }()
	r, err := result.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := run.ProcessState.ExitCode(); got != r.ExitCode {
		t.Errorf("exit code %d, in the result %d", got, r.ExitCode)
	}
	return r
}

func send(t *testing.T, run *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := run.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
