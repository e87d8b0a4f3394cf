package netlane_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"github.com/sluice-bench/sluice/backends/wire/tlsconf"
)

// TestClientCertificate: a client certificate is sent, and a server that demands one gets the class
// tls if there is none. With TLS 1.3 only the first read shows that.
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
		config, err := tlsconf.New(o, "localhost")
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
