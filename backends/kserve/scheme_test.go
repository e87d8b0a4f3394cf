package kserve

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// TestAstray: a scheme that is not what the server speaks is told with the one that may be meant, over every pair of them.
func TestAstray(t *testing.T) {
	const (
		noHTTP1, noHTTP2 = "the server does not answer as HTTP/1.1 does; ", "the server does not answer as HTTP/2 does; "
		ended            = "the server ends the connection; where it speaks without TLS, write "
		noTLS            = "the server does not answer as TLS does; where it speaks without it, write "
	)
	servers := map[string]string{
		"HTTP":      httpServer(t, (*httptest.Server).Start),
		"HTTPS":     httpServer(t, (*httptest.Server).StartTLS),
		"gRPC":      rawServer(t, "\x00\x00\x00\x04\x00\x00\x00\x00\x00", true), // SETTINGS
		"TLS alert": rawServer(t, "\x15\x03\x01\x00\x02\x02\x46", true),
		"an end":    rawServer(t, "", true),
		"nothing":   rawServer(t, "", false),
	}
	for _, c := range []struct{ server, scheme, want string }{
		{"HTTP", "grpc", noHTTP2 + "where it speaks HTTP, write http:// in `url`, grpcs:// where it speaks gRPC with TLS"},
		{"HTTP", "https", noTLS + "http:// in `url`"},
		{"HTTP", "grpcs", noTLS + "grpc:// in `url`"},
		{"HTTPS", "grpc", noHTTP2 + "where it speaks HTTP, write http:// in `url`, grpcs:// where it speaks gRPC with TLS"},
		{"HTTPS", "grpcs", noHTTP2 + "where it speaks HTTP, write https:// in `url`"},
		{"HTTPS", "http", "Client sent an HTTP request to an HTTPS server"},
		{"gRPC", "http", noHTTP1 + "where it speaks gRPC, write grpc:// in `url`"},
		{"gRPC", "https", noTLS + "http:// in `url`"},
		{"gRPC", "grpcs", noTLS + "grpc:// in `url`"},
		{"TLS alert", "http", "the server answers as TLS does: write https:// in `url`"},
		{"TLS alert", "grpc", noHTTP2 + "where it speaks HTTP, write http:// in `url`, grpcs:// where it speaks gRPC with TLS"},
		{"an end", "grpcs", ended + "grpc:// in `url`"},
		{"an end", "https", ended + "http:// in `url`"},
		{"nothing", "http", noHTTP1 + "where it speaks gRPC, write grpc:// in `url`"},
		{"nothing", "grpc", noHTTP2 + "where it speaks HTTP, write http:// in `url`"},
		{"nothing", "https", noTLS + "http:// in `url`"},
		{"nothing", "grpcs", noTLS + "grpc:// in `url`"},
	} {
		address := servers[c.server]
		target := backends.Target{URL: c.scheme + "://" + address, Model: "m", ConnectTimeout: time.Second}
		if strings.HasSuffix(c.scheme, "s") {
			target.TLS = &backends.TLSOptions{Verify: "none"}
		}
		limit := 10 * time.Second
		if c.server == "nothing" {
			limit = 20 * time.Millisecond // it never comes
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		conn := openFor(t, target)
		err := conn.(backends.Prober).Ready(ctx, "")
		if err == nil || !strings.HasSuffix(strings.TrimSuffix(err.Error(), `.\n"`), c.want) || !strings.Contains(err.Error(), address) {
			t.Errorf("%s:// to %s: %v\nwant … %s", c.scheme, c.server, err, c.want)
		}
		if c.scheme == "https" && c.server != "nothing" {
			if _, _, err := conn.Lanes(ctx, 1, backends.LaneOptions{}); err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("lanes of %s:// to %s: %v\nwant … %s", c.scheme, c.server, err, c.want)
			}
		}
		cancel()
	}
}

// What is said of another error is what it says itself; a cause stays to be asked for.
func TestNotAstray(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	late := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	for _, err := range []error{nil, refused, late, io.EOF, errors.New("status 503")} {
		if got := astray("http://h:1", "GET /", err); got != err { //nolint:errorlint // the very same
			t.Errorf("%v became %v", err, got)
		}
	}
	if err := astray("grpc://h:1", "ServerLive", context.DeadlineExceeded); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v has lost its cause", err)
	}
	if got := astray("http+unix:///s", "GET /", errors.New("malformed HTTP")); !strings.HasSuffix(got.Error(), "write grpc+unix:// in `url`") {
		t.Errorf("a socket: %v", got)
	}
}

func httpServer(t *testing.T, start func(*httptest.Server)) string {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(s)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// rawServer answers what comes first with words, and ends then or reads on.
func rawServer(t *testing.T, words string, ends bool) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				_, _ = c.Read(make([]byte, 16<<10))
				if _, err := io.WriteString(c, words); err != nil || ends {
					return
				}
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	return l.Addr().String()
}
