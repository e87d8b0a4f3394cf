// Package builtin is the embedded inference server: KServe v2 over HTTP and gRPC with Triton's configuration and
// statistics, a simulated queue, faults on demand, and the true arrival times of what it was sent. It is the quick
// start, the double of the test suite and the known truth that measurements are calibrated against.
//
// It is not: fast, and not built of Sluice's own wire code. It imports nothing of Sluice and speaks by net/http, grpc-go
// and encoding/json, so that a mistake in a protocol must be made twice, in different shapes, to stay hidden.
package builtin

import (
	"context"
	"errors"
)

// Server is a running server.
type Server struct {
	urls URLs
}

// Start listens and serves until Close or until ctx is done.
func Start(ctx context.Context, c Config) (*Server, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return nil, errors.New("listeners are missing")
}

// URLs says where the server is.
func (s *Server) URLs() URLs { return s.urls }

// HTTPURL is URLs().HTTP.
func (s *Server) HTTPURL() string { return s.urls.HTTP }

// GRPCURL is URLs().GRPC.
func (s *Server) GRPCURL() string { return s.urls.GRPC }

// Close cuts all connections, ends all goroutines and returns when they have ended. It may be called more than once.
func (s *Server) Close() error { return nil }
