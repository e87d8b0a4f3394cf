package kserve_test

import (
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// hosts is a server that notes whom requests are for, by the last part of their path, over HTTP and
// gRPC.
type hosts struct {
	mu   sync.Mutex
	seen map[string][]string
}

// ServeHTTP implements http.Handler. It answers no call of gRPC.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.seen[path.Base(r.URL.Path)] = append(h.seen[path.Base(r.URL.Path)], r.Host)
	h.mu.Unlock()
	if r.ProtoMajor == 2 {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Status", "12")
	}
}

// of gives the hosts of a call, once there is one.
func (h *hosts) of(call string) []string {
	for range 1000 {
		h.mu.Lock()
		list := slices.Clone(h.seen[call])
		h.mu.Unlock()
		if len(list) > 0 {
			return slices.Compact(list)
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // between two looks at what came
	}
	return nil
}

// TestHost: the header Host is whom requests are for, over HTTP and as the authority over gRPC: of
// requests, on connections of their own, shared ones and streams, and of control calls. The
// request's is over the target's, and TLS checks the name that it checks without it.
func TestHost(t *testing.T) {
	t.Parallel()
	const other = "m.ns.example.com"
	secure, cert, _ := backendtest.Certificate(t)
	h2 := secure.Clone()
	h2.NextProtos = []string{"h2", "http/1.1"}
	for _, c := range []struct {
		name, scheme, call string
		target             backends.Target
		headers            []backends.Header // of the request
		want, control      string            // "": the address
	}{
		{"HTTP", "http", "infer", backends.Target{}, nil, "", ""},
		{
			"HTTP", "http", "infer",
			backends.Target{Headers: []backends.Header{{Name: "host", Value: other}}},
			nil,
			other, other,
		},
		{
			"HTTP, of the request", "http", "infer",
			backends.Target{Headers: []backends.Header{{Name: "Host", Value: "a"}}},
			[]backends.Header{{Name: "Host", Value: other}},
			other, "a",
		},
		{
			"HTTPS", "https", "infer",
			backends.Target{Headers: []backends.Header{{Name: "Host", Value: other}}},
			nil,
			other, other,
		},
		{"unary", "grpc", "ModelInfer", backends.Target{}, nil, "", ""},
		{
			"unary", "grpc", "ModelInfer",
			backends.Target{Headers: []backends.Header{{Name: "host", Value: other}}},
			nil, other, other,
		},
		{
			"unary, of the request", "grpc", "ModelInfer",
			backends.Target{},
			[]backends.Header{{Name: "Host", Value: other}},
			other, "",
		},
		{
			"unary, both", "grpc", "ModelInfer",
			backends.Target{Headers: []backends.Header{{Name: "Host", Value: "a"}}},
			[]backends.Header{{Name: "Host", Value: other}},
			other, "a",
		},
		{
			"unary, per request", "grpc", "ModelInfer",
			backends.Target{
				Connections: backends.PerRequest, Headers: []backends.Header{{Name: "Host", Value: other}},
			},
			nil, other, other,
		},
		{"shared", "grpc", "ModelInfer", backends.Target{Connections: 1}, nil, "", ""},
		{
			"shared", "grpc", "ModelInfer",
			backends.Target{Connections: 1, Headers: []backends.Header{{Name: "Host", Value: other + ":99"}}},
			nil,
			other + ":99", other + ":99",
		},
		{
			"shared, of the request", "grpc", "ModelInfer",
			backends.Target{Connections: 1},
			[]backends.Header{{Name: "Host", Value: other}},
			other, "",
		},
		{"stream", "grpc", "ModelStreamInfer", backends.Target{Streaming: true}, nil, "", ""},
		{
			"stream", "grpc", "ModelStreamInfer",
			backends.Target{Streaming: true, Headers: []backends.Header{{Name: "Host", Value: other}}},
			nil, other,
			other,
		},
		{
			"unary, TLS", "grpcs", "ModelInfer",
			backends.Target{Headers: []backends.Header{{Name: "Host", Value: other}}},
			nil, other, other,
		},
		{
			"shared, TLS", "grpcs", "ModelInfer",
			backends.Target{Connections: 1, Headers: []backends.Header{{Name: "Host", Value: other}}},
			nil, other,
			other,
		},
		{
			"shared, TLS, of the request", "grpcs", "ModelInfer",
			backends.Target{Connections: 1},
			[]backends.Header{{Name: "Host", Value: other}},
			other, "127.0.0.1",
		},
		{
			"shared, TLS with server_name", "grpcs", "ModelInfer",
			backends.Target{
				Connections: 1, TLS: &backends.TLSOptions{ServerName: "localhost"},
				Headers: []backends.Header{{Name: "Host", Value: other}},
			},
			nil, other, other,
		},
		{
			"stream, TLS", "grpcs", "ModelStreamInfer",
			backends.Target{Streaming: true, Headers: []backends.Header{{Name: "Host", Value: other}}},
			nil, other,
			other,
		},
	} {
		h := &hosts{seen: map[string][]string{}}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: h, Protocols: new(http.Protocols), TLSConfig: h2, ReadHeaderTimeout: time.Minute}
		s.Protocols.SetHTTP1(true)
		s.Protocols.SetHTTP2(true)
		s.Protocols.SetUnencryptedHTTP2(true)
		target := c.target
		target.URL, target.Model, target.ConnectTimeout = c.scheme+"://"+l.Addr().String(), "m", 20*time.Second
		if strings.HasSuffix(c.scheme, "s") {
			target.TLS = &backends.TLSOptions{CA: cert}
			if c.target.TLS != nil {
				target.TLS.ServerName = c.target.TLS.ServerName
			}
			go func() { _ = s.ServeTLS(l, "", "") }()
		} else {
			go func() { _ = s.Serve(l) }()
		}
		askOnce(t, target, c.headers)
		want, control := c.want, c.control
		if want == "" {
			want = l.Addr().String()
		}
		if control == "" {
			control = l.Addr().String()
		}
		ready := map[bool]string{true: "ServerLive", false: "live"}[target.GRPC()]
		if got := h.of(c.call); !slices.Equal(got, []string{want}) {
			t.Errorf("%s, %v over %v: requests are for %q, want %q", c.name, c.headers, c.target.Headers, got, want)
		}
		if got := h.of(ready); !slices.Equal(got, []string{control}) {
			t.Errorf("%s, %v over %v: control calls are for %q, want %q",
				c.name, c.headers, c.target.Headers, got, control)
		}
		_ = s.Close()
	}
}

