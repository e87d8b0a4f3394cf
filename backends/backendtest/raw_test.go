package backendtest_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/backendtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talk says what, and reads until the end.
func talk(t *testing.T, r *backendtest.Raw, what string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", r.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte(what)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

func TestScripts(t *testing.T) {
	for script, want := range map[string]string{
		"accept\nread 3\nsend \"a\\x00\\n\"":                              "a\x00\n",
		"accept\nread head\nsend \"x\"\nclose":                            "x",
		"accept\nread size\nsend hex(00ff7f)":                             "\x00\xff\x7f",
		"accept\nawait \"b\\r\"\nsplit 2 1ms\nsend \"12345\"":             "12345",
		"accept\nread 1\nsend \"1\"\nread 1\nsend \"2\"":                  "12",
		"# a comment\n\n accept\n delay 1ms\n send \"late\"\n":            "late",
		"accept\nread 2\nsend \"again\"\nrepeat":                          "againagainagain",
		"accept\nread 99999\nsend \"never: the client says too little\"":  "",
		"accept\nsend \"first\"\naccept\nsend \"other connections only\"": "first",
	} {
		r := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, script)
		r.Size(6)
		done := make(chan string)
		go func() {
			c, err := net.Dial("tcp", r.Address)
			if err != nil {
				done <- err.Error()
				return
			}
			defer c.Close()
			_, _ = c.Write([]byte("ab\r\n\r\n"))
			_ = c.(*net.TCPConn).CloseWrite()
			b, _ := io.ReadAll(c)
			done <- string(b)
		}()
		if got := <-done; got != want {
			t.Errorf("%s:\ngot %q, want %q", script, got, want)
		}
	}
}

func TestReset(t *testing.T) {
	r := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, "accept\nread 1\nreset")
	if _, err := talk(t, r, "x"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v", err)
	}
}

func TestDownAndUp(t *testing.T) {
	r := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, "accept\nread 1\nsend \"y\"\nhang")
	c, err := net.Dial("tcp", r.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.Down()
	if _, err := net.Dial("tcp", r.Address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a server that is down: %v", err)
	}
	r.Up(t)
	if r.Accepted() > 1 {
		t.Errorf("%d connections", r.Accepted())
	}
	c2, err := net.Dial("tcp", r.Address)
	if err != nil {
		t.Fatal(err)
	}
	_ = c2.Close()
}

// fatal is a test that keeps what it was ended with.
type fatal struct {
	testing.TB
	text string
}

func (f *fatal) Helper() {}
func (f *fatal) Fatal(v ...any) {
	f.text = v[0].(error).Error()
	panic(f)
}

func TestScriptMistakes(t *testing.T) {
	for script, want := range map[string]string{
		"":                                  "no accept",
		"send \"x\"":                        "before accept",
		"accept\nsend x":                    "line 2",
		"accept\nsend hex(0)":               "odd length",
		"accept\nread some":                 "invalid syntax",
		"accept\ndelay 5":                   "missing unit",
		"accept\nsplit 1 x":                 "invalid duration",
		"accept\nclose now":                 "takes no value",
		"accept; send \"x":                  "a string does not end",
		"accept; send foo(\"x\")":           "there is no function",
		"accept; send \"x\"*1000GiB*2":      "is no payload",
		"accept; frame dat \"x\"":           "no type of frames",
		"accept; settings WINDOW=1":         "no setting",
		"accept; headers \"no colon\"":      "no field",
		"accept; goaway 1":                  "wants 2 numbers",
		"accept; send proto(x:1)":           "a field's number",
		"accept; tls borrowed":              "no such tls",
		"accept; serve smtp":                "no such serve",
		"accept; serve http\non x y; close": "invalid syntax",
		"accept\n\nshout \"x\"":             "line 3: \"shout \\\"x\\\"\": no such command",
	} {
		f := &fatal{TB: t}
		func() {
			defer func() { _ = recover() }()
			backendtest.StartRaw(f, backendtest.RawOptions{}, nil, script)
		}()
		if !strings.Contains(f.text, want) {
			t.Errorf("%q: %q, want %q", script, f.text, want)
		}
	}
}
