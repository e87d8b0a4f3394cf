package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/schema"
)

// delayVariable is the test hook that starves the client: how long the pacer is held up before each
// arrival.
const delayVariable = "SLUICE_TEST_PACER_DELAY"

// crashVariable is the test hook that plants a mistake of the program itself: the name of one of
// crashes.
const crashVariable = "SLUICE_TEST_CRASH"

// crashes are mistakes that end a run when its embedded server starts. All but "panic" are fatal to
// the process.
var crashes = map[string]func(){
	"panic":     func() { panic("a planted mistake") },
	"goroutine": func() { go panic("a planted mistake"); select {} },
	"threads":   func() { debug.SetMaxThreads(1) },
	"memory": func() {
		for kept := [][]byte{}; ; {
			kept = append(kept, make([]byte, 1<<30))
		}
	},
}

// TestMain lets more tests run side by side than there are processors: most of the time they wait
// for a plan's seconds to pass.
func TestMain(m *testing.M) {
	cases.Parallel(6)
	testscript.Main(m, map[string]func(){"sluice": func() {
		a := system()
		// The embedded server is this program under the name by which it was called: the test
		// binary has others.
		a.exe = func() (string, error) { return exec.LookPath(os.Args[0]) }
		if crash := crashes[os.Getenv(crashVariable)]; crash != nil {
			a.exe = func() (string, error) { crash(); return "", nil }
		}
		if d, err := time.ParseDuration(os.Getenv(delayVariable)); err == nil {
			a.delay = func(uint64) { time.Sleep(d) }
		}
		os.Exit(Main(os.Args[1:], a))
	}})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Condition: func(name string) (bool, error) {
			if name != "all" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return cases.All(), nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "into": into, "signal": signalled, "server": server,
			"requests": requests, "sequences": sequences, "result": checkResult, "killserver": killServer,
			"echo": echo, "holds": holds, "hides": hides, "whole": whole,
		},
	})
}

// exits CODE COMMAND ARGS…: runs a command and demands its exit code, or 5 for one of busy.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exitCode(exit.ProcessState)
	}
	command := strings.ReplaceAll(strings.Join(args[2:], " "), ts.Getenv("ROOT"), "$ROOT")
	page := "testdata/script/" + ts.Name() + ".txtar"
	if strconv.Itoa(got) != args[0] && (got != 5 || !mayBeInvalid(page, command)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// exitCode is the exit code as a shell shows it: 128 and the signal of a process that one has ended.
func exitCode(p *os.ProcessState) int {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.ExitCode()
}

// into FILE CODE COMMAND ARGS…: runs a command with its standard output at FILE, and demands its
// exit code. The file "closed" is a pipe whose reader has gone, for both streams.
func into(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: into FILE CODE COMMAND ARGS…")
	}
	cmd := exec.Command(lookPath(ts, args[2]), args[3:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	var w *os.File
	var err error
	if args[0] == "closed" {
		var r *os.File
		r, w, err = os.Pipe()
		ts.Check(err)
		ts.Check(r.Close())
		cmd.Stderr = w
	} else {
		w, err = os.OpenFile(args[0], os.O_WRONLY, 0)
		ts.Check(err)
	}
	defer w.Close()
	cmd.Stdout = w
	_ = cmd.Run()
	if got := strconv.Itoa(exitCode(cmd.ProcessState)); got != args[1] {
		ts.Fatalf("exit code %s, want %s", got, args[1])
	}
}

// signal NAME TEXT CODE COMMAND ARGS…: sends the signal once TEXT has stood on stderr, or all of
// several with & between them, and demands the exit code. The name INT2 sends SIGINT twice, TERMS
// sends SIGTERM until the process ends.
func signalled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: signal NAME TEXT CODE COMMAND ARGS…")
	}
	signals := map[string][]syscall.Signal{
		"INT": {syscall.SIGINT}, "TERM": {syscall.SIGTERM}, "HUP": {syscall.SIGHUP},
		"INT2":  {syscall.SIGINT, syscall.SIGINT},
		"TERMS": {syscall.SIGTERM}, "QUIT": {syscall.SIGQUIT}, "ABRT": {syscall.SIGABRT},
		"KILL": {syscall.SIGKILL},
	}[args[0]]
	path := lookPath(ts, args[3])
	cmd := exec.Command(path, args[4:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	seen := &watcher{text: strings.Split(args[1], " & "), seen: make(chan struct{})}
	cmd.Stderr, cmd.Stdout = seen, io.Discard
	ts.Check(cmd.Start())
	select {
	case <-seen.seen:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		ts.Fatalf("%q did not appear on stderr: %s", args[1], seen.String())
	}
	for i, s := range signals {
		if i > 0 {
			time.Sleep(200 * time.Millisecond) // the two must not become one
		}
		ts.Check(cmd.Process.Signal(s))
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	for again := args[0] == "TERMS"; again; { // until it ends
		select {
		case <-ended:
			again = false
		case <-time.After(time.Millisecond):
			_ = cmd.Process.Signal(signals[0])
		}
	}
	<-ended
	ts.Logf("%s", seen.String())
	if got := strconv.Itoa(exitCode(cmd.ProcessState)); got != args[2] {
		ts.Fatalf("exit code %s, want %s", got, args[2])
	}
}

func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p := filepath.Join(dir, name); fileExists(p) {
			return p
		}
	}
	ts.Fatalf("%s is not in PATH", name)
	return ""
}

func fileExists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "WORK", "ROOT", "HTTP_URL", "GRPC_URL",
		delayVariable,
	} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

