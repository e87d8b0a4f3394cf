package kserve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/tlsconf"
)

// endpoint is a parsed target URL.
type endpoint struct {
	grpc, secure  bool
	network       string // "tcp" or "unix"
	address       string // host:port, or the path of the socket
	host          string // without port and IPv6 zone: the name in the certificate
	authority     string // host or host:port, as in the URL; without a zone, which is local to this machine
	prefix        string // escaped path before /v2, without a trailing slash
	tls           *tls.Config
	certRequested *atomic.Bool // the server has asked for a client certificate
}

// parseURL parses a URL. Errors do not contain the URL if it may hold a password.
func parseURL(text string) (endpoint, error) {
	u, err := url.Parse(text)
	if err != nil {
		return endpoint{}, errors.New("the URL cannot be parsed")
	}
	e := endpoint{
		grpc: strings.HasPrefix(u.Scheme, "grpc"), secure: u.Scheme == "https" || u.Scheme == "grpcs",
		network: "tcp",
	}
	switch {
	case !slices.Contains(Schemes(), u.Scheme):
		return e, fmt.Errorf("scheme %q of the URL is none of %s", u.Scheme, strings.Join(Schemes(), ", "))
	case u.User != nil:
		return e, errors.New("the URL contains a user: use the header Authorization")
	case u.RawQuery != "" || u.Fragment != "":
		return e, fmt.Errorf("%s: the URL has a query or a fragment", text)
	}
	if strings.HasSuffix(u.Scheme, "+unix") {
		if u.Host != "" || u.Path == "" || u.Path == "/" {
			return e, fmt.Errorf("%s: want %s:///path/to/socket", text, u.Scheme)
		}
		e.network, e.address, e.host, e.authority = "unix", u.Path, "localhost", "localhost"
		return e, nil
	}
	if u.Hostname() == "" {
		return e, fmt.Errorf("%s: the URL has no host", text)
	}
	e.host, _, _ = strings.Cut(u.Hostname(), "%")
	e.authority, e.prefix = u.Host, strings.TrimRight(u.EscapedPath(), "/")
	if e.host != u.Hostname() {
		e.authority = strings.Replace(u.Host, u.Hostname(), e.host, 1)
	}
	if e.grpc && e.prefix != "" {
		return e, fmt.Errorf("%s: gRPC has no URL path", text)
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[e.secure]
	}
	e.address = net.JoinHostPort(u.Hostname(), port)
	return e, nil
}

// loadTLS reads the TLS files.
func (e *endpoint) loadTLS(o *backends.TLSOptions) (err error) {
	if e.tls, err = tlsconf.New(o, e.host); err != nil {
		return err
	}
	wanted, own := new(atomic.Bool), e.tls.Certificates
	e.certRequested = wanted
	e.tls.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		wanted.Store(true)
		for i := range own {
			if info.SupportsCertificate(&own[i]) == nil {
				return &own[i], nil
			}
		}
		return new(tls.Certificate), nil // none, as without this function
	}
	return nil
}
