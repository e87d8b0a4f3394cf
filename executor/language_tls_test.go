package executor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
)

// authority makes certificates for one test.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.issue(t, "ca", nil)
	return a
}

// issue writes NAME.pem and NAME.key. Only names are in the certificate.
func (a *authority) issue(t *testing.T, name string, names []string) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: a.cert == nil,
		BasicConstraintsValid: true,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent, signer := c, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "EC PRIVATE KEY", Bytes: raw},
	} {
		if err := os.WriteFile(filepath.Join(a.dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c, key
}

// secured is a witness behind TLS whose certificate is for model.internal alone.
func (a *authority) secured(t *testing.T, c *tls.Config) *witness {
	cert, key := a.issue(t, "server", []string{"model.internal"})
	c.Certificates = []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}
	c.NextProtos = []string{"h2", "http/1.1"}
	w := &witness{typ: "INT32", dim: 4, paths: map[string]int{}}
	w.Server = httptest.NewUnstartedServer(w)
	w.TLS = c
	w.Config.ErrorLog = quietLog()
	w.Config.Protocols = new(http.Protocols)
	w.Config.Protocols.SetHTTP1(true)
	w.Config.Protocols.SetHTTP2(true)
	w.EnableHTTP2 = true
	w.StartTLS()
	t.Cleanup(w.Close)
	return w
}

// TestTLS: the matrix of `tls`, over both protocols. What must not connect fails its stage and
// sends nothing.
func TestTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.issue(t, "client", nil)
	other := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	open, old := &tls.Config{MinVersion: tls.VersionTLS12}, &tls.Config{
		MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
	}
	mutual := &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
	}
	ca := "ca: " + a.dir + "/ca.pem"
	pair := func(dir, name string) string {
		return fmt.Sprintf(", cert: %s/%s.pem, key: %s/%s.key", dir, name, dir, name)
	}
	for _, c := range []struct {
		name, tls string
		server    *tls.Config
		connects  bool
		hint      string
	}{
		{"full, by the name", ca + ", server_name: model.internal", open, true, ""},
		{"full, the URL's name is not the certificate's", ca, open, false, ""},
		{"full, another name", ca + ", server_name: other.internal", open, false, "`tls: {server_name: NAME}`"},
		{"an authority that nobody knows", "server_name: model.internal", open, false, "`tls: {ca: FILE}`"},
		{
			"the wrong authority", "ca: " + other.dir + "/ca.pem, server_name: model.internal", open, false,
			"`tls.ca` does not hold",
		},
		{"ca, any name", ca + ", verify: ca", open, true, ""},
		{"ca, the wrong authority", "ca: " + other.dir + "/ca.pem, verify: ca", open, false, ""},
		{"none", "verify: none", open, true, ""},
		{"1.2 is enough", ca + ", verify: ca", old, true, ""},
		{"1.2 is too old", ca + ", verify: ca, min_version: \"1.3\"", old, false, ""},
		{"1.3", ca + ", verify: ca, min_version: \"1.3\"", open, true, ""},
		{"no certificate of the client", ca + ", verify: ca", mutual, false, ""},
		{"a certificate of the client", ca + ", verify: ca" + pair(a.dir, "client"), mutual, true, ""},
		{"a certificate of somebody else", ca + ", verify: ca" + pair(other.dir, "ca"), mutual, false, ""},
	} {
		for _, scheme := range []string{"https", "grpcs"} {
			w := a.secured(t, c.server.Clone())
			_, port, err := net.SplitHostPort(w.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			r, diags := Run(context.Background(), compile(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s, connect_timeout: 3s, tls: {`+c.tls+`}}
stages: [{id: s, load: {concurrency: 2}, for: 6 requests}]
`, scheme+"://127.0.0.1:"+port), Env{})
			if len(diags) > 0 {
				t.Fatal(c.name, diags)
			}
			n := node(t, r, "s")
			if done := n.Outcome == result.Done; done != c.connects || (len(w.all()) == 6) != c.connects ||
				c.connects && count(n, "errors.count") > 0 {
				t.Errorf("%s over %s: %s (%s), %d requests seen, errors %v",
					c.name, scheme, n.Outcome, n.Reason, len(w.all()), n.Errors)
			}
			if c.hint != "" && !strings.Contains(n.Reason, c.hint) {
				t.Errorf("%s over %s: %s, want %q in it", c.name, scheme, n.Reason, c.hint)
			}
			if !c.connects && (r.ExitCode != 4 || len(w.all()) > 0) {
				t.Errorf("%s over %s: exit %d, %d requests seen", c.name, scheme, r.ExitCode, len(w.all()))
			}
			w.Close()
		}
	}
}
