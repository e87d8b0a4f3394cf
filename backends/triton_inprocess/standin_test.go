//go:build inprocess

package inprocess

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/native"
)

// build compiles testdata/standin.c into a server directory of its own.
func build(t testing.TB, options ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	compile(t, dir, options...)
	return dir
}

func compile(t testing.TB, dir string, options ...string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	// Else go test does not know that it depends on them
	for _, name := range []string{"standin.c", "standin_models.h", "standin_run.h"} {
		if _, err := os.ReadFile(filepath.Join("testdata", name)); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{
		"-shared", "-fPIC", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-pthread", "-Wl,-Bsymbolic",
		"-o", filepath.Join(dir, "lib", "libtritonserver.so"), "testdata/standin.c",
	}
	if out, err := exec.Command("gcc", append(options, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
}

// standin is the stand-in library, as tests speak to it beside the backend.
type standin struct {
	dir                          string
	live, misuse, waiting, opens uintptr
}

// shared is compiled and loaded once: a library stays in its process.
var shared = sync.OnceValues(func() (*standin, error) {
	dir, err := os.MkdirTemp("", "standin")
	return &standin{dir: dir}, err
})

// ready gives the library, with its gate closed. When the test is over nothing may be left in it.
func ready(t testing.TB) *standin {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	if s.live == 0 {
		compile(t, s.dir)
		s.load(t)
	}
	s.open(false)
	var before []int
	for kind := range kinds {
		before = append(before, s.count(kind))
	}
	misused := native.Call(s.misuse)
	t.Cleanup(func() {
		for kind, name := range kinds {
			if n := s.count(kind) - before[kind]; n != 0 {
				t.Errorf("%d %s are left in the library", n, name)
			}
		}
		if n := native.Call(s.misuse) - misused; n != 0 {
			t.Errorf("the library was used wrongly %d times", n)
		}
	})
	return s
}

func (s *standin) load(t testing.TB) {
	n, err := native.Open(filepath.Join(s.dir, "lib", "libtritonserver.so"))
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]*uintptr{
		"live": &s.live, "misuse": &s.misuse, "at_gate": &s.waiting, "open": &s.opens,
	} {
		if *to, err = n.Function("standin_" + name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMain removes the library's folder.
func TestMain(m *testing.M) {
	code := m.Run()
	if s, err := shared(); err == nil {
		_ = os.RemoveAll(s.dir)
	}
	os.Exit(code)
}

// kinds are what the library counts.
var kinds = []string{
	"servers", "options", "allocators", "requests", "responses", "buffers", "errors", "messages",
}

const (
	liveRequests  = 3
	liveResponses = 4
	liveBuffers   = 5
)

func (s *standin) count(kind int) int { return int(native.Call(s.live, uintptr(kind))) }

// open opens or closes the gate at which scripts wait.
func (s *standin) open(yes bool) {
	native.Call(s.opens, map[bool]uintptr{true: 1}[yes])
}

// atGate is how many requests wait.
func (s *standin) atGate() int { return int(native.Call(s.waiting)) }

// repository writes scripts, by model: their steps are separated by semicolons.
func repository(t testing.TB, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(script, "; ", "\n")+"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// target is a server of the stand-in with one model, m.
func (s *standin) target(t testing.TB, script string) backends.Target {
	return backends.Target{
		Model:     "m",
		InProcess: &backends.InProcess{ServerDir: s.dir, Repository: repository(t, map[string]string{"m": script})},
	}
}

// number is an INT32 tensor of one element.
func number(name string, v byte) backends.Tensor {
	return backends.Tensor{Name: name, Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte{v, 0, 0, 0}}
}

// ask is a small request whose one output is compared.
func ask() backends.Request {
	return backends.Request{
		Inputs: []backends.Tensor{number("INPUT0", 7)},
		Expect: &backends.Expect{Outputs: []backends.Tensor{number("OUTPUT0", 7)}},
	}
}

// link is an open target with one lane, which tests drive by hand.
type link struct {
	t     testing.TB
	conn  *conn
	lane  *lane
	clock backends.Clock
	gen   uint32
}

func connect(t testing.TB, target backends.Target) *link {
	t.Helper()
	l := &link{t: t, clock: backends.Clock{Origin: time.Now().Add(-time.Second)}}
	opened, err := Kind().Open(t.Context(), target, l.clock)
	if err != nil {
		t.Fatal(err)
	}
	l.conn = opened.(*conn)
	l.lane = l.another()
	return l
}

func (l *link) another() *lane {
	l.t.Helper()
	lanes, _, err := l.conn.Lanes(l.t.Context(), 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		l.t.Fatal(err)
	}
	return lanes[0].(*lane)
}

func (l *link) prepare(r backends.Request) *backends.Call {
	l.t.Helper()
	call, err := l.conn.Prepare(r)
	if err != nil {
		l.t.Fatal(err)
	}
	return call
}

func (l *link) send(c *backends.Call) *backends.Sample {
	l.gen++
	s := &backends.Sample{Due: l.clock.Now(), Gen: l.gen, Items: 1}
	l.lane.Send(0, c, backends.Fields{ID: uint64(l.gen)}, s)
	return s
}

// finish receives until the request is done; some are what Recv gives before.
func (l *link) finish(some func()) {
	for {
		slot, done := l.lane.Recv()
		if slot != 0 {
			l.t.Fatalf("slot %d of a request in slot 0", slot)
		}
		if done {
			return
		}
		some()
	}
}

func (l *link) do(c *backends.Call) *backends.Sample {
	s := l.send(c)
	l.finish(func() {})
	return s
}

// close ends the lane and the target, and all of it.
func (l *link) close() {
	l.t.Helper()
	if err := l.lane.Close(); err != nil {
		l.t.Error(err)
	}
	if slot, done := l.lane.Recv(); slot != backends.None || done {
		l.t.Errorf("after Close slot %d, done %v", slot, done)
	}
	if err := l.conn.Close(l.t.Context()); err != nil {
		l.t.Error(err)
	}
}