// watcher waits for a text in what is written to it.
type watcher struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	text []string // all of them
	once sync.Once
	seen chan struct{}
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	missing := func(text string) bool { return !strings.Contains(w.buf.String(), text) }
	if !slices.ContainsFunc(w.text, missing) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// servers are those that a script has started, by script.
var servers sync.Map

// server [JSON]: starts the embedded server in this process and puts its addresses into HTTP_URL
// and GRPC_URL.
func server(ts *testscript.TestScript, _ bool, args []string) {
	var c builtin.Config
	if len(args) > 0 {
		ts.Check(json.Unmarshal([]byte(args[0]), &c))
	}
	if !c.TLS { // its certificate is for 127.0.0.1
		c.HTTP, c.GRPC = cmp.Or(c.HTTP, backendtest.Loopback()), cmp.Or(c.GRPC, backendtest.Loopback())
	}
	s, err := builtin.Start(context.Background(), c)
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	servers.Store(ts, s)
	ts.Setenv("HTTP_URL", s.HTTPURL())
	ts.Setenv("GRPC_URL", s.GRPCURL())
	ts.Setenv("CONTROL_URL", s.URLs().Control)
}

// killserver N: closes the server, in the background, after N inference requests.
func killServer(ts *testscript.TestScript, _ bool, args []string) {
	after, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	s, ok := servers.Load(ts)
	if !ok {
		ts.Fatalf("no server was started")
	}
	control, over := ts.Getenv("CONTROL_URL"), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		looks := time.NewTicker(5 * time.Millisecond)
		defer looks.Stop()
		for {
			select {
			case <-over:
				return
			case <-looks.C:
			}
			if n, err := seen(control); err == nil && n >= after {
				_ = s.(*builtin.Server).Close()
				return
			}
		}
	})
	ts.Defer(func() { close(over); watching.Wait() })
}

// requests N: demands N inference requests at the server. "! requests 0": some.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	n, err := seen(ts.Getenv("CONTROL_URL"))
	ts.Check(err)
	if got := strconv.FormatInt(n, 10); (got == args[0]) == neg {
		ts.Fatalf("the server has seen %s requests, want %s", got, args[0])
	}
}

// seen returns the number of inference requests at a server.
func seen(control string) (int64, error) {
	reply, err := http.Get(control + "/sim/count")
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	var count struct {
		Arrivals int64 `json:"arrivals"`
	}
	err = json.NewDecoder(reply.Body).Decode(&count)
	return count.Arrivals, err
}

// sequences FIELD VALUE …: demands what the server has seen of sequences (begun, ended, open, most,
// wrong).
func sequences(ts *testscript.TestScript, neg bool, args []string) {
	reply, err := http.Get(ts.Getenv("CONTROL_URL") + "/sim/count")
	ts.Check(err)
	defer reply.Body.Close()
	var page struct{ Sequences map[string]any }
	ts.Check(json.NewDecoder(reply.Body).Decode(&page))
	for i := 0; i+1 < len(args); i += 2 {
		if got := fmt.Sprint(page.Sequences[args[i]]); (got == args[i+1]) == neg {
			ts.Fatalf("the server has %s sequences %s, want %s: %v", got, args[i], args[i+1], page.Sequences)
		}
	}
}

// result FILE PATH VALUE …: demands that the file is a valid result.json and holds these values, by
// dotted paths; a value of * means any but null, and one of several may stand with | between them.
// Numbers are compared as written in JSON.
func checkResult(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s: %d files", args[0], len(files))
	}
	data, err := os.ReadFile(files[0])
	ts.Check(err)
	if err := schema.ValidateResult(data); err != nil {
		ts.Fatalf("%s is not valid: %v", files[0], err)
	}
	var doc any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	ts.Check(d.Decode(&doc))
	for i := 1; i+1 < len(args); i += 2 {
		v := dig(doc, strings.Split(args[i], "/"))
		got, err := json.Marshal(v)
		ts.Check(err)
		text := strings.Trim(string(got), `"`)
		if !slices.Contains(strings.Split(args[i+1], "|"), text) && (args[i+1] != "*" || v == nil) {
			ts.Fatalf("%s is %s, want %s", args[i], text, args[i+1])
		}
	}
}

// dig follows a path of map keys, list indexes and NAME=VALUE selectors into JSON.
func dig(v any, path []string) any {
	for _, p := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			v = pick(x, p)
		default:
			return nil
		}
	}
	return v
}

func pick(list []any, p string) any {
	if i, err := strconv.Atoi(p); err == nil {
		if i < 0 {
			i += len(list)
		}
		if i < 0 || i >= len(list) {
			return nil
		}
		return list[i]
	}
	key, want, _ := strings.Cut(p, "=")
	want = strings.ReplaceAll(want, "~1", "/") // it may be a JSON pointer
	for _, e := range list {
		if m, ok := e.(map[string]any); ok && m[key] == want {
			return e
		}
	}
	return nil
}
