// Package torchserve is the backend of TorchServe, over HTTP or gRPC. It only declares keys and
// abilities so far, so that plans can be checked and drawn.
//
// It is not: a reader of model archives.
package torchserve

import "github.com/sluice-bench/sluice/backends"

// Kind returns the backend "torchserve".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "torchserve",
		Help:    "TorchServe over HTTP or gRPC",
		Schemes: []string{"http", "https", "http+unix", "grpc", "grpcs", "grpc+unix"},
		Keys: []string{
			"model", "model_version", "path", "headers", "compression", "tls", "timeout", "connect_timeout",
			"inactivity_timeout", "connections", "max_message", "streaming",
		},
		Abilities: func(t backends.Target) backends.Ability {
			a := backends.Unary | backends.Bodies | backends.Expects
			if t.Streaming {
				a |= backends.Stream
			}
			return a
		},
	}
}
