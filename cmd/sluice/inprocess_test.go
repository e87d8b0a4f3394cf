//go:build inprocess

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// standin compiles the stand-in of Triton's library into a server directory.
func standin(t *testing.T, options ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	args := append(options, "-shared", "-fPIC", "-pthread", "-Wl,-Bsymbolic", "-o",
		filepath.Join(dir, "lib", "libtritonserver.so"),
		"../../backends/triton_inprocess/testdata/standin.c")
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return dir
}

// TestInProcess: plans are played on a library in this process, whatever its models do, and on one
// that does not fit.
func TestInProcess(t *testing.T) {
	dir, models := standin(t), t.TempDir()
	for name, script := range map[string]string{
		"m": "last", "many": "respond 5\nfinal", "slow": "wait 50\nlast",
		"bad": "respond 1\nerror it went wrong", "full": "refuse the queue is full", "never": "cancelled",
	} {
		if err := os.WriteFile(filepath.Join(models, name), []byte(script+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plan := func(dir, target, stage string) string {
		return "version: 1\ntarget:\n  backend: triton_inprocess\n  ready: 0s\n  inprocess: {server_dir: " + dir +
			", repository: " + models + "}\n  " + target +
			"\ndata: {rows: [{INPUT0: [7]}]}\nstages:\n  - {id: s, batch: 2, " + stage + "}\n"
	}
	for name, row := range map[string]struct {
		plan string
		code []int // 5: this machine was busy
		want []string
	}{
		"closed loop": {
			plan(dir, "model: m",
				"load: {concurrency: 4}, for: 500 requests, assert: [errors.count == 0, server.requests.count == 500]"),
			[]int{0, 5},
			nil,
		},
		"the client's part of a closed loop": {
			plan(dir, "model: slow",
				"load: {concurrency: 2}, for: 20 requests, assert: [client.turnaround.count == 18, "+
					"client.turnaround.p50 < 10s, errors.count == 0]"),
			[]int{0, 5},
			[]string{"the server runs in this process"},
		},
		"CPU time that is not the client's alone": {
			plan(dir, "model: m",
				"load: {concurrency: 2}, for: 20 requests, assert: [client.cpu < 50%, errors.count == 0]"),
			[]int{2},
			[]string{"its server runs in this process, and the CPU time of the two cannot be told apart"},
		},
		"decoupled": {
			plan(dir, "model: many\n  streaming: true",
				"load: {concurrency: 2}, for: 100 requests, assert: [errors.count == 0, responses.min == 5, "+
					"responses.max == 5]"),
			[]int{0, 5},
			nil,
		},
		"a pool that is full": {
			plan(dir, "model: slow",
				"load: {rate: 200/s, max_in_flight: 4}, for: 500ms, assert: [errors.count == 0, latency.p50 >= 50ms]"),
			[]int{0, 5},
			[]string{"note: s: 4 slots were busy when ", "raise max_in_flight"},
		},
		"an error reply": {
			plan(dir, "model: bad\n  streaming: true",
				"load: {concurrency: 2}, for: 50 requests, assert: [errors.status.count == 0]"),
			[]int{1, 5},
			[]string{"it went wrong"},
		},
		"refused": {
			plan(dir, "model: full", "load: {concurrency: 2}, for: 50 requests"),
			[]int{1, 5},
			[]string{"the queue is full"},
		},
		"no answer": {
			plan(dir, "model: never\n  timeout: 50ms",
				"load: {concurrency: 2}, for: 10 requests, assert: [errors.timeout.count == 0]"),
			[]int{1, 5},
			[]string{"timeout"},
		},
		"not ready": {
			strings.Replace(plan(dir, "model: full", "load: {concurrency: 2}, for: 50 requests"),
				"ready: 0s", "ready: 200ms", 1),
			[]int{4},
			[]string{`target "main": no request was answered within 200ms: status 14: the queue is full`},
		},
		"another version": {
			plan(standin(t, "-DMAJOR=2"), "model: m", "load: {concurrency: 1}, for: 5 requests"),
			[]int{4},
			[]string{
				"target \"main\": ",
				"has version 2.34 of Triton's C API; 1.24 or a later 1.x is needed",
			},
		},
		"a function is missing": {
			plan(standin(t, "-DLACKING"), "model: m", "load: {concurrency: 1}, for: 5 requests"),
			[]int{4},
			[]string{"libtritonserver.so has no TRITONSERVER_InferenceRequestCancel"},
		},
		"no library": {
			plan(models, "model: m", "load: {concurrency: 1}, for: 5 requests"),
			[]int{2},
			[]string{"no Triton found in " + models, "plan.yaml:5:27"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := t.TempDir()
			file := filepath.Join(at, "plan.yaml")
			if err := os.WriteFile(file, []byte(row.plan), 0o600); err != nil {
				t.Fatal(err)
			}
			code, out := invoke(t, nil, "run", file, "--out", filepath.Join(at, "out"))
			if !slices.Contains(row.code, code) {
				t.Errorf("exit code %d, want %v\n%s", code, row.code, out)
			}
			if _, err := os.Stat(filepath.Join(at, "out", "result.json")); (err == nil) != (code != 2) {
				t.Errorf("exit code %d, and result.json: %v", code, err)
			}
			for _, want := range row.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
		})
	}
}
