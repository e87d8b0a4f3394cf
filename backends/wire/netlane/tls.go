package netlane

import (
	"crypto/tls"

	"github.com/sluice-bench/sluice/backends"
)

// TLSConfig reads the files of o and gives the configuration for a connection to host (without port). o may be nil:
// system roots, host name verified, TLS 1.2 or later. A gRPC caller adds its NextProtos.
func TLSConfig(o *backends.TLSOptions, host string) (*tls.Config, error) { return nil, nil }
