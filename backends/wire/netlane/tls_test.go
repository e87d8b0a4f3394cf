package netlane_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
)

// handshake dials a server of one certificate with options and says what came of it.
func handshake(t *testing.T, server *tls.Config, o *backends.TLSOptions, host string) error {
	t.Helper()
	config, err := netlane.TLSConfig(o, host)
	if err != nil {
		t.Fatal(err)
	}
	raw := backendtest.StartRaw(t, backendtest.RawOptions{}, server, "accept\nread 1\nhang")
	lanes, _, err := netlane.Dial(context.Background(), netlane.Options{
		Network: "tcp", Address: raw.Address, TLS: config, Clock: backends.Clock{Origin: time.Now()},
		New: func() backends.Wire { return http1.New(judge{}, http1.Options{}) },
	}, 1)
	for _, l := range lanes {
		_ = l.Close()
	}
	return err
}

func TestVerify(t *testing.T) {
	server, cert, _ := backendtest.Certificate(t)
	_, other, _ := backendtest.Certificate(t)
	old := server.Clone()
	old.MaxVersion = tls.VersionTLS12
	for name, c := range map[string]struct {
		server *tls.Config
		o      *backends.TLSOptions
		host   string
		want   string // part of the error, "" for none
	}{
		"system roots":    {server, nil, "localhost", "unknown authority"},
		"full by default": {server, &backends.TLSOptions{CA: cert}, "localhost", ""},
		"address": {
			server, &backends.TLSOptions{CA: cert, Verify: "full"}, "127.0.0.1", "",
		},
		"full: another name": {
			server, &backends.TLSOptions{CA: cert, Verify: "full"}, "models.example", "not models.example",
		},
		"server name of the options": {
			server, &backends.TLSOptions{CA: cert, ServerName: "localhost"}, "models.example", "",
		},
		"ca: another name": {
			server, &backends.TLSOptions{CA: cert, Verify: "ca"}, "models.example", "",
		},
		"ca: another authority": {
			server, &backends.TLSOptions{CA: other, Verify: "ca"}, "localhost", "unknown authority",
		},
		"none":                      {server, &backends.TLSOptions{Verify: "none"}, "models.example", ""},
		"1.2 against an old server": {old, &backends.TLSOptions{CA: cert}, "localhost", ""},
		"1.3 against an old server": {
			old, &backends.TLSOptions{CA: cert, MinVersion: "1.3"}, "localhost", "protocol version",
		},
		"full: another authority, 1.3": {
			server, &backends.TLSOptions{CA: other, MinVersion: "1.3"}, "localhost", "unknown authority",
		},
		"none, but the version still has": {
			old, &backends.TLSOptions{Verify: "none", MinVersion: "1.3"}, "localhost", "protocol version",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := handshake(t, c.server, c.o, c.host)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A client certificate is sent; a server that refuses the lack of one is told apart as TLS, which
// in TLS 1.3 shows at the first read only.
func TestClientCertificate(t *testing.T) {
	server, cert, key := backendtest.Certificate(t)
	server.ClientAuth = tls.RequireAndVerifyClientCert
	pool := x509.NewCertPool()
	text, err := os.ReadFile(cert)
	if err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	server.ClientCAs = pool
	for _, with := range []bool{true, false} {
		o := &backends.TLSOptions{CA: cert}
		want := backends.TLS
		if with {
			o.Cert, o.Key, want = cert, key, backends.OK
		}
		config, err := netlane.TLSConfig(o, "localhost")
		if err != nil {
			t.Fatal(err)
		}
		raw := backendtest.StartRaw(t, backendtest.RawOptions{}, server, "accept\nread size\n"+good+"repeat")
		r := newRigOn(t, raw, 10, func(o *netlane.Options) { o.TLS = config })
		if s := r.do(); s.Class != want {
			t.Errorf("with a certificate %v: %v %q", with, s.Class, s.Note)
		}
	}
}

func TestTLSConfigRefuses(t *testing.T) {
	_, cert, key := backendtest.Certificate(t)
	empty := t.TempDir() + "/empty.pem"
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]*backends.TLSOptions{
		"neither 1.2 nor 1.3":     {MinVersion: "1.1"},
		"none of full, ca, none":  {Verify: "maybe"},
		"read the CA":             {CA: "no/such/file"},
		"holds no PEM":            {CA: empty},
		"needs both":              {Cert: cert},
		"read the client certifi": {Cert: key, Key: cert},
	} {
		if c, err := netlane.TLSConfig(o, "h"); err == nil || c != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v; want %q", o, c, err, want)
		}
	}
}
