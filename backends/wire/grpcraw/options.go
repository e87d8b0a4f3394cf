package grpcraw

import (
	"crypto/tls"
	"math"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http2"
)

// Options say where connections go and how.
type Options struct {
	Network        string      // "tcp" or "unix"
	Address        string      // host:port or the socket's path
	Authority      string      // host or host:port told to the server
	TLS            *tls.Config // nil: plain
	Clock          backends.Clock
	ConnectTimeout time.Duration     // TCP, TLS and HTTP/2 set-up together; 0: 10 s
	Connections    int               // as backends.Target.Connections
	Compression    string            // of messages: "gzip", "deflate", "" none
	MaxMessage     int64             // bytes, each way; 0: 2 GiB - 1 of a request, the most that gRPC has, and see Call.MaxReply
	Headers        []backends.Header // metadata of every call; names may have any case, and Host is the authority
	Judge          func() Judge      // makes a lane's judge

	decoders  *decoderPool // made by New
	authority string       // of calls
	maxReply  int64        // of what a connection carries
}

// Judge says what replies mean, for one lane. It must not allocate or block.
type Judge interface {
	http2.Judge
	// Whole reports whether Reply needs the message in one piece, which may cost a copy. s is the request's.
	Whole(c *backends.Call, s *backends.Sample) bool
}

const (
	defaultConnectTimeout = 10 * time.Second
	streamWindow          = 1 << 20
	connWindow            = 16 << 20
	prefixSize            = 5 // of a message on the wire
)

// defaultAuthority is that of calls without a Host header: with TLS the name that the certificate is checked against.
func (o *Options) defaultAuthority() string {
	if o.TLS != nil && o.TLS.ServerName != "" {
		return o.TLS.ServerName
	}
	return o.Authority
}

func (o *Options) connectTimeout() time.Duration {
	if o.ConnectTimeout > 0 {
		return o.ConnectTimeout
	}
	return defaultConnectTimeout
}

// maxRequest bounds a request message.
func (o *Options) maxRequest() int {
	if o.MaxMessage > 0 && o.MaxMessage < math.MaxInt32 {
		return int(o.MaxMessage)
	}
	return math.MaxInt32
}
