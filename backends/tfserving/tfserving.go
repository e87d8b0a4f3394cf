// Package tfserving is the backend of TensorFlow Serving, over gRPC or its REST interface. It only
// declares keys and abilities so far, so that plans can be checked and drawn.
//
// It is not: a reader of saved models.
package tfserving

import "github.com/sluice-bench/sluice/backends"

// Kind returns the backend "tfserving".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "tfserving",
		Help:    "TensorFlow Serving over gRPC or HTTP",
		Schemes: []string{"http", "https", "http+unix", "grpc", "grpcs", "grpc+unix"},
		Keys: []string{
			"model", "model_version", "signature", "endpoint", "path", "headers", "compression", "tls", "timeout",
			"connect_timeout", "connections", "max_message",
		},
		Endpoints: []string{"predict", "classify", "regress"},
		Abilities: func(backends.Target) backends.Ability {
			return backends.Unary | backends.Metadata | backends.Tensors | backends.Expects
		},
	}
}
