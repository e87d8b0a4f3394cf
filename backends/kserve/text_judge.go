package kserve

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Endpoints of Triton whose requests are tensors that package triton makes of rows of text, and whose replies
// hold generated text.
const (
	TensorRTLLM = "tensorrtllm"
	VLLM        = "vllm"
)

// TextTensors reports whether a target has one of these endpoints.
func TextTensors(t *backends.Target) bool { return t.Endpoint == TensorRTLLM || t.Endpoint == VLLM }

// TextOutput is the output that holds the generated text.
const TextOutput = "text_output"

// textOf looks for text in a response: in the output text_output, as raw contents or typed ones. A response
// without that output is taken for one with text.
type textOf struct {
	wanted bool // the target generates text
	at     int  // index of the output among those of the response; -1: it has none
	raws   int  // raw contents so far
	has    bool // it is not empty
	name   []byte
	data   []byte
}

func (t *textOf) begin() { t.at, t.raws, t.has = -1, 0, false }

// output reads an InferOutputTensor that s has entered, the i-th of the response: name 1, contents 5, whose
// bytes_contents are 8.
func (t *textOf) output(s *protow.Scanner, i int) {
	for s.Next() {
		switch {
		case s.Is(1):
			if t.name = s.Append(t.name[:0]); string(t.name) == TextOutput {
				t.at = i
			}
		case s.Is(5):
			s.EnterMessage()
			for s.Next() {
				if s.Is(8) && t.at == i {
					t.data = s.Append(t.data[:0])
					t.has = t.has || len(t.data) > 0
				}
			}
			s.LeaveMessage()
		}
	}
}

// raw reads the next of the raw contents.
func (t *textOf) raw(s *protow.Scanner) {
	if t.raws == t.at {
		t.data = s.Append(t.data[:0])
		for rest := t.data; len(rest) > 0 && !t.has; {
			element, after, ok := tensor.CutElement(rest)
			if t.has = !ok || len(element) > 0; !ok {
				break
			}
			rest = after
		}
	}
	t.raws++
}
