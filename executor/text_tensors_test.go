package executor

import (
	"path/filepath"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestTextTensors: the endpoints for TensorRT-LLM and vLLM make tensors of rows of text, and each response with
// text is a token: the first after 20 ms, the others 5 ms apart. What the row and the plan say replaces what is
// made.
func TestTextTensors(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for _, endpoint := range []string{"tensorrtllm", "vllm"} {
		r := play(t, `
version: 1
target: {backend: triton, url: URL, model: tokens_decoupled, endpoint: `+endpoint+`, streaming: true, statistics: none}
data: {rows: [{prompt: a b c, output_tokens: 6}, {text: d e, max_tokens: 6}]}
stages:
  - id: s
    mix: {streamed: {}, whole: {parameters: {stream: false}}}
    load: {concurrency: 2}
    for: 12 requests
    assert:
      - mix("streamed").tokens.output.min == 6
      - mix("streamed").tokens.output.max == 6
      - mix("streamed").responses.max == 6
      - mix("whole").responses.max == 1
`, s.GRPCURL(), Env{})
		n := node(t, r, "s")
		for _, a := range n.Assertions {
			if a.Verdict != result.Pass {
				t.Errorf("%s: %s: %s: %s", endpoint, a.That, a.Verdict, a.Reason)
			}
		}
		for mix, least := range map[string]float64{"streamed": 0.02, "whole": 0.045} { // s
			if m := n.Scope("", mix).Metrics["ttft"]; m == nil || *m.Min < least {
				t.Errorf("%s: ttft of %s is %+v", endpoint, mix, m)
			}
		}
		if m := n.Scope("", "streamed").Metrics["latency_content"]; m == nil || *m.Min < 0.045 {
			t.Errorf("%s: latency_content is %+v", endpoint, m)
		}
		if m := n.Scope("", "streamed").Metrics["itl"]; m == nil || m.Source != "events" {
			t.Errorf("%s: itl is of %+v", endpoint, m)
		}
	}
}

// TestPromptLengths: of written prompts that a server does not count the tokenizer's lengths are known, also in what is
// recorded; of rows and without a tokenizer nothing is, and the server's own count goes first.
func TestPromptLengths(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	file, err := filepath.Abs("tokenizer/testdata/bytelevel.json")
	if err != nil {
		t.Fatal(err)
	}
	tensors := "backend: triton, model: tokens_decoupled, endpoint: tensorrtllm, statistics: none, streaming: true, url: " + s.GRPCURL()
	chat := "backend: openai, model: chat, url: " + s.HTTPURL()
	written := "{prompts: {count: 4, input_tokens: 30, output_tokens: 2, system: 10}}"
	for name, c := range map[string]struct {
		target, data string
		source       string // "": the lengths are unknown
		tokens       float64
	}{
		"tensors": {tensors + ", tokenizer: " + file, written, "prompts", 40},
		"usage":   {chat + ", tokenizer: " + file, "{prompts: {count: 4, input_tokens: 30, output_tokens: 2}}", "usage", 0},
		"rows":    {tensors + ", tokenizer: " + file, "{rows: [{prompt: a b, output_tokens: 2}]}", "", 0},
		"guessed": {tensors, written, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all sent
			r := play(t, "version: 1\ntarget: {"+c.target+"}\ndata: "+c.data+
				"\nstages: [{id: s, load: {concurrency: 2}, for: 8 requests}]\n", "", Env{Record: keep(&all)})
			m := node(t, r, "s").Metrics["tokens.input"]
			if m.Source != c.source || c.source == "prompts" && (*m.Min != c.tokens || *m.Max != c.tokens || *m.Count != 8) {
				t.Errorf("%+v, want %v tokens by %q", m, c.tokens, c.source)
			}
			for _, one := range all.all {
				if n, known := one.InputTokens.Get(); known != (c.source != "") || c.source == "prompts" && n != int64(c.tokens) {
					t.Errorf("recorded %d, %v", n, known)
				}
			}
		})
	}
}
