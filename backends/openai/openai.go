// Package openai speaks OpenAI's interface over HTTP/1.1, and those that share its servers: vLLM,
// SGLang, TensorRT-LLM, llama.cpp, TGI, NIM and others.
//
// It is not: a transport (wire), a tokenizer, a maker of prompts (feed has the rows).
//
// A request is JSON made once, before the clock starts. Times of tokens come from the reads that
// brought them: see judge for what counts as one.
package openai

import (
	"context"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// Kind returns the backend "openai".
func Kind() backends.Kind {
	return backends.Kind{
		Name: "openai",
		Help: "servers with OpenAI's HTTP interface " +
			"(vLLM, TensorRT-LLM, llama.cpp, SGLang, TGI, NIM and others)",
		Schemes: schemes,
		Keys: []string{
			"model", "endpoint", "path", "headers", "parameters", "tls", "timeout", "connect_timeout",
			"inactivity_timeout", "connections", "max_message", "streaming", "tokenizer", "ready",
		},
		Endpoints: []string{chat, completions, responses, messages, embeddings, rankings, images},
		Abilities: abilities,
		Check:     check,
		Open: func(_ context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
			return open(t, clock)
		},
	}
}

var schemes = []string{"http", "https", "http+unix"}

// Endpoints. The first four generate text, and can stream it.
const (
	chat        = "chat"
	completions = "completions"
	responses   = "responses"
	messages    = "messages"
	embeddings  = "embeddings"
	rankings    = "rankings"
	images      = "images"
)

// generates reports whether an endpoint generates text.
func generates(endpoint string) bool {
	return endpoint != embeddings && endpoint != rankings && endpoint != images
}

func abilities(t backends.Target) backends.Ability {
	a := backends.Unary | backends.Metadata | backends.Prompts | backends.Bodies | backends.TokenCounts |
		backends.Expects
	if !generates(t.Endpoint) {
		return a
	}
	if t.Endpoint != completions {
		a |= backends.Chat
	}
	if t.Streaming {
		a |= backends.Stream | backends.TokenEvents
	}
	return a
}

// ownHeaders are set by the kind itself.
var ownHeaders = []string{"Content-Type", "Content-Encoding"}

// check checks the target's URL, headers and TLS files, and whether the endpoint can stream.
func check(t backends.Target) error {
	_, err := resolve(&t)
	return err
}

func resolve(t *backends.Target) (*endpoint.Endpoint, error) {
	if t.Streaming && !generates(t.Endpoint) {
		return nil, &backends.KeyError{
			Key: "streaming", Err: fmt.Errorf("endpoint %s does not stream: remove `streaming`", t.Endpoint),
		}
	}
	if err := checkHeaders(t.Headers); err != nil {
		return nil, &backends.KeyError{Key: "headers", Err: err}
	}
	return endpoint.Open(t, schemes)
}

// checkHeaders refuses headers that no request could carry. Replies are never compressed: that would
// hide the times of tokens.
func checkHeaders(list []backends.Header) error {
	for _, h := range list {
		if err := endpoint.CheckHeader(h, ownHeaders...); err != nil {
			return err
		}
	}
	return endpoint.CheckStreamHeaders(list)
}

// conn is an open target.
type conn struct {
	*endpoint.HTTP
	target backends.Target
	ways   map[asker]lengthWay // how exact lengths are asked for; written while requests are made
}

func open(t backends.Target, clock backends.Clock) (*conn, error) {
	e, err := resolve(&t)
	if err != nil {
		return nil, err
	}
	newWire := func() backends.Wire {
		return http1.New(&judge{streaming: t.Streaming, keep: t.KeepReplies})
	}
	return &conn{HTTP: endpoint.OpenHTTP(t, e, clock, newWire), target: t, ways: map[asker]lengthWay{}}, nil
}

// Describe implements backends.Describer. It asks nothing: requests are made of text, whatever the
// model.
func (c *conn) Describe(_ context.Context, model string) (backends.Signature, error) {
	if model == "" {
		model = c.target.Model
	}
	return backends.Signature{
		Model: model, Text: true, Endpoint: c.target.Endpoint, Batched: !generates(c.target.Endpoint),
	}, nil
}

// Outputs implements backends.Replier: a reply, or an event with content, is one string, under the name
// that perf_analyzer gives it.
func (c *conn) Outputs(reply []byte) ([]backends.Tensor, error) {
	return []backends.Tensor{backends.TensorOf("response", tensor.TextArray(reply))}, nil
}
