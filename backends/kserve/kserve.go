// Package kserve speaks the KServe v2 inference protocol over HTTP/1.1 and gRPC: with KServe,
// MLServer, Triton and others.
//
// It is not: a transport (wire), a place for Triton's own extensions (triton; only the choice of
// the generate endpoint is here, as its requests and replies share the code for the protocol's
// JSON), a generator of inputs (feed).
//
// Over HTTP tensors are sent as raw bytes after the JSON (the binary tensor extension) unless the
// target asks for JSON; over gRPC they are always raw contents. Every request has an id of 20
// digits, filled in when it is sent.
package kserve

import (
	"context"
	"errors"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
)

// Kind returns the backend "kserve".
func Kind() backends.Kind {
	return backends.Kind{
		Name:      "kserve",
		Help:      "KServe v2 inference protocol over HTTP or gRPC (KServe, MLServer, Triton and others)",
		Schemes:   Schemes(),
		Keys:      Keys(),
		Abilities: Abilities,
		Check:     Check,
		Open: func(ctx context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
			c, err := Open(ctx, t, clock)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	}
}

// Schemes returns the URL schemes of the protocol.
func Schemes() []string {
	return []string{"http", "https", "http+unix", "grpc", "grpcs", "grpc+unix"}
}

// Keys returns the target keys of the plan that are read.
func Keys() []string {
	return []string{
		"model", "model_version", "headers", "parameters", "compression", "tls", "timeout", "connect_timeout",
		"connections", "max_message", "tensors", "ready",
	}
}

// Abilities returns the abilities of the protocol for a target.
func Abilities(backends.Target) backends.Ability {
	return backends.Unary | backends.Metadata | backends.Tensors | backends.Bodies | backends.Expects |
		backends.Sequences | backends.Classification
}

// Conn is an open target: an *HTTP or a *GRPC.
type Conn interface {
	backends.Conn
	backends.Describer
	backends.Prober
	// PrepareShared is Prepare for a request whose tensors are in shared memory; nil Places: none is.
	PrepareShared(backends.Request, *Places) (*backends.Call, error)
	backends.Replier
}

// Check checks the target's URL, headers and TLS files.
func Check(t backends.Target) error {
	_, err := resolve(t)
	return err
}

// resolve converts a target to an endpoint, with its TLS files read.
func resolve(t backends.Target) (endpoint, error) {
	e, err := parseURL(t.URL)
	if err != nil {
		return e, err
	}
	if e.grpc && (t.InputJSON || t.OutputJSON) {
		return e, errors.New("tensors: json is for HTTP; over gRPC tensors are always raw bytes")
	}
	if err := checkHeaders(&t, e.grpc); err != nil {
		return e, &backends.KeyError{Key: "headers", Err: err}
	}
	if e.secure {
		err = e.loadTLS(t.TLS)
	}
	return e, err
}

// checkHeaders refuses headers that no request could carry.
func checkHeaders(t *backends.Target, grpc bool) error {
	check := checkHeader
	if grpc {
		check = grpcraw.CheckHeader
	}
	for _, h := range t.Headers {
		if err := check(h); err != nil {
			return err
		}
	}
	if streamsEvents(t) {
		return checkCoding(t.Headers)
	}
	return nil
}

// Open reads what Check reads. It sends nothing.
func Open(_ context.Context, t backends.Target, clock backends.Clock) (Conn, error) {
	e, err := resolve(t)
	switch {
	case err != nil:
		return nil, err
	case e.grpc:
		return openGRPC(t, e, clock)
	}
	return openHTTP(t, e, clock), nil
}
