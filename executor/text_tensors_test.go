package executor

import (
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
