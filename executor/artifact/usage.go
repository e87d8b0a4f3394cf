package artifact

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

var (
	hasUsage = regexp.MustCompile(`"usage(Metadata)?"\s*:\s*\{`)
	noUsage  = regexp.MustCompile(`"usage"\s*:\s*null`)
)

// withUsage adds the server's count of tokens to the last reply of a request for text, if the reply does
// not have it. Servers send the count in an event of its own, after the last content, of which
// GenAI-Perf's parser demands a choice.
func withUsage(tensors []backends.Tensor, tokens backends.Tokens) []backends.Tensor {
	if len(tensors) != 1 || tensors[0].Name != "response" || tensors[0].Type != tensor.Bytes || len(tensors[0].Data) < 4 {
		return tensors
	}
	text := tensors[0].Data[4:]
	first, last := bytes.IndexByte(text, '{'), bytes.LastIndexByte(text, '}')
	if first < 0 || last < first || hasUsage.Match(text) {
		return tensors
	}
	usage := usageOf(tokens, bytes.Contains(text, []byte(`"choices"`)))
	if usage == nil {
		return tensors
	}
	var out []byte
	if at := noUsage.FindAllIndex(text, -1); len(at) > 0 {
		gap := at[len(at)-1]
		out = append(append(append(out, text[:gap[0]]...), usage...), text[gap[1]:]...)
	} else {
		out = append(out, bytes.TrimRight(text[:last], " \t\r\n")...)
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(append(out, usage...), text[last:]...)
	}
	return []backends.Tensor{backends.TensorOf("response", tensor.TextArray(out))}
}

// usageOf returns the member with what is known of a count, in the words of an endpoint with choices or of
// the others; nil if the prompt's length is not known.
func usageOf(tokens backends.Tokens, choices bool) []byte {
	input, ok := tokens.InputTokens.Get()
	if !ok {
		return nil
	}
	in, out := "input_tokens", "output_tokens"
	if choices {
		in, out = "prompt_tokens", "completion_tokens"
	}
	b := strconv.AppendInt(append(appendText([]byte(`"usage":{`), in), ':'), input, 10)
	if output, ok := tokens.OutputTokens.Get(); ok {
		b = strconv.AppendInt(append(appendText(append(b, ','), out), ':'), output, 10)
	}
	return append(b, '}')
}
