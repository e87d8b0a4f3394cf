// Package triton is the KServe v2 protocol with the extensions of Triton Inference Server:
// statistics, loading and unloading of models, trace and log settings, tensors in shared memory.
//
// It is not: a second encoder of requests (kserve has the only one), an interpreter of statistics
// (the executor takes differences and means).
package triton

import (
	"context"
	"errors"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/wire/cuda"
)

// Kind returns the backend "triton".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "triton",
		Help:    "Triton Inference Server over HTTP or gRPC, with its statistics",
		Schemes: kserve.Schemes,
		Keys: slices.Concat(kserve.Keys, []string{
			"statistics", "endpoint", "streaming", "inactivity_timeout",
			"composing_models", "tokenizer", "trace", "log",
		}),
		Endpoints: []string{infer, generate, tensorrtllm, vllm},
		Abilities: abilities,
		Absent:    missingAbilities(),
		Check:     check,
		Series:    Series(),
		Open:      open,
	}
}

// missingAbilities returns the abilities that this binary lacks, with how to get them.
func missingAbilities() map[backends.Ability]string {
	if why := cuda.MissingReason(); why != "" {
		return map[backends.Ability]string{backends.CUDAShm: why}
	}
	return nil
}

// Endpoints of Triton. infer takes tensors; tensorrtllm and vllm are infer with the inputs of those
// backends, made from prompts; generate is JSON over HTTP.
const (
	infer       = "infer"
	generate    = kserve.Generate
	tensorrtllm = kserve.TensorRTLLM
	vllm        = kserve.VLLM
)

// abilities returns the abilities of a target. Over gRPC one stream carries many requests; over
// HTTP only generate streams. Triton reports no numbers of tokens: a tokenizer counts them, else the events of
// streams are taken for tokens.
func abilities(t backends.Target) backends.Ability {
	a := backends.ServerStats | backends.Composing | backends.ModelControl | backends.ModelConfig | backends.Trace
	if t.Endpoint == generate {
		a |= kserve.Abilities(t) &^ (backends.Sequences | backends.Classification)
	} else {
		a |= kserve.Abilities(t)
	}
	if !generates(&t) {
		a |= backends.SystemShm | backends.CUDAShm
	}
	if t.Streaming {
		a |= backends.Stream
		if t.GRPC() {
			a |= backends.BidiStream
		}
	}
	if !generates(&t) {
		return a
	}
	a |= backends.Prompts
	if takesText(&t) {
		a &^= backends.Tensors | backends.Expects | backends.Sequences | backends.Classification
	}
	if t.Streaming {
		a |= backends.TokenCounts | backends.TokenEvents
	}
	if t.Tokenizer != "" {
		a |= backends.TokenCounts
	}
	return a
}

// generates reports whether replies of a target are generated text.
func generates(t *backends.Target) bool { return t.Endpoint != "" && t.Endpoint != infer }

// check checks the target as kserve does, and whether the protocol supports the endpoint.
func check(t backends.Target) error {
	switch {
	case t.Endpoint == generate && t.Compression != "":
		return errors.New("endpoint generate takes no compressed requests: remove `compression`")
	case t.Endpoint == generate && t.GRPC():
		return errors.New("endpoint generate is HTTP: use http://, or endpoint infer")
	case t.Streaming && t.Endpoint != generate && !t.GRPC():
		return errors.New("`streaming` needs grpc://: over HTTP only endpoint generate streams")
	}
	return kserve.Check(t)
}

// conn is a KServe target with Triton's extensions.
type conn struct {
	kserve.Conn
	target backends.Target
	clock  backends.Clock
	control
	shares shares
}

// caller is a conn over HTTP: it also makes calls other than inference.
type caller struct {
	*conn
	backends.Caller
}

// Close implements backends.Conn.
func (c *conn) Close(ctx context.Context) error {
	return errors.Join(c.Conn.Close(ctx), c.shares.close())
}

func open(_ context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
	t.KeepReplies = t.KeepReplies || t.Tokenizer != "" && generates(&t) // for Texts
	k, err := kserve.Open(withoutParameters(t), clock)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: k, target: t, clock: clock}
	switch k := k.(type) {
	case *kserve.HTTP:
		c.control = overHTTP{k}
		return &caller{conn: c, Caller: k}, nil
	case *kserve.GRPC:
		c.control = overGRPC{k}
	}
	return c, nil
}
