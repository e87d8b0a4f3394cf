package artifact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// The count of tokens that a server sends after the content is in the export's last event, once, and the
// event is JSON as before.
func TestUsageInTheLastEvent(t *testing.T) {
	for _, c := range []struct{ name, event, want string }{
		{"without", `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n", `"usage":{"prompt_tokens":7,"completion_tokens":3}}` + "\n\n"},
		{"null", `data: {"choices":[{"delta":{"content":"\"usage\":null"}}],"usage": null,"id":"x"}` + "\n\n", `"usage":{"prompt_tokens":7,"completion_tokens":3},"id"`},
		{"known", `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1}}`, `"usage":{"prompt_tokens":1}}`},
		{"before the end", `data: {"choices":[{"text":"a"}]}` + "\n\ndata: [DONE]\n\n", `"completion_tokens":3}}` + "\n\ndata: [DONE]"},
		{"no choices", "event: x\n" + `data: {"delta":"a" }` + "\n\n", `"delta":"a","usage":{"input_tokens":7,"output_tokens":3}}`},
		{"empty", `{}`, `{"usage":{"input_tokens":7,"output_tokens":3}}`},
		{"no JSON", "}a{", "}a{"},
	} {
		in := []backends.Tensor{backends.TensorOf("response", tensor.TextArray([]byte(c.event)))}
		tokens := backends.Tokens{InputTokens: backends.CountOf(7), OutputTokens: backends.CountOf(3)}
		got := string(withUsage(in, tokens)[0].Data[4:])
		if !strings.Contains(got, c.want) || strings.Count(got, `"usage":{`) > 1 {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		_, body, ok := strings.Cut(got, "{")
		body, _, _ = strings.Cut("{"+body, "\n")
		if ok && c.name != "no JSON" && !json.Valid([]byte(body)) {
			t.Errorf("%s: no JSON: %s", c.name, body)
		}
		if got := string(withUsage(in, backends.Tokens{})[0].Data[4:]); got != c.event {
			t.Errorf("%s: changed without a count: %s", c.name, got)
		}
	}
	numbers := []backends.Tensor{{Name: "response", Type: tensor.Int32, Data: []byte("{}{}")}}
	if got := withUsage(numbers, backends.Tokens{InputTokens: backends.CountOf(7)}); string(got[0].Data) != "{}{}" {
		t.Errorf("numbers: %q", got[0].Data)
	}
}
