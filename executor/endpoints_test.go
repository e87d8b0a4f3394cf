package executor

import (
	"fmt"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestTextEndpoints: sessions of three turns on each endpoint that generates text. The server counts the
// words of each prompt, so its counts show that a turn holds the earlier ones and their answers: with a
// role and a word each, and answers of two words, 2, 7 and 12 words.
func TestTextEndpoints(t *testing.T) {
	t.Parallel()
	quick := &builtin.Dist{Mean: 1e-3}
	for _, endpoint := range []string{"chat", "responses", "messages"} {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, streaming %t", endpoint, streaming), func(t *testing.T) {
				t.Parallel()
				s := serve(t, builtin.Config{
					TTFT: quick, ITL: quick, APIKey: "key",
					Generation: &builtin.Generation{ReasoningTokens: 1, PrefixCache: true},
				})
				n := node(t, play(t, fmt.Sprintf(`version: 1
target:
  backend: openai
  url: "URL"
  model: chat
  endpoint: %s
  streaming: %t
  probe: false
  headers: {Authorization: Bearer key}
data:
  rows:
    - {session_id: a, prompt: one, output_tokens: 3}
    - {session_id: a, prompt: two, output_tokens: 3}
    - {session_id: a, prompt: three, output_tokens: 3}
stages:
  - {id: s, load: {concurrency: 1}, for: 4 sessions, assert: [errors.count == 0]}
`, endpoint, streaming), s.HTTPURL(), Env{}), "s")
				for name, want := range map[string]float64{
					"requests.count": 12, "tokens.input.min": 2, "tokens.input.mean": 7, "tokens.input.max": 12,
					"tokens.output.mean": 3, "tokens.reasoning.mean": 1,
				} {
					if name == "tokens.reasoning.mean" && endpoint == "messages" {
						continue // whose usage does not tell it
					}
					if got := value(t, n, name); got != want {
						t.Errorf("%s: %v, want %v: %+v", name, got, want, n.Errors)
					}
				}
				if !streaming {
					return
				}
				if first, next := value(t, n, "ttft.min"), value(t, n, "itl.min"); first < 1e-3 || next <= 0 {
					t.Errorf("the first token after %v, the others %v apart", first, next)
				}
			})
		}
	}
}

// TestWholeEndpoints: endpoints that answer a request as a whole.
func TestWholeEndpoints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ target, row string }{
		"embeddings":  {"endpoint: embeddings, model: embeddings", "{text: one}"},
		"rankings":    {"endpoint: rankings, model: rankings", "{query: one, documents: [two, one]}"},
		"images":      {"endpoint: images, model: images", "{prompt: a boat}"},
		"what images": {"endpoint: images, model: images", `{image: "data:image/png;base64,iVBORw0KGgo="}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := play(t, fmt.Sprintf(`version: 1
target: {backend: openai, url: "URL", probe: false, %s}
data: {rows: [%s]}
stages: [{id: s, load: {concurrency: 1}, for: 5 requests, assert: [errors.count == 0]}]
`, c.target, c.row), serve(t, builtin.Config{}).HTTPURL(), Env{})
			if n := node(t, r, "s"); r.Verdict != "pass" || count(n, "requests.count") != 5 {
				t.Errorf("%s: %s %+v", r.Verdict, r.Reason, n.Errors)
			}
		})
	}
}
