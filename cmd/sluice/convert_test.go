package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestOldCommandLinesRun plays the command lines of scenario/convert/testdata/lines.txt that fit
// the embedded server, with its address, its model and short windows in the place of theirs. How
// fast this machine is decides nothing.
func TestOldCommandLinesRun(t *testing.T) {
	server := startServer(t, builtin.Config{})
	ran := playLines(t, "lines.txt", 3, func(t *testing.T, _ string, args []string) { playLine(t, server, args) })
	if ran < 20 {
		t.Errorf("%d command lines fit the embedded server, want 20 or more", ran)
	}
}

// playLine runs a command line against server, and looks for the files that it asks for.
func playLine(t *testing.T, server *builtin.Server, args []string) {
	t.Helper()
	url, model := strings.TrimPrefix(server.HTTPURL(), "http://"), "simple"
	if slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "grpc") }) {
		url = strings.TrimPrefix(server.GRPCURL(), "grpc://")
	}
	if slices.Contains(args, "slow") {
		model = "slow"
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "intervals.txt"), []byte("10000\n20000\n5000\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	args = append(args, "-u", url, "-m", model, "-p", "80", "-s", "999")
	printed := sluiceIn(t, dir, -1, append([]string{"convert", "perf-analyzer", "--run", "--out", "results", "--"}, args...)...)
	if strings.Contains(printed, "nothing was measured") {
		return // a machine that is too busy to measure has nothing to report
	}
	if !strings.Contains(printed, "*** Measurement Settings ***") {
		t.Errorf("the report is not perf_analyzer's\n%s", printed)
	}
	if at := slices.Index(args, "-f"); at >= 0 {
		table, err := os.ReadFile(filepath.Join(dir, args[at+1]))
		if err != nil || !strings.Contains(string(table), ",Inferences/Second,Client Send,") {
			t.Errorf("%s: %v\n%s\n%s", args[at+1], err, table, printed)
		}
	}
}

// With --run, and with --ask, the server says what perf_analyzer learns from it: that a model keeps
// sequences, and which inputs hold texts.
func TestConvertAsksTheServer(t *testing.T) {
	server := startServer(t, builtin.Config{})
	dir := t.TempDir()
	ask := func(line string) string {
		return sluiceIn(t, dir, 0, append([]string{"convert", "perf-analyzer", "--ask", "--"}, strings.Fields(line)...)...)
	}
	if printed := ask("-m m -u 127.0.0.1:1"); !strings.Contains(printed, "the server did not describe the model: ") ||
		!strings.Contains(printed, "model: m ") {
		t.Error(printed)
	}
	for _, c := range []struct{ line, want string }{
		{"-m sequence_acc -u " + server.HTTPURL(), "sequences: {length: {min: 16, max: 24}}"},
		{
			"-i grpc -m sequence_acc -u " + strings.TrimPrefix(server.GRPCURL(), "grpc://"),
			"sequences: {length: {min: 16, max: 24}}",
		},
		{
			"-m identity_bytes --shape INPUT0:2 --string-data x -u " + server.HTTPURL(),
			"data: {generate: {INPUT0: x}, count: 1}",
		},
	} {
		c.line += " --request-count 45"
		if plan := ask(c.line); !strings.Contains(plan, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.line, c.want, plan)
		}
		sluiceIn(t, dir, -1, append([]string{"convert", "perf-analyzer", "--run", "--out", "results", "--"},
			strings.Fields(c.line)...)...)
	}
}

// A server that answers only after it was asked, as one that is starting, gets a run of what the
// command line alone says, which is reported.
func TestConvertAsksTooEarly(t *testing.T) {
	server := startServer(t, builtin.Config{})
	where, err := url.Parse(server.HTTPURL())
	if err != nil {
		t.Fatal(err)
	}
	proxy, asked := httputil.NewSingleHostReverseProxy(where), new(atomic.Bool)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !asked.Swap(true) {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	out := sluiceIn(t, t.TempDir(), -1, "convert", "perf-analyzer", "--run", "--out", "results", "--",
		"-m", "identity_bytes", "--shape", "INPUT0:2", "--string-data", "x", "--request-count", "5",
		"-u", front.URL)
	if !strings.Contains(out, "the server did not describe the model: ") ||
		!strings.Contains(out, "Request count: 5") {
		t.Error(out)
	}
}

// A pipe is not opened to find out whether it can be written: that waits for a reader, and is the
// end for one who is there.
func TestWritablePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	tried := make(chan error, 1)
	go func() { tried <- writable(path) }()
	select {
	case err := <-tried:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for a reader")
		reader, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_ = reader.Close()
		t.Log(<-tried)
	}
}

// modelTeller is a server that describes its models as the test sets them.
type modelTeller struct {
	backends.Conn
	models map[string]backends.Signature
	model  string
}

func (t modelTeller) Close(context.Context) error { return nil }

func (t modelTeller) Describe(context.Context, string) (backends.Signature, error) {
	sig, ok := t.models[t.model]
	if !ok {
		return sig, errors.New("unknown model")
	}
	return sig, nil
}

// An ensemble keeps sequences when a model that it calls does, at whatever depth; one that calls
// itself ends.
func TestEnsembleKeepsSequences(t *testing.T) {
	models := map[string]backends.Signature{
		"alone": {Sequence: backends.NoSequences},
		"acc":   {Sequence: backends.TextSequences},
		"plain": {Calls: []backends.Called{{Model: "alone"}, {Model: "alone"}}},
		"inner": {Calls: []backends.Called{{Model: "alone"}, {Model: "acc"}}},
		"outer": {Calls: []backends.Called{{Model: "plain"}, {Model: "inner"}}},
		"loop":  {Calls: []backends.Called{{Model: "loop"}}},
		"torn":  {Calls: []backends.Called{{Model: "gone"}}},
	}
	kind := &backends.Kind{Open: func(_ context.Context, target backends.Target,
		_ backends.Clock,
	) (backends.Conn, error) {
		return modelTeller{models: models, model: target.Model}, nil
	}}
	for model, want := range map[string]bool{
		"alone": false, "acc": true, "plain": false,
		"inner": true, "outer": true, "loop": false,
	} {
		got, err := keepsSequences(t.Context(), kind, backends.Target{Model: model}, models[model],
			map[string]bool{})
		if err != nil || got != want {
			t.Errorf("%s: %t, %v", model, got, err)
		}
	}
	if _, err := keepsSequences(t.Context(), kind, backends.Target{Model: "torn"}, models["torn"],
		map[string]bool{}); err == nil {
		t.Error("a model that is not there is none that keeps no sequences")
	}
}