// askOnce makes a control call and sends a request, whatever becomes of them.
func askOnce(t *testing.T, target backends.Target, headers []backends.Header) {
	t.Helper()
	conn, err := kserve.Open(target, backends.Clock{Origin: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Ready(t.Context(), "")
	call, err := conn.Prepare(backends.Request{
		Headers: headers,
		Inputs:  []backends.Tensor{{Name: "A", Type: tensor.Int32, Shape: []int64{1}, Data: make([]byte, 4)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	lanes, _, err := conn.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	lanes[0].Send(0, call, backends.Fields{ID: 1}, &backends.Sample{Gen: 1})
	lanes[0].Recv()
	_ = lanes[0].Close()
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAuthorityIsHost: a bad Host is refused, and :authority gets the hint to write Host.
func TestAuthorityIsHost(t *testing.T) {
	for _, scheme := range []string{"http", "grpc"} {
		for header, want := range map[backends.Header]string{
			{Name: ":authority", Value: "a"}: "write Host",
			{Name: "Host", Value: "a b"}:     `host "a b"`,
			{Name: "Host", Value: ""}:        `host ""`,
			{Name: "Host", Value: "a:1"}:     "",
		} {
			err := kserve.Check(backends.Target{
				URL: scheme + "://h:1", Model: "m", Headers: []backends.Header{header},
			})
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %v: %v, want %q", scheme, header, err, want)
			}
		}
	}
}
