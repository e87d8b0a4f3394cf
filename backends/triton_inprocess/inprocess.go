// Package inprocess is the backend triton_inprocess, which loads Triton's server library into this process and calls it
// without a network. So far it says what the kind reads and can do, so that plans for it can be checked and drawn.
//
// It is not: a build of Triton, a way to measure a network.
package inprocess

import "github.com/sluice-bench/sluice/backends"

// Kind is the backend "triton_inprocess".
func Kind() backends.Kind {
	return backends.Kind{
		Name: "triton_inprocess",
		Help: "Triton's server library inside this process, without a network",
		Keys: []string{
			"model", "model_version", "inprocess", "parameters", "composing_models", "timeout", "inactivity_timeout", "streaming",
			"statistics", "endpoint", "tokenizer", "trace",
		},
		Endpoints: []string{"infer", "tensorrtllm", "vllm"},
		Abilities: abilities,
	}
}

func abilities(t backends.Target) backends.Ability {
	a := backends.Unary | backends.Metadata | backends.ServerStats | backends.Tensors | backends.Expects | backends.Sequences |
		backends.ModelControl | backends.Composing | backends.Trace | backends.SystemShm | backends.CUDAShm
	if t.Endpoint != "infer" && t.Endpoint != "" {
		a |= backends.Prompts
		if t.Tokenizer != "" {
			a |= backends.TokenCounts
		}
		if t.Streaming {
			a |= backends.TokenEvents
		}
	}
	if t.Streaming {
		a |= backends.Stream
	}
	return a
}
