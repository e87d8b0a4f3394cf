package endpoint

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
)

// GRPC is a target over gRPC: its lanes, and its control calls.
type GRPC struct {
	*Endpoint
	*grpcraw.Pool
}

// OpenGRPC returns a target over gRPC. It sends nothing. The kind sets what o says of judges and
// streams; the rest is the target's.
func OpenGRPC(t *backends.Target, e *Endpoint, clock backends.Clock, o grpcraw.Options) (*GRPC, error) {
	o.Network, o.Address, o.Authority, o.TLS, o.Clock = e.Network, e.Address, e.Authority, e.TLS, clock
	o.ConnectTimeout, o.Connections, o.MaxMessage = t.ConnectTimeout, t.Connections, t.MaxMessage
	o.Compression, o.Headers = t.Compression, t.Headers
	pool, err := grpcraw.New(o)
	if err != nil {
		return nil, err
	}
	return &GRPC{Endpoint: e, Pool: pool}, nil
}

// Lanes implements backends.Conn: unary callers, or calls that stream one after the other.
func (c *GRPC) Lanes(
	ctx context.Context, n int, o backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	lanes, limits, err := c.Pool.Lanes(ctx, n, o)
	return lanes, limits, c.Explain("connect to "+c.Address, err)
}

// Close implements backends.Conn.
func (c *GRPC) Close(context.Context) error { return c.Pool.Close() }

// Invoke makes a control call of a method, /package.Service/Method. A refusal by the server is an
// answer too (grpcraw.Refusal).
func (c *GRPC) Invoke(ctx context.Context, path string, request []byte) ([]byte, error) {
	reply, err := c.Pool.Invoke(ctx, path, request)
	if _, _, refused := grpcraw.Refusal(err); err == nil || refused {
		c.Answered()
	}
	if err == nil {
		return reply, nil
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return nil, c.Explain(name+": connect to "+c.Address, fmt.Errorf("%s: %w", name, err))
}

// CheckGRPCHeaders refuses headers that gRPC cannot carry.
func CheckGRPCHeaders(t *backends.Target) error {
	for _, h := range t.Headers {
		if err := grpcraw.CheckHeader(h); err != nil {
			return &backends.KeyError{Key: "headers", Err: err}
		}
	}
	return nil
}
