package tlsconf_test

import (
	"crypto/tls"
	"os"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/tlsconf"
)

// handshake connects to a server with the configuration of o and returns the error.
func handshake(t *testing.T, server *tls.Config, o *backends.TLSOptions, host string) error {
	t.Helper()
	config, err := tlsconf.New(o, host)
	if err != nil {
		t.Fatal(err)
	}
	raw := backendtest.StartRaw(t, backendtest.RawOptions{}, server, "accept\nread 1\nhang")
	c, err := tls.Dial("tcp", raw.Address, config)
	if err == nil {
		_ = c.Close()
	}
	return err
}

func TestVerify(t *testing.T) {
	type options = backends.TLSOptions
	server, cert, _ := backendtest.Certificate(t)
	_, other, _ := backendtest.Certificate(t)
	old := server.Clone()
	old.MaxVersion = tls.VersionTLS12
	for name, c := range map[string]struct {
		server *tls.Config
		o      *options
		host   string
		want   string // part of the error, "" for none
	}{
		"system roots":    {server, nil, "localhost", "unknown authority"},
		"full by default": {server, &options{CA: cert}, "localhost", ""},
		"address": {
			server, &options{CA: cert, Verify: "full"}, "127.0.0.1", "",
		},
		"full: another name": {
			server, &options{CA: cert, Verify: "full"}, "models.example", "not models.example",
		},
		"server name of the options": {
			server, &options{CA: cert, ServerName: "localhost"}, "models.example", "",
		},
		"ca: another name": {
			server, &options{CA: cert, Verify: "ca"}, "models.example", "",
		},
		"ca: another authority": {
			server, &options{CA: other, Verify: "ca"}, "localhost", "unknown authority",
		},
		"none":                      {server, &options{Verify: "none"}, "models.example", ""},
		"1.2 against an old server": {old, &options{CA: cert}, "localhost", ""},
		"1.3 against an old server": {
			old, &options{CA: cert, MinVersion: "1.3"}, "localhost", "protocol version",
		},
		"full: another authority, 1.3": {
			server, &options{CA: other, MinVersion: "1.3"}, "localhost", "unknown authority",
		},
		"none, but the version still has": {
			old, &options{Verify: "none", MinVersion: "1.3"}, "localhost", "protocol version",
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

func TestNewRefuses(t *testing.T) {
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
		if c, err := tlsconf.New(o, "h"); err == nil || c != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v; want %q", o, c, err, want)
		}
	}
}
