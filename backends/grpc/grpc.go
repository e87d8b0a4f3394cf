// Package grpc is the backend of any gRPC method: messages are encoded from its definition, found
// by reflection or in files. It only declares keys and abilities so far, so that plans can be
// checked and drawn.
//
// It is not: a transport (wire/grpcraw), a client of one service.
package grpc

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// Kind returns the backend "grpc".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "grpc",
		Help:    "any gRPC method, by reflection or its .proto files",
		Schemes: []string{"grpc", "grpcs", "grpc+unix"},
		Keys: []string{
			"method", "protos", "headers", "compression", "tls", "timeout", "connect_timeout",
			"inactivity_timeout", "connections", "max_message", "streaming",
		},
		Abilities: func(t backends.Target) backends.Ability {
			a := backends.Unary | backends.Bodies | backends.Expects
			if t.Streaming {
				a |= backends.Stream | backends.BidiStream
			}
			return a
		},
		Check: check,
	}
}

// check requires a method of the form package.Service/Method.
func check(t backends.Target) error {
	service, method, ok := strings.Cut(strings.TrimPrefix(t.Method, "/"), "/")
	switch {
	case t.Method == "":
		return errors.New("backend grpc needs `method`, such as acme.Search/Query")
	case !ok || service == "" || method == "" || strings.Contains(method, "/"):
		return fmt.Errorf("method %q must have the form package.Service/Method", t.Method)
	}
	return nil
}
