package executor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestEndpoints: infer takes tensors; generate takes members of an object, answers in one piece or
// in a stream, and may say with status 200 that it has failed.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for _, c := range []struct {
		target, data, shapes string
		responses            float64 // -1: there is no such number
		failed               string
	}{
		{"model: simple", "random", "{}", -1, ""},
		{"model: simple, endpoint: infer", "random", "{}", -1, ""},
		{"model: simple, endpoint: generate", "random", "{}", -1, ""},
		{"model: simple, endpoint: generate, streaming: true", "random", "{}", 1, ""},
		{
			"model: tokens_decoupled, endpoint: generate", "{text_input: a b, max_tokens: 3, stream: false}", "{}",
			-1, "",
		},
		{
			"model: tokens_decoupled, endpoint: generate", "{text_input: a b, max_tokens: 3, stream: true}", "{}", -1,
			"generate expects model to produce exactly 1 response",
		},
		{
			"model: tokens_decoupled, endpoint: generate, streaming: true",
			"{text_input: a b, max_tokens: 3, stream: true}", "{}", 3, "",
		},
		{
			"model: repeat_decoupled, endpoint: generate, streaming: true", "{IN: 7, DELAY: 1, WAIT: 0}",
			"{IN: [4], DELAY: [4]}", 4, "",
		},
		{
			"model: repeat_decoupled, endpoint: generate, streaming: true", "{IN: 7, DELAY: 0, WAIT: 0}",
			"{IN: [700], DELAY: [700]}", 700, "",
		},
		{
			"model: repeat_decoupled, endpoint: generate, streaming: true", "{IN: 7, DELAY: 0, WAIT: 0}",
			"{IN: [0], DELAY: [0]}", 0, "",
		},
		{
			"model: repeat_error, endpoint: generate, streaming: true", "{IN: 7, DELAY: 1, WAIT: 0}",
			"{IN: [4], DELAY: [4]}", 0, "simulated failure of model 'repeat_error'",
		},
		{
			"model: repeat_break, endpoint: generate, streaming: true", "{IN: 7, DELAY: 1, WAIT: 0}",
			"{IN: [4], DELAY: [4]}", 0, "reset by peer",
		},
		{
			"model: repeat_hang, endpoint: generate, streaming: true, inactivity_timeout: 50ms",
			"{IN: 7, DELAY: 1, WAIT: 0}", "{IN: [4], DELAY: [4]}", 0,
			"no final flag came: after 4 responses nothing came",
		},
	} {
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: triton, url: URL, %s, statistics: none, ready: 0s}
data: {generate: %s}
stages:
  - {id: s, shapes: %s, load: {concurrency: 2}, for: 4 requests, assert: [errors.count >= 0]}
`, c.target, c.data, c.shapes), s.HTTPURL(), Env{})
		n := node(t, r, "s")
		switch {
		case c.failed != "" &&
			(len(n.Errors) != 1 || n.Errors[0].Count != 4 || !strings.Contains(n.Errors[0].Example, c.failed)):
			t.Errorf("%s: %+v, want %q", c.target, n.Errors, c.failed)
		case c.failed == "" && (len(n.Errors) > 0 || streamValue(n, "responses max") != c.responses):
			t.Errorf("%s: %v responses, want %v; %+v",
				c.target, streamValue(n, "responses max"), c.responses, n.Errors)
		}
	}
}
