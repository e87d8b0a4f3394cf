package triton

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// TestTextInputs: rows of text become the inputs that the backends for TensorRT-LLM and vLLM take; parameters
// and other members replace what is made.
func TestTextInputs(t *testing.T) {
	in := func(name string, typ tensor.DataType) backends.Port {
		return backends.Port{Name: name, Type: typ, Shape: []int64{1}}
	}
	trt := &backends.Signature{Model: "ensemble", MaxBatch: 8, Inputs: []backends.Port{
		in("text_input", tensor.Bytes), in("max_tokens", tensor.Int32), in("stream", tensor.Bool),
		in("exclude_input_in_output", tensor.Bool), in("temperature", tensor.FP32), in("stop_words", tensor.Bytes),
	}}
	own := &backends.Signature{Model: "vllm_model", Inputs: []backends.Port{
		in("text_input", tensor.Bytes), in("stream", tensor.Bool), in("sampling_parameters", tensor.Bytes),
		in("exclude_input_in_output", tensor.Bool),
	}}
	for _, c := range []struct {
		vllm      bool
		sig       *backends.Signature
		row       string // name value, in turn
		parameter string
		streaming bool
		want      string
	}{
		{
			sig: trt, row: `prompt "a b" output_tokens 9`, streaming: true,
			want: `text_input BYTES [1 1] "a b"; exclude_input_in_output BOOL [1 1] true; stream BOOL [1 1] true; ` +
				`max_tokens INT32 [1 1] 9`,
		},
		{
			sig: trt, row: `text_input "a" temperature 1 stop_words ["x","y"] max_tokens 5`, parameter: `stream false`,
			streaming: true,
			want: `text_input BYTES [1 1] "a"; exclude_input_in_output BOOL [1 1] true; stream BOOL [1 1] false; ` +
				`max_tokens INT32 [1 1] 5; temperature FP32 [1 1] 1; stop_words BYTES [1 2] "x"`,
		},
		{sig: trt, row: `prompt "a" output_tokens 9 exact_output true`, want: `no input min_tokens or min_length`},
		{
			sig: trt, row: `prompt "a" output_tokens 9 exact_output "auto"`,
			want: `text_input BYTES [1 1] "a"; exclude_input_in_output BOOL [1 1] true; stream BOOL [1 1] false; ` +
				`max_tokens INT32 [1 1] 9`,
		},
		{
			row: `prompt "a" output_tokens 9 exact_output true`, // the server does not describe its model
			want: `text_input BYTES [1] "a"; exclude_input_in_output BOOL [1] true; max_tokens INT32 [1] 9; ` +
				`min_tokens INT32 [1] 9`,
		},
		{row: `prompt "a" output_tokens 9 exact_output "often"`, want: `exact_output must be true, false or "auto"`},
		{row: `prompt "a" exact_output true`, want: `exact_output needs output_tokens beside it`},
		{
			vllm: true, sig: own, row: `prompt "a" output_tokens 9 exact_output true`,
			want: `text_input BYTES [1] "a"; exclude_input_in_output BOOL [1] true; stream BOOL [1] false; ` +
				`sampling_parameters BYTES [1] "{\"max_tokens\":\"9\",\"min_tokens\":\"9\",\"ignore_eos\":true}"`,
		},
		{sig: trt, row: `prompt "a" top_k 4`, want: `model "ensemble" has no input "top_k"`},
		{sig: trt, row: `prompt "a" text "b"`, want: `text twice`},
		{sig: trt, row: `output_tokens 3`, want: `no text`},
		{sig: trt, row: `prompt ["a"]`, want: `must be a string`},
		{sig: trt, row: `prompt "a" max_tokens "many"`, want: `input max_tokens`},
		{
			row: `prompt "a" bad_words ["x"] top_p 0.5 seed 4`, // the server does not describe its model
			want: `text_input BYTES [1] "a"; exclude_input_in_output BOOL [1] true; max_tokens INT32 [1] 256; ` +
				`bad_words BYTES [1] "x"; top_p FP32 [1] 0.5; seed INT32 [1] 4`,
		},
		{
			vllm: true, sig: own, row: `prompt "a" output_tokens 9 temperature 0.5`, parameter: `ignore_eos true`,
			streaming: true,
			want: `text_input BYTES [1] "a"; exclude_input_in_output BOOL [1] true; stream BOOL [1] true; ` +
				`sampling_parameters BYTES [1] "{\"max_tokens\":\"9\",\"ignore_eos\":true,\"temperature\":0.5}"`,
		},
		{
			vllm: true, sig: own, row: `prompt "a" output_tokens 9 sampling_parameters {"max_tokens":4,"n":1}`,
			want: `text_input BYTES [1] "a"; exclude_input_in_output BOOL [1] true; stream BOOL [1] false; ` +
				`sampling_parameters BYTES [1] "{\"max_tokens\":4,\"n\":1}"`,
		},
		{
			vllm: true, sig: own, row: `prompt "a" sampling_parameters "{\"n\":1}"`, parameter: `exclude_input_in_output false`,
			want: `text_input BYTES [1] "a"; exclude_input_in_output BOOL [1] false; stream BOOL [1] false; ` +
				`sampling_parameters BYTES [1] "{\"n\":1}"`,
		},
		{
			vllm: true, sig: own, row: `prompt "a" output_tokens 1 sampling_parameters [1]`,
			want: `sampling_parameters is no object`,
		},
	} {
		m := &textMaker{vllm: c.vllm, sig: c.sig}
		err := m.row(members(t, c.row), c.streaming)
		if err == nil {
			for _, p := range members(t, c.parameter) {
				m.set(p.Name, p.Value)
			}
			for _, x := range m.rest {
				m.set(x.Name, x.Value)
			}
		}
		var list []backends.Tensor
		if err == nil {
			list, err = m.tensors()
		}
		var parts []string
		for _, x := range list {
			parts = append(parts, fmt.Sprintf("%s %s %v %s", x.Name, x.Type, x.Shape, firstOf(t, x)))
		}
		got := strings.Join(parts, "; ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s, %s:\n%s\nwant\n%s", c.row, c.parameter, got, c.want)
		}
	}
}

// firstOf returns the first element of a tensor.
func firstOf(t *testing.T, x backends.Tensor) string {
	t.Helper()
	if x.Type != tensor.Bytes {
		return string(tensor.AppendValue(nil, x.Type, x.Data))
	}
	element, _, ok := tensor.CutElement(x.Data)
	if !ok {
		t.Errorf("%s: %q", x.Name, x.Data)
	}
	return strconv.Quote(string(element))
}

// members reads names and values in turn.
func members(t *testing.T, text string) (list []backends.Member) {
	t.Helper()
	for text != "" {
		name, rest, _ := strings.Cut(text, " ")
		end := len(rest)
		for i, quoted, depth := 0, false, 0; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				quoted = !quoted
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			case ' ':
				if !quoted && depth == 0 {
					end = i
				}
			}
			if end == i {
				break
			}
		}
		list = append(list, backends.Member{Name: name, Value: []byte(rest[:end])})
		text = strings.TrimPrefix(rest[end:], " ")
	}
	return list
}
