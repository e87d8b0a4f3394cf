//go:build inprocess

package inprocess

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/triton"
)

// TestLibrary: what cannot be loaded is refused, and why is said.
func TestLibrary(t *testing.T) {
	empty, text := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(text, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(text, "lib", "libtritonserver.so"), []byte("no library"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, dir, want string }{
		{
			"another major version", build(t, "-DMAJOR=2"),
			"has version 2.34 of Triton's C API; 1.24 or a later 1.x is needed",
		},
		{"too old", build(t, "-DMINOR=23"), "has version 1.23 of Triton's C API; 1.24 or a later 1.x is needed"},
		{
			"a function is missing", build(t, "-DLACKING"),
			"libtritonserver.so has no TRITONSERVER_InferenceRequestCancel",
		},
		{
			"no folder", filepath.Join(empty, "nosuch"),
			"no Triton found in " + filepath.Join(empty, "nosuch") + ": stat " + filepath.Join(empty, "nosuch",
				"lib", "libtritonserver.so") + ": no such file",
		},
		{
			"no library", empty,
			"no Triton found in " + empty + ": stat " + filepath.Join(empty, "lib",
				"libtritonserver.so") + ": no such file",
		},
		{"another file", text, "LD_LIBRARY_PATH"},
	} {
		k := Kind()
		for range 2 { // that it was refused once is not in the way
			c, err := k.Open(t.Context(),
				backends.Target{Model: "m", InProcess: &backends.InProcess{ServerDir: row.dir, Repository: empty}},
				backends.Clock{})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v, %v; want %q", row.name, c, err, row.want)
			}
		}
	}
}

// TestOptions: options reach the library, and what it says of them reaches the user.
func TestOptions(t *testing.T) {
	s := ready(t)
	for _, row := range []struct {
		name  string
		value any
		wrong string
	}{
		{"load_model", "m", ""},
		{"min_supported_compute_capability", 7.5, ""},
		{"exit_timeout_secs", int64(3), ""},
		{"load_model", "m,bad", "inprocess.options: no model can be called bad"},
		{"min_supported_compute_capability", 6.5, "inprocess.options: 6.5 is no capability"},
		{"cache_directory", "x", "has no TRITONSERVER_ServerOptionsSetCacheDirectory"},
		{"log_verbose", int64(-1), "whole number"},
	} {
		target := s.target(t, "last")
		target.InProcess.Options = []backends.Parameter{{Name: row.name, Value: row.value}}
		c, err := Kind().Open(t.Context(), target, backends.Clock{})
		if row.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s %v: %v", row.name, row.value, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %v: %v", row.name, row.value, err)
		} else if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	target := s.target(t, "last")
	target.InProcess.Repository = filepath.Join(target.InProcess.Repository, "nosuch")
	if _, err := Kind().Open(t.Context(), target, backends.Clock{}); err == nil ||
		!strings.Contains(err.Error(), "start the server: failed to load all models") {
		t.Errorf("no repository: %v", err)
	}
}

