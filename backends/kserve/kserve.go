// Package kserve speaks the KServe v2 inference protocol over HTTP/1.1 and gRPC.
//
// It is not: a transport (wire), a place where Triton's own extensions live (triton).
package kserve

import (
	"context"
	"errors"

	"github.com/sluice-bench/sluice/backends"
)

// Kind is the backend "kserve".
func Kind() backends.Kind {
	return backends.Kind{
		Name:      "kserve",
		Help:      "KServe v2 inference protocol over HTTP or gRPC (KServe, MLServer, Triton and others)",
		Schemes:   Schemes(),
		Keys:      Keys(),
		Abilities: Abilities,
		Open: func(context.Context, backends.Target, backends.Clock) (backends.Conn, error) {
			return nil, errors.ErrUnsupported
		},
	}
}

// Schemes are the URL schemes of the protocol.
func Schemes() []string {
	return []string{"http", "https", "http+unix", "grpc", "grpcs", "grpc+unix"}
}

// Keys are the target keys of the plan that are read.
func Keys() []string {
	return []string{"model", "model_version", "headers", "parameters", "tls", "timeout", "connect_timeout", "connections", "max_message", "tensors", "ready"}
}

// Abilities is what the protocol can do for a target.
func Abilities(backends.Target) backends.Ability {
	return backends.Unary | backends.Metadata | backends.Tensors | backends.Expects
}
