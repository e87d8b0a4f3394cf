package netlane

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// Options say where lanes go and how.
type Options struct {
	Network        string      // "tcp" or "unix"
	Address        string      // host:port or the socket's path
	TLS            *tls.Config // nil: plain; see TLSConfig
	Clock          backends.Clock
	ConnectTimeout time.Duration        // for TCP and TLS together; 0: 10 s
	PerRequest     bool                 // a new connection for every request, its set-up counted in Sample.Connect
	New            func() backends.Wire // the wire of a new connection
}

// Dial opens n lanes and completes every handshake, many at a time. If one fails, all are closed and the first error
// is returned. With PerRequest nothing is dialled yet.
func Dial(ctx context.Context, o Options, n int) ([]backends.Lane, backends.Limits, error) {
	return nil, backends.Limits{}, errors.New("not wired")
}
