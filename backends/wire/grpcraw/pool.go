// Package grpcraw drives grpc-go with messages that are encoded already: a pass-through codec, client connections that
// are ready before the clock starts, and unary lanes.
//
// It is not: a place that knows messages or models, a layer that retries (a stale connection aside), a load balancer.
package grpcraw

import (
	"context"
	"errors"

	"github.com/sluice-bench/sluice/backends"
)

// Judge says what reply messages mean. The bytes are valid only during the call.
type Judge interface {
	// Whole reports whether Reply needs the message of c in one piece, which may cost a copy.
	Whole(c *backends.Call) bool
	// Reply looks at a reply with status OK and sets Class and Note when it is not a good answer to c.
	Reply(c *backends.Call, pieces [][]byte, s *backends.Sample)
}

// Pool is the connections to one target.
type Pool struct{}

// New checks what of a target concerns gRPC and connects nothing.
func New(target backends.Target, clock backends.Clock) (*Pool, error) {
	return nil, errors.ErrUnsupported
}

// Invoke makes one control call and gives the reply message, which the caller may keep.
func (p *Pool) Invoke(ctx context.Context, method string, request []byte) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Call turns one encoded message into a Call: body in order, then head with its holes at the end, because protobuf
// fields may come in any order and the piece that each request patches must be the last that the transport lets go.
func (p *Pool) Call(method string, headers []backends.Header, body [][]byte, head []byte, holes []backends.Hole) (*backends.Call, error) {
	return nil, errors.ErrUnsupported
}

// Lanes opens n unary lanes and waits until their connections are ready.
func (p *Pool) Lanes(ctx context.Context, n int, judge Judge) ([]backends.Lane, backends.Limits, error) {
	return nil, backends.Limits{}, errors.ErrUnsupported
}

// Close ends all connections.
func (p *Pool) Close() error { return nil }
