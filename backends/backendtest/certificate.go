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

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// template returns a certificate for localhost and 127.0.0.1, valid now.
func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
}

// authority makes a certificate that is its own authority.
func authority(t testing.TB, name string, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	c := template(name)
	c.KeyUsage, c.IsCA = c.KeyUsage|x509.KeyUsageCertSign, true
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err == nil {
		c, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writePEM(t testing.TB, name, kind string, der []byte) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// serverConfig returns a server's configuration with a certificate.
func serverConfig(der []byte, key *ecdsa.PrivateKey) *tls.Config {
	pair := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// Certificate makes a self-signed certificate for localhost and 127.0.0.1, for both servers and
// clients. It returns a server's configuration and the files: the certificate, which is its own
// authority, and its key.
func Certificate(t testing.TB) (server *tls.Config, cert, key string) {
	t.Helper()
	private := newKey(t)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	c := authority(t, "backendtest", private)
	return serverConfig(c.Raw, private), writePEM(t, "cert.pem", "CERTIFICATE", c.Raw),
		writePEM(t, "key.pem", "PRIVATE KEY", secret)
}

// certificates are the certificates that a script can name: each function adds the defect.
var certificates = map[string]func(c *x509.Certificate){
	"good": func(*x509.Certificate) {},
	"expired": func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = c.NotBefore.AddDate(-2, 0, 0), c.NotAfter.AddDate(-1, 0, 0)
	},
	"future": func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = c.NotBefore.AddDate(1, 0, 0), c.NotAfter.AddDate(2, 0, 0)
	},
	"other-host": func(c *x509.Certificate) {
		c.DNSNames, c.IPAddresses = []string{"elsewhere.example"}, nil
	},
	"untrusted": func(*x509.Certificate) {}, // by another authority
	"mutual":    func(*x509.Certificate) {}, // and the server wants one of the client's
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
	key := newKey(t)
	i := &issuer{
		key: key, root: authority(t, "backendtest", key),
		unknown: authority(t, "somebody else", key),
	}
	return i, writePEM(t, "ca.pem", "CERTIFICATE", i.root.Raw)
}

// config returns a server's configuration with the certificate of that name.
func (i *issuer) config(name string) (*tls.Config, error) {
	c := template("server")
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	certificates[name](c)
	by := i.root
	if name == "untrusted" {
		by = i.unknown
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &i.key.PublicKey, i.key)
	config := serverConfig(der, i.key)
	config.NextProtos = []string{"h2", "http/1.1"}
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
