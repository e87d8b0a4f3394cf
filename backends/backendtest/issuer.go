package backendtest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificates are the certificates that a script can name: each function adds the defect.
var certificates = map[string]func(c *x509.Certificate){
	"good": func(*x509.Certificate) {},
	"expired": func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = c.NotBefore.AddDate(-2, 0, 0), c.NotAfter.AddDate(-1, 0, 0)
	},
	"future": func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = c.NotBefore.AddDate(1, 0, 0), c.NotAfter.AddDate(2, 0, 0)
	},
	"other-host": func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = []string{"elsewhere.example"}, nil },
	"untrusted":  func(*x509.Certificate) {}, // by another authority
	"mutual":     func(*x509.Certificate) {}, // and the server wants one of the client's
}

// secure reports whether a connection of the script makes a TLS handshake.
func (s *script) secure() bool {
	for _, c := range s.connections {
		for _, step := range c {
			if strings.HasPrefix(step.word, "tls ") {
				return true
			}
		}
	}
	return false
}

// issuer signs the certificates of a server.
type issuer struct {
	key           *ecdsa.PrivateKey // of all certificates
	root, unknown *x509.Certificate
}

// newIssuer returns an issuer, and the file of the authority to trust.
func newIssuer(t testing.TB) (_ *issuer, ca string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	for name, into := range map[string]**x509.Certificate{"backendtest": &i.root, "somebody else": &i.unknown} {
		c := blank(name)
		c.KeyUsage, c.IsCA = x509.KeyUsageCertSign, true
		der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		if *into, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
	}
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.root.Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	return i, ca
}

func blank(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}

// config returns a server's configuration with the certificate of that name.
func (i *issuer) config(name string) (*tls.Config, error) {
	c := blank("server")
	c.DNSNames, c.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	c.KeyUsage, c.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	certificates[name](c)
	by := i.root
	if name == "untrusted" {
		by = i.unknown
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &i.key.PublicKey, i.key)
	config := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: i.key}},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}
	if name == "mutual" {
		config.ClientAuth = tls.RequireAnyClientCert
	}
	return config, err
}

// handshake makes the server's part of a TLS handshake, with the certificate of that name.
func (p *connPlayer) handshake(name string) bool {
	config, err := p.r.issuer.config(name)
	if err != nil {
		return false
	}
	conn := tls.Server(p.raw, config)
	if conn.HandshakeContext(p.r.ctx) != nil {
		return false
	}
	p.conn, p.in = conn, bufio.NewReader(conn)
	return true
}
