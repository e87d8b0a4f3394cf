// Package endpoint reaches the server of a target: its URL and TLS settings, and over HTTP/1.1 the
// lanes and the control calls of a kind.
//
// It is not: a protocol, an encoder of requests, a judge of replies (each kind has its own).
package endpoint

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

// Endpoint is a parsed target URL.
type Endpoint struct {
	Scheme       string
	GRPC, Secure bool
	Network      string // "tcp" or "unix"
	Address      string // host:port, or the path of the socket
	Host         string // without port and IPv6 zone: the name in the certificate
	Authority    string // host or host:port, as in the URL; without a zone, which is local to this machine
	Prefix       string // escaped path, without a trailing slash
	TLS          *tls.Config

	certRequested *atomic.Bool // the server has asked for a client certificate
	answered      *atomic.Bool // the server has answered with this scheme
}

// Open parses a target's URL, whose scheme must be one of schemes, and reads its TLS files. It
// sends nothing.
func Open(t *backends.Target, schemes []string) (*Endpoint, error) {
	e, err := parse(t.URL, schemes)
	if err != nil {
		return nil, err
	}
	e.answered = new(atomic.Bool)
	if e.Secure {
		err = e.loadTLS(t.TLS)
	}
	return e, err
}

// parse parses a URL. Errors do not contain the URL if it may hold a password.
func parse(text string, schemes []string) (*Endpoint, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the URL cannot be parsed")
	}
	e := &Endpoint{
		Scheme: u.Scheme, GRPC: strings.HasPrefix(u.Scheme, "grpc"),
		Secure: u.Scheme == "https" || u.Scheme == "grpcs", Network: "tcp",
	}
	switch {
	case !slices.Contains(schemes, u.Scheme):
		return nil, fmt.Errorf("scheme %q of the URL is none of %s", u.Scheme, strings.Join(schemes, ", "))
	case u.User != nil:
		return nil, errors.New("the URL contains a user: use the header Authorization")
	case u.RawQuery != "" || u.Fragment != "":
		text = text[:strings.IndexAny(text, "?#")] // what follows may hold a key
		return nil, fmt.Errorf("%s: the URL has a query or a fragment: keys belong into `headers`", text)
	}
	if strings.HasSuffix(u.Scheme, "+unix") {
		if u.Host != "" || u.Path == "" || u.Path == "/" {
			return nil, fmt.Errorf("%s: want %s:///path/to/socket", text, u.Scheme)
		}
		e.Network, e.Address, e.Host, e.Authority = "unix", u.Path, "localhost", "localhost"
		return e, nil
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("%s: the URL has no host", text)
	}
	e.Host, _, _ = strings.Cut(u.Hostname(), "%")
	e.Authority, e.Prefix = u.Host, strings.TrimRight(u.EscapedPath(), "/")
	if e.Host != u.Hostname() {
		e.Authority = strings.Replace(u.Host, u.Hostname(), e.Host, 1)
	}
	if e.GRPC && e.Prefix != "" {
		return nil, fmt.Errorf("%s: gRPC has no URL path", text)
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[e.Secure]
	}
	e.Address = net.JoinHostPort(u.Hostname(), port)
	return e, nil
}

// Answered notes that the server has answered with this scheme.
func (e *Endpoint) Answered() { e.answered.Store(true) }

// loadTLS reads the TLS files.
func (e *Endpoint) loadTLS(o *backends.TLSOptions) (err error) {
	if e.TLS, err = tlsconf.New(o, e.Host); err != nil {
		return err
	}
	wanted, own := new(atomic.Bool), e.TLS.Certificates
	e.certRequested = wanted
	e.TLS.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
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
