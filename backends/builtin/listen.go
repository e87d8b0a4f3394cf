package builtin

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
	"strings"
	"time"

	"google.golang.org/grpc/credentials"
)

// countingListener counts accepted connections.
type countingListener struct {
	net.Listener
	counter *counter
	n       *uint64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.counter.add(l.n)
	}
	return c, err
}

// listen opens a loopback listener at where (Config.HTTP) and returns its URL.
func listen(ctx context.Context, where, scheme string) (l net.Listener, url string, err error) {
	var lc net.ListenConfig
	if path, ok := strings.CutPrefix(where, "unix:"); ok {
		l, err = lc.Listen(ctx, "unix", path)
		url = scheme + "+unix://" + path
	} else {
		host, _, splitErr := net.SplitHostPort(where)
		if splitErr != nil {
			return nil, "", fmt.Errorf("listen for %s at %q: %w", scheme, where, splitErr)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, "", fmt.Errorf("listen for %s at %q: %s is not a loopback address", scheme, where,
				host)
		}
		if l, err = lc.Listen(ctx, "tcp", where); err == nil {
			url = scheme + "://" + l.Addr().String()
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("listen for %s: %w", scheme, err)
	}
	return l, url, nil
}

// selfSigned returns a certificate for loopback, valid for a day, and the PEM that verifies it.
func selfSigned() (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "sluice embedded server"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("make a certificate: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(text), nil
}

// connCreds are gRPC transport credentials that give a handler access to the connection of its
// call, to reset it. They wrap TLS or no security.
type connCreds struct {
	credentials.TransportCredentials
}

// connInfo is the AuthInfo in a handler's peer.
type connInfo struct {
	credentials.AuthInfo
	conn net.Conn
}

func (c connCreds) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, err
	}
	return conn, connInfo{info, raw}, nil
}

func (c connCreds) Clone() credentials.TransportCredentials {
	return connCreds{c.TransportCredentials.Clone()}
}
