// Package tlsconf makes the TLS configuration of a client from the settings of a target.
package tlsconf

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/regular"
)

// New reads the files of o and returns the configuration of connections to host, which has no port.
// Without o it is the system's roots, the verified host name and TLS 1.2 or later. A caller that
// speaks gRPC adds its NextProtos.
func New(o *backends.TLSOptions, host string) (*tls.Config, error) {
	if o == nil {
		o = &backends.TLSOptions{}
	}
	c := &tls.Config{ServerName: cmp.Or(o.ServerName, host), MinVersion: tls.VersionTLS12}
	switch o.MinVersion {
	case "", "1.2":
	case "1.3":
		c.MinVersion = tls.VersionTLS13
	default:
		return nil, fmt.Errorf("tls: minimum version %q is neither 1.2 nor 1.3", o.MinVersion)
	}
	if o.CA != "" {
		pool, err := roots(o.CA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = pool
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, errors.New("tls: a client certificate needs both cert and key")
	}
	if o.Cert != "" {
		pair, err := keyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("tls: read the client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if err := verify(c, o.Verify); err != nil {
		return nil, err
	}
	return c, nil
}

// verify sets which parts of the server's certificate are checked.
func verify(c *tls.Config, what string) error {
	switch what {
	case "", "full":
	case "none":
		c.InsecureSkipVerify = true //nolint:gosec // the plan asks for it
	case "ca":
		c.InsecureSkipVerify = true //nolint:gosec // the chain is verified below, without the name
		c.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, c.RootCAs) }
	default:
		return fmt.Errorf("tls: verify %q is none of full, ca, none", what)
	}
	return nil
}

// verifyChain checks that the server's certificate comes from one of the roots, whatever name it bears.
func verifyChain(s tls.ConnectionState, pool *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("tls: the server sent no certificate")
	}
	o := x509.VerifyOptions{Roots: pool, Intermediates: x509.NewCertPool()}
	for _, cert := range s.PeerCertificates[1:] {
		o.Intermediates.AddCert(cert)
	}
	if _, err := s.PeerCertificates[0].Verify(o); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
	}
	return nil
}

// maxPEM bounds the bytes of a file of certificates or keys: the bundles of systems have 0.3 MiB.
const maxPEM = 16 << 20

// keyPair reads a certificate and its key.
func keyPair(cert, key string) (pair tls.Certificate, err error) {
	public, err := regular.Read(cert, maxPEM)
	if err != nil {
		return pair, err
	}
	private, err := regular.Read(key, maxPEM)
	if err != nil {
		return pair, err
	}
	return tls.X509KeyPair(public, private)
}

// roots reads a file of PEM certificates.
func roots(file string) (*x509.CertPool, error) {
	text, err := regular.Read(file, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("tls: read the CA certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls: %s holds no PEM certificate", file)
	}
	return pool, nil
}
