package kserve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// TestWrongScheme: the error for a scheme that the server does not speak names the one that is
// probably meant, for every pair of schemes.
func TestWrongScheme(t *testing.T) {
	const (
		noHTTP1, noHTTP2 = "the server does not answer as HTTP/1.1 does; ", "the server does not answer as " +
			"HTTP/2 does; "
		ended = "the server ends the connection; where it speaks without TLS, write "
		noTLS = "the server does not answer as TLS does; where it speaks without it, write "
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
		{
			"HTTP", "grpc",
			noHTTP2 + "where it speaks HTTP, write http:// in `url`, grpcs:// where it speaks gRPC with TLS",
		},
		{"HTTP", "https", noTLS + "http:// in `url`"},
		{"HTTP", "grpcs", noTLS + "grpc:// in `url`"},
		{
			"HTTPS", "grpc",
			noHTTP2 + "where it speaks HTTP, write http:// in `url`, grpcs:// where it speaks gRPC with TLS",
		},
		{"HTTPS", "grpcs", noHTTP2 + "where it speaks HTTP, write https:// in `url`"},
		{"HTTPS", "http", "Client sent an HTTP request to an HTTPS server"},
		{"gRPC", "http", noHTTP1 + "where it speaks gRPC, write grpc:// in `url`"},
		{"gRPC", "https", noTLS + "http:// in `url`"},
		{"gRPC", "grpcs", noTLS + "grpc:// in `url`"},
		{"TLS alert", "http", "the server answers as TLS does: write https:// in `url`"},
		{
			"TLS alert", "grpc",
			noHTTP2 + "where it speaks HTTP, write http:// in `url`, grpcs:// where it speaks gRPC with TLS",
		},
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
		if err == nil || !strings.HasSuffix(strings.TrimSuffix(err.Error(), "."), c.want) ||
			!strings.Contains(err.Error(), address) {
			t.Errorf("%s:// to %s: %v\nwant … %s", c.scheme, c.server, err, c.want)
		}
		if c.scheme == "https" && c.server != "nothing" {
			if _, _, err := conn.Lanes(ctx, 1, backends.LaneOptions{}); err == nil ||
				!strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("lanes of %s:// to %s: %v\nwant … %s", c.scheme, c.server, err, c.want)
			}
		}
		cancel()
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

// A server that wants a certificate of the client's may say so only by an end, as Triton does; one
// that asks and goes on is like any other.
func TestCertificateWanted(t *testing.T) {
	const ends = "the server asks for a client certificate and then ends the connection: "
	own := filepath.Join(t.TempDir(), "own.pem")
	writeCertificate(t, own)
	for _, c := range []struct {
		scheme string
		strict bool
		own    string
		want   string
	}{
		{"https", true, "", ends + "give it one with `cert` and `key` under `tls`"},
		{"grpcs", true, "", ends + "give it one with `cert` and `key` under `tls`"},
		{"https", true, own, ends + "it takes another one than the `cert` under `tls`"},
		{"grpcs", true, own, ends + "it takes another one than the `cert` under `tls`"},
		{"https", false, "", "status 404"},
		{"https", false, own, "status 404"},
	} {
		address := askingServer(t, c.strict)
		conn := openFor(t, backends.Target{
			URL: c.scheme + "://" + address, Model: "m", ConnectTimeout: time.Second,
			TLS: &backends.TLSOptions{Verify: "none", Cert: c.own, Key: c.own},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := conn.(backends.Prober).Ready(ctx, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, strict %t, %q: %v\nwant … %s", c.scheme, c.strict, c.own, err, c.want)
		}
		cancel()
	}
}

// writeCertificate writes a certificate that signs itself, and its key.
func writeCertificate(t *testing.T, path string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	if err := os.WriteFile(path,
		append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// askingServer asks for a certificate of the client's, and ends strictly where there is none,
// without an alert.
func askingServer(t *testing.T, strict bool) string {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := w.(http.Hijacker); ok && strict {
			if conn, _, err := c.Hijack(); err == nil {
				_ = conn.(*tls.Conn).NetConn().Close()
			}
			return
		}
		http.NotFound(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"}}
	if strict { // HTTP/2 ends before anything is said
		s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
			"h2": func(_ *http.Server, c *tls.Conn, _ http.Handler) { _ = c.NetConn().Close() },
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}
