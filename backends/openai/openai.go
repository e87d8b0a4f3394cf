// Package openai is the backend of servers with OpenAI's HTTP interface: vLLM, TensorRT-LLM,
// llama.cpp, SGLang, TGI, NIM and others. It only declares keys and abilities so far, so that plans
// can be checked and drawn.
//
// It is not: a tokenizer, a generator of prompts (feed), a client of any one vendor's other
// services.
package openai

import (
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
)

// Kind returns the backend "openai".
func Kind() backends.Kind {
	return backends.Kind{
		Name: "openai",
		Help: "servers with OpenAI's HTTP interface " +
			"(vLLM, TensorRT-LLM, llama.cpp, SGLang, TGI, NIM and others)",
		Schemes: []string{"http", "https", "http+unix"},
		Keys: []string{
			"model", "endpoint", "path", "headers", "parameters", "compression", "tls", "timeout",
			"connect_timeout",
			"inactivity_timeout", "connections", "streaming", "tokenizer",
		},
		Endpoints: []string{
			"chat", "completions", "responses", "messages", "embeddings", "rankings",
			"images",
		},
		Abilities: abilities,
		Check:     check,
	}
}

// talks are the endpoints that generate text, and can stream it.
var talks = [...]string{"chat", "completions", "responses", "messages"}

// abilities returns the abilities of a target. Images have no token counts; only generated text is
// streamed.
func abilities(t backends.Target) backends.Ability {
	a := backends.Unary | backends.Prompts | backends.Expects
	if t.Endpoint != "images" {
		a |= backends.TokenCounts
	}
	if !slices.Contains(talks[:], t.Endpoint) {
		return a
	}
	if t.Endpoint != "completions" {
		a |= backends.Chat
	}
	if t.Streaming {
		a |= backends.Stream | backends.TokenEvents
	}
	return a
}

func check(t backends.Target) error {
	if t.Streaming && !slices.Contains(talks[:], t.Endpoint) {
		return fmt.Errorf("endpoint %s does not stream: remove `streaming`", t.Endpoint)
	}
	return nil
}
