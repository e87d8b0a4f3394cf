package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func reply(head, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

var checked = backends.Request{
	Body: []byte(`{"x":1}`), Expect: &backends.Expect{Fields: []backends.Field{{Path: "y", Want: int64(2)}}},
}

// TestLaw: with and without values to compare, streaming and not, over TLS and a unix socket.
func TestLaw(t *testing.T) {
	plain := backends.Request{Body: []byte("text")}
	event := reply("Content-Type: text/event-stream\r\n", "data: {\"y\":2}\n\n: that was all\n")
	for name, c := range map[string]struct {
		o       backendtest.RawOptions
		r       backends.Request
		streams bool
		reply   string
	}{
		"compared":   {backendtest.RawOptions{}, checked, false, reply("", `{"y":2}`)},
		"plain, tls": {backendtest.RawOptions{TLS: true}, plain, false, reply("", "anything")},
		"unix":       {backendtest.RawOptions{Unix: true}, plain, false, reply("", "anything")},
		"events":     {backendtest.RawOptions{}, checked, true, event},
	} {
		t.Run(name, func(t *testing.T) {
			s := backendtest.Suite{
				Kind: Kind(), Target: backends.Target{Streaming: c.streams, Path: "/p"}, Request: c.r,
				Servers: backendtest.HTTP(c.o, c.reply),
			}
			if c.streams {
				delete(s.Servers, backendtest.SlowBody)
				s.Without = map[backendtest.Fault]string{
					backendtest.SlowBody: "the first and the last byte that count are those of one event",
				}
			}
			backendtest.Run(t, s)
		})
	}
}

func open(t *testing.T, target backends.Target) *Conn {
	t.Helper()
	if target.URL == "" {
		target.URL = "http://h:1/prefix"
	}
	c, err := Open(target, backends.Clock{Origin: time.Now()}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// request parses what a call sends.
func request(t *testing.T, c *backends.Call) (*nethttp.Request, string) {
	t.Helper()
	head, body := http1.New(new(judge)).Begin(0, c, backends.Fields{}, new(backends.Sample))
	all := bytes.Clone(head)
	for _, b := range body {
		all = append(all, b...)
	}
	if len(all) != c.Size {
		t.Errorf("%d bytes, the call says %d", len(all), c.Size)
	}
	r, err := nethttp.ReadRequest(newReader(all))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

// TestRequests: method, path, headers and body as they are on the wire.
func TestRequests(t *testing.T) {
	type wire struct{ Line, Type, Coding, Accept, Body string }
	for name, c := range map[string]struct {
		target backends.Target
		r      backends.Request
		want   wire
	}{
		"as usual": {backends.Target{}, backends.Request{}, wire{Line: "POST /prefix"}},
		"without a prefix": {
			backends.Target{URL: "http://h:1", Method: "GET"}, backends.Request{}, wire{Line: "GET /"},
		},
		"a query": {
			backends.Target{Method: "PUT", Path: "/a/b?n=1"},
			backends.Request{Body: []byte("x"), BodyType: "text/plain"},
			wire{Line: "PUT /prefix/a/b?n=1", Type: "text/plain", Body: "x"},
		},
		"bytes": {
			backends.Target{},
			backends.Request{Body: []byte{0, 1}},
			wire{Line: "POST /prefix", Type: "application/octet-stream", Body: "\x00\x01"},
		},
		"the plan's type": {
			backends.Target{Headers: []backends.Header{{Name: "content-type", Value: "a/b"}}},
			backends.Request{Body: []byte("x"), BodyType: "text/plain"},
			wire{Line: "POST /prefix", Type: "a/b", Body: "x"},
		},
		"compressed": {
			backends.Target{Compression: "gzip"},
			backends.Request{Body: []byte("x")},
			wire{
				Line: "POST /prefix", Type: "application/octet-stream", Coding: "gzip", Accept: "gzip",
				Body: "x",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			call, err := open(t, c.target).Prepare(c.r)
			if err != nil {
				t.Fatal(err)
			}
			r, body := request(t, call)
			got := wire{
				r.Method + " " + r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding"),
				r.Header.Get("Accept-Encoding"), body,
			}
			if got.Coding == "gzip" {
				plain, err := gzip.NewReader(strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(plain)
				if err != nil {
					t.Fatal(err)
				}
				got.Body = string(text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestForm: the parts of a form are read back as they were, whatever they contain.
func TestForm(t *testing.T) {
	parts := []backends.Part{
		{Name: "data", File: `k"1.jpg`, Type: "image/jpeg", Data: []byte("\xff\xd8\r\n--")},
		{Name: "top_k", Data: []byte("5")},
	}
	_, first := form(parts)
	boundary := strings.TrimPrefix(first, "multipart/form-data; boundary=")
	parts = append(parts, backends.Part{Name: "data", File: "2.bin", Data: []byte("x--" + boundary + "--")})
	call, err := open(t, backends.Target{}).Prepare(backends.Request{Parts: parts, Items: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, body := request(t, call)
	_, about, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	var got []backends.Part
	for form := multipart.NewReader(strings.NewReader(body), about["boundary"]); ; {
		p, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(p)
		got = append(got, backends.Part{
			Name: p.FormName(), File: p.FileName(), Type: p.Header.Get("Content-Type"), Data: data,
		})
	}
	parts[0].File = "k%221.jpg"
	if diff := cmp.Diff(parts, got); diff != "" || call.Items != 2 {
		t.Errorf("items %d, %s", call.Items, diff)
	}
}

// TestRefused: requests and targets that cannot be sent as the plan says.
func TestRefused(t *testing.T) {
	for want, err := range map[string]error{
		"parameters cannot be added": prepare(t, backends.Request{Parameters: []backends.Parameter{{Name: "a"}}}),
		"outputs cannot be":          prepare(t, backends.Request{Outputs: []backends.Output{{Name: "a"}}}),
		"part of a sequence":         prepare(t, backends.Request{Sequence: &backends.Sequence{}}),
		"header Content-Encoding cannot be set": prepare(t,
			backends.Request{Headers: []backends.Header{{Name: "Content-Encoding", Value: "gzip"}}}),
		"is not an HTTP method": Kind().Check(backends.Target{URL: "http://h", Method: "get it"}),
		"scheme":                Kind().Check(backends.Target{URL: "grpc://h"}),
		"read one by one": Kind().Check(backends.Target{
			URL: "http://h", Streaming: true, Headers: []backends.Header{{Name: "Accept-Encoding", Value: "gzip"}},
		}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func prepare(t *testing.T, r backends.Request) error {
	_, err := open(t, backends.Target{}).Prepare(r)
	return err
}
