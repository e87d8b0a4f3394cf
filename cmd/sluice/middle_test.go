package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
)

// middle is a proxy of a server, for both protocols, that spoils replies. Replies to
// inference have numbers, from 1, in the order in which they come; of a stream each message is one.
type middle struct {
	*httptest.Server
	replies, statistics atomic.Int64

	mu     sync.Mutex
	seen   func(n int64)                              // before a reply goes on; none does meanwhile
	spoil  func(n int64, body []byte) ([]byte, error) // a reply's bytes, or why the connection ends here
	refuse func(n int64) bool                         // the n-th question for statistics is answered with 400
}

// between starts one before a server.
func between(t *testing.T, s builtin.URLs, m *middle) *middle {
	t.Helper()
	transport := &http.Transport{Protocols: protocols(false, true)}
	toHTTP, toGRPC := parseURL(t, s.HTTP), parseURL(t, strings.Replace(s.GRPC, "grpc:", "http:", 1))
	proxy := &httputil.ReverseProxy{
		ErrorLog:       discard(),
		ModifyResponse: m.reply,
		Transport: trips(func(r *http.Request) (*http.Response, error) {
			if r.ProtoMajor == 2 {
				return transport.RoundTrip(r)
			}
			return http.DefaultTransport.RoundTrip(r)
		}),
		Rewrite: func(r *httputil.ProxyRequest) {
			to := toHTTP
			if r.In.ProtoMajor == 2 {
				to = toGRPC
			}
			r.SetURL(to)
			r.Out.ProtoMajor = r.In.ProtoMajor
		},
	}
	m.Server = httptest.NewUnstartedServer(proxy)
	m.Config.Protocols, m.Config.ErrorLog = protocols(true, true), discard()
	m.Start()
	t.Cleanup(func() {
		m.Close()
		transport.CloseIdleConnections()
	})
	return m
}

func protocols(one, two bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(one)
	p.SetUnencryptedHTTP2(two)
	return p
}

func parseURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

type trips func(*http.Request) (*http.Response, error)

func (f trips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// over is where it is for a protocol.
func (m *middle) over(protocol string) string {
	return protocol + strings.TrimPrefix(m.URL, "http")
}

// reply takes a reply in hand.
func (m *middle) reply(r *http.Response) error {
	path, grpc := r.Request.URL.Path, r.Request.ProtoMajor == 2
	switch {
	case strings.HasSuffix(path, "/stats") || strings.HasSuffix(path, "/ModelStatistics"):
		if m.refuse != nil && m.refuse(m.statistics.Add(1)) {
			refused(r, grpc)
		}
	case r.Header.Get("Grpc-Status") != "":
		r.ContentLength = 0 // an error is its head alone: none is sent on before it is whole
	case strings.HasSuffix(path, "/infer"):
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		body, err = m.one(body)
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), ends(err)))
		if err == nil {
			r.ContentLength = int64(len(body))
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		}
	case strings.HasSuffix(path, "/ModelInfer") || strings.HasSuffix(path, "/ModelStreamInfer"):
		r.Body = &frames{from: r.Body, change: m.one}
	}
	return nil
}

func (m *middle) one(body []byte) ([]byte, error) {
	n := m.replies.Add(1)
	if m.seen != nil {
		m.mu.Lock()
		m.seen(n)
		m.mu.Unlock()
	}
	if m.spoil == nil {
		return body, nil
	}
	return m.spoil(n, body)
}

// refused makes an error of a reply.
func refused(r *http.Response, grpc bool) {
	_ = r.Body.Close()
	text := []byte(`{"error":"no statistics any more"}`)
	if grpc {
		r.Header.Set("Grpc-Status", "3")
		r.Header.Set("Grpc-Message", "no statistics any more")
		r.Trailer, text = nil, nil
	} else {
		r.StatusCode = http.StatusBadRequest
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.Header.Set("Content-Length", strconv.Itoa(len(text)))
}

// ends is a reader that ends with an error, or well.
func ends(err error) io.Reader {
	if err == nil {
		err = io.EOF
	}
	return failing{err}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// frames are the messages of a gRPC reply: a zero byte, the length in four, and the message. Each
// passes through change.
type frames struct {
	from   io.ReadCloser
	change func([]byte) ([]byte, error)
	left   []byte
	err    error
}

func (f *frames) Read(p []byte) (int, error) {
	for len(f.left) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.next()
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}

func (f *frames) next() {
	var head [5]byte
	if _, f.err = io.ReadFull(f.from, head[:]); f.err != nil {
		return
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, f.err = io.ReadFull(f.from, message); f.err != nil {
		return
	}
	message, f.err = f.change(message)
	binary.BigEndian.PutUint32(head[1:], uint32(len(message)))
	if f.err == nil {
		f.left = append(head[:], message...)
	}
}

// Close does not wait for a request that is still being sent: its sender waits for what this ends.
func (f *frames) Close() error {
	go f.from.Close()
	return nil
}

var errCut = errors.New("the connection ends here")

// TestFrames: what is not spoiled goes through as it is.
func TestFrames(t *testing.T) {
	text := "\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01c"
	f := &frames{
		from:   io.NopCloser(strings.NewReader(text)),
		change: func(b []byte) ([]byte, error) { return b, nil },
	}
	if got, err := io.ReadAll(f); string(got) != text || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
