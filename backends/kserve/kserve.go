// Package kserve speaks the KServe v2 inference protocol over HTTP/1.1 and gRPC, with KServe, MLServer,
// Triton and others, and the protocol's version 1 over HTTP.
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
	bodies "github.com/sluice-bench/sluice/backends/http"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
)

// Kind returns the backend "kserve".
func Kind() backends.Kind {
	return backends.Kind{
		Name: "kserve",
		Help: "KServe v2 inference protocol over HTTP or gRPC (KServe, MLServer, Triton and others), and v1 " +
			"over HTTP",
		Schemes:   Schemes,
		Keys:      append([]string{"endpoint"}, Keys...),
		Endpoints: []string{"infer", Predict},
		Abilities: abilities,
		Check:     check,
		Open: func(_ context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
			if t.Endpoint != Predict {
				return Open(t, clock)
			}
			c, err := bodies.Open(t, clock, bodies.Options{})
			if err != nil {
				return nil, err
			}
			return &v1{Conn: c, target: t}, nil
		},
	}
}

// Schemes are the URL schemes of the protocol.
var Schemes = []string{"http", "https", "http+unix", "grpc", "grpcs", "grpc+unix"}

// Keys are the target keys of the plan that are read.
var Keys = []string{
	"model", "model_version", "headers", "parameters", "compression", "tls", "timeout", "connect_timeout",
	"connections", "max_message", "tensors", "ready",
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
func resolve(t backends.Target) (*endpoint.Endpoint, error) {
	e, err := endpoint.Open(&t, Schemes)
	switch {
	case err != nil:
		return nil, err
	case t.Layout != "":
		return nil, &backends.KeyError{Key: "tensors", Err: errors.New("`layout` is for backend tfserving: remove it")}
	case e.GRPC && (t.InputJSON || t.OutputJSON):
		return nil, errors.New("tensors: json is for HTTP; over gRPC tensors are always raw bytes")
	}
	if err := checkHeaders(&t, e.GRPC); err != nil {
		return nil, &backends.KeyError{Key: "headers", Err: err}
	}
	return e, nil
}

// checkHeaders refuses headers that no request could carry.
func checkHeaders(t *backends.Target, grpc bool) error {
	for _, h := range t.Headers {
		err := error(nil)
		if grpc {
			err = grpcraw.CheckHeader(h)
		} else {
			err = endpoint.CheckHeader(h, ownHeaders...)
		}
		if err != nil {
			return err
		}
	}
	if streamsEvents(t) {
		return endpoint.CheckStreamHeaders(t.Headers)
	}
	return nil
}

// Open reads what Check reads. It sends nothing.
func Open(t backends.Target, clock backends.Clock) (Conn, error) {
	e, err := resolve(t)
	switch {
	case err != nil:
		return nil, err
	case e.GRPC:
		c, err := openGRPC(t, e, clock)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	return openHTTP(t, e, clock), nil
}