// TestModels: what is asked about models, and done to them.
func TestModels(t *testing.T) {
	s := ready(t)
	target := s.target(t, "last")
	target.InProcess.Repository = repository(t, map[string]string{"m": "last", "many": "respond 2; final"})
	target.InProcess.Options = []backends.Parameter{{Name: "id", Value: "inside"}}
	l := connect(t, target)
	got, err := l.conn.Describe(t.Context(), "")
	want := backends.Signature{
		Model: "m", Version: "1", Configured: true, MaxBatch: 8, Batched: true, Statistics: true,
		BinaryTensors: true, Sequence: backends.NoSequences,
		Inputs:  []backends.Port{{Name: "INPUT0", Type: tensor.Int32, Shape: []int64{1}}},
		Outputs: []backends.Port{{Name: "OUTPUT0", Type: tensor.Int32, Shape: []int64{1}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if many, err := l.conn.Describe(t.Context(), "many"); err != nil || !many.Decoupled {
		t.Errorf("decoupled %v, %v", many.Decoupled, err)
	}
	for model, wrong := range map[string]string{
		"": "", "m": "", "many": "", "nosuch": "unknown model 'nosuch'",
	} {
		if err := l.conn.Ready(t.Context(), model); (err == nil) != (wrong == "") ||
			err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q is ready: %v", model, err)
		}
	}
	if err := l.conn.Unload(t.Context(), "many"); err != nil {
		t.Error(err)
	}
	if err := l.conn.Ready(t.Context(), "many"); err == nil ||
		!strings.HasSuffix(err.Error(), "model many is not ready: many: Internal: unloaded, as asked") {
		t.Errorf("unloaded: %v", err)
	}
	for model, want := range map[string]string{
		"": ": many: Internal: unloaded, as asked", "nosuch": ": the repository does not have it",
		"never": ": it is not loaded; `inprocess.options.load_model` names the models to begin with",
	} {
		if got := l.conn.notReadyReason(model); got != want {
			t.Errorf("why %q is not ready%s, want%s", model, got, want)
		}
	}
	r := ask()
	r.Model = "many"
	if got := l.do(l.prepare(r)); got.Class != backends.Status || got.Status != 5 {
		t.Errorf("a request to a model that is gone: %v %d %q", got.Class, got.Status, got.Note)
	}
	if err := l.conn.Load(t.Context(), "many"); err != nil {
		t.Error(err)
	}
	if got := l.do(l.prepare(r)); got.Class != backends.OK || got.Responses != 2 {
		t.Errorf("a request to a model that is back: %v %q", got.Class, got.Note)
	}
	if err := l.conn.Load(t.Context(), "nosuch"); err == nil ||
		!strings.Contains(err.Error(), "load model nosuch: failed to load 'nosuch'") {
		t.Errorf("load: %v", err)
	}
	l.close()
}

// TestStatistics: the library's own count.
func TestStatistics(t *testing.T) {
	s := ready(t)
	target := s.target(t, "last")
	target.InProcess.Repository = repository(t, map[string]string{"m": "last", "bad": "error no"})
	l := connect(t, target)
	bad := ask()
	bad.Model = "bad"
	for range 5 {
		l.do(l.prepare(ask()))
		l.do(l.prepare(bad))
	}
	for model, want := range map[string]map[string]int64{
		"": {"requests": 5, "failures": 0, "inferences": 5}, "bad": {"requests": 0, "failures": 5, "inferences": 0},
	} {
		into := make([]int64, len(triton.Series()))
		if at, err := l.conn.Stats(t.Context(), model, "", into); err != nil || at == 0 {
			t.Errorf("%q: at %d, %v", model, at, err)
		}
		for i, series := range triton.Series() {
			if n, ok := want[series.Name]; ok && into[i] != n {
				t.Errorf("%q: %s is %d, want %d", model, series.Name, into[i], n)
			}
			delete(want, series.Name)
		}
		if len(want) > 0 {
			t.Errorf("there is no %v", want)
		}
	}
	if _, err := l.conn.Stats(t.Context(), "nosuch", "", make([]int64, len(triton.Series()))); err == nil ||
		!strings.Contains(err.Error(), "statistics of nosuch: no statistics of 'nosuch'") {
		t.Errorf("%v", err)
	}
	l.close()
}

// TestOneServer: targets that want the same server have it together, until the last is closed; one
// that wants another has its own.
func TestOneServer(t *testing.T) {
	s := ready(t)
	k, target := Kind(), s.target(t, "last")
	other := target
	other.InProcess = &backends.InProcess{
		ServerDir: s.dir, Repository: target.InProcess.Repository,
		Options: []backends.Parameter{{Name: "id", Value: "b"}},
	}
	var open []backends.Conn
	for _, target := range []backends.Target{target, target, other} {
		c, err := k.Open(t.Context(), target, backends.Clock{Origin: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	for i, running := range []int{2, 2, 1} {
		if n := s.count(0); n != running {
			t.Errorf("%d servers before the close of target %d, want %d", n, i, running)
		}
		for range 2 { // closing twice is closing once
			if err := open[i].Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestManyServers: a process has room for 2000 callbacks, and none is given back.
func TestManyServers(t *testing.T) {
	s := ready(t)
	k, target := Kind(), s.target(t, "last")
	for range 600 {
		c, err := k.Open(t.Context(), target, backends.Clock{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGaveUp: who does not wait for a server to start leaves none behind.
func TestGaveUp(t *testing.T) {
	s := ready(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := newHost()
	if c, err := h.open(ctx, s.target(t, "last"), backends.Clock{}); err == nil { // it was quick
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	} else if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	await(t, "last user of the server to leave", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.servers) == 0
	})
	await(t, "end of the server", func() bool { return s.count(0) == 0 && s.count(2) == 0 })
}
