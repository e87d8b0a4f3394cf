package grpcraw

import (
	"crypto/tls"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http2"
)

// Options configures the connections to a target.
type Options struct {
	Network        string      // "tcp" or "unix"
	Address        string      // host:port, or the path of the socket
	Authority      string      // host or host:port, sent to the server
	TLS            *tls.Config // nil: plain
	Clock          backends.Clock
	ConnectTimeout time.Duration // for TCP, TLS and HTTP/2 set-up together; 0: 10 s
	Connections    int           // as backends.Target.Connections
	Compression    string        // of messages: "gzip", "deflate", "": none
	// bytes, each way; 0: 2 GiB - 1 for a request, the limit of gRPC; for replies see Call.MaxReply
	MaxMessage int64
	// metadata of every call; names may have any case, Host sets the authority
	Headers []backends.Header
	Judge   func() Judge // returns the judge of a lane
	// Framed: each piece of the body of a call is a message, and a call has any number of them.
	// Streaming: so has a reply. Lanes then have connections of their own.
	Framed, Streaming bool
}

// Judge classifies replies, for one lane. It must not allocate or block.
type Judge interface {
	http2.Judge
	// Whole reports whether Reply needs the message in one piece, which may cost a copy. s belongs to
	// the request.
	Whole(c *backends.Call, s *backends.Sample) bool
}

const (
	defaultConnectTimeout = 10 * time.Second
	streamWindow          = 1 << 20
	connWindow            = 16 << 20
	prefixSize            = 5 // bytes before a message on the wire
)
