package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// as is the environment in which this test binary plays role.
func as(t *testing.T, role string) {
	t.Helper()
	t.Setenv(childRole, role)
}

func TestSpawn(t *testing.T) {
	as(t, "serve")
	c, err := Spawn(t.Context(), os.Args[0], nil, Config{Instances: 3, TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	urls := c.URLs
	if !strings.HasPrefix(urls.HTTP, "https://127.0.0.1:") ||
		!strings.HasPrefix(urls.GRPC, "grpcs://127.0.0.1:") || !strings.Contains(urls.CA, "BEGIN CERTIFICATE") {
		t.Errorf("%+v", urls)
	}
	if a := get(t, urls.Control+"/sim/count"); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for range 2 {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}
	if answers(urls.Control) {
		t.Error("it still answers after Stop")
	}
	if how := c.Ended(); how != "" {
		t.Errorf("it was stopped, and is said to have ended: %s", how)
	}
}

// TestChildThatEnds: a child that ends by itself is known to have, and how.
func TestChildThatEnds(t *testing.T) {
	as(t, "serve")
	c, err := Spawn(t.Context(), os.Args[0], nil, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if how := c.Ended(); how != "" {
		t.Errorf("it runs, and is said to have ended: %s", how)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the child is known", func() bool { return c.Ended() == "signal: killed" })
	_ = c.Stop()
}

func TestSpawnEndsWithItsContext(t *testing.T) {
	as(t, "serve")
	ctx, cancel := context.WithCancel(t.Context())
	c, err := Spawn(ctx, os.Args[0], nil, Config{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	eventually(t, "the child ends with its context", func() bool { return !answers(c.Control) })
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

func TestSpawnSaysWhyNot(t *testing.T) {
	for _, c := range []struct {
		role, exe, want string
		config          Config
	}{
		{"serve", os.Args[0], "errors is 2, want a ratio", Config{Errors: 2}},
		{"serve", os.Args[0], "192.0.2.1 is not a loopback address", Config{HTTP: "192.0.2.1:80"}},
		{"mute", os.Args[0], "nothing to serve", Config{}},
		{"serve", "/nonexistent/server", "no such file", Config{}},
	} {
		as(t, c.role)
		child, err := Spawn(t.Context(), c.exe, nil, c.config)
		if err == nil {
			_ = child.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// playParent spawns a child, prints its URLs and waits to be killed.
func playParent() {
	os.Setenv(childRole, "serve")
	c, err := Spawn(context.Background(), os.Args[0], nil, Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(c.URLs)
	time.Sleep(time.Hour)
}

func TestChildDiesWithItsParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), childRole+"=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var urls URLs
	if err := json.NewDecoder(out).Decode(&urls); err != nil {
		t.Fatal(err)
	}
	if !answers(urls.Control) {
		t.Fatal("the grandchild does not answer")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, "the grandchild ends when its parent was killed",
		func() bool { return !answers(urls.Control) })
}

// answers reports whether anything listens at url.
func answers(url string) bool {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

func TestMainEndsWithItsInput(t *testing.T) {
	in, feed := io.Pipe()
	back, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Main(t.Context(), in, out) }()
	config := `{"seed":7,"stall":{"at_ns":1000,"for_ns":5},` +
		`"service_time":{"shape":"uniform","min":0.001,"max":0.002}}`
	if _, err := io.WriteString(feed, config); err != nil {
		t.Fatal(err)
	}
	var r reply
	if err := json.NewDecoder(back).Decode(&r); err != nil {
		t.Fatal(err)
	}
	if a := get(t, r.HTTP+"/v2/health/ready"); a.status != 200 || r.CA != "" || r.Error != "" {
		t.Errorf("%d %+v", a.status, r)
	}
	feed.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestMainRefusesABadConfiguration(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "read the server's configuration: EOF"},
		{`{"instances":"two"}`, "read the server's configuration"},
		{`{"instance":2}`, `unknown field "instance"`},
		{`{"reset":-0.1}`, "reset is -0.1, want a ratio from 0 to 1"},
		{`{"instances":-1}`, "instances is -1"},
		{`{"max_batch":-1}`, "max_batch is -1"},
		{`{"queue_size":-1}`, "queue_size is -1"},
		{`{"slow_body_ns":-1}`, "must not be negative"},
		{`{"stall":{"at_ns":1,"for_ns":9,"every_ns":9}}`, "every longer than for"},
		{`{"service_time":{"shape":"cauchy"}}`, `service_time: unknown shape "cauchy"`},
		{`{"grpc":"0.0.0.0:0"}`, "0.0.0.0 is not a loopback address"},
		{`{"http":"127.0.0.1"}`, "missing port"},
		{`{"http":"unix:/nonexistent/dir/s"}`, "listen for http"},
	} {
		var out bytes.Buffer
		err := Main(t.Context(), strings.NewReader(c.in), &out)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.in, err, c.want)
		}
		if r := decode[reply](t, out.Bytes()); err != nil && r.Error != err.Error() {
			t.Errorf("%s: printed %s", c.in, out.Bytes())
		}
	}
}

func TestMainCannotPrint(t *testing.T) {
	in := strings.NewReader("{}")
	broken := errors.New("broken")
	if err := Main(t.Context(), in, failing{broken}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
