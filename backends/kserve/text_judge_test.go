package kserve

import (
	"testing"

	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// TestTextMessages: a response has text if its output text_output is not empty, in raw contents or in typed
// ones; one without that output has. An empty one is no response, whether it ends the request or not.
func TestTextMessages(t *testing.T) {
	output := func(name string, typed ...string) []byte {
		b := protow.AppendString(protow.AppendString(nil, 1, name), 2, "BYTES")
		var contents []byte
		for _, text := range typed {
			contents = protow.AppendString(contents, 8, text)
		}
		if typed != nil {
			b = protow.AppendString(b, 5, contents)
		}
		return b
	}
	raw := func(text string) []byte {
		b, err := tensor.AppendElement(nil, tensor.Bytes, text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	final := protow.AppendString(protow.AppendString(nil, 1, isFinal), 2, protow.AppendUint(nil, 1, 1))
	type message struct {
		outputs, raws [][]byte
		parameters    []byte
	}
	for name, c := range map[string]struct {
		message
		text, empty, final bool
	}{
		"raw":           {message{outputs: [][]byte{output("text_output")}, raws: [][]byte{raw("a")}}, true, false, true},
		"typed":         {message{outputs: [][]byte{output("text_output", "a")}}, true, false, true},
		"empty":         {message{outputs: [][]byte{output("text_output")}, raws: [][]byte{raw("")}}, false, true, true},
		"empty, typed":  {message{outputs: [][]byte{output("text_output", "")}}, false, true, true},
		"another first": {message{outputs: [][]byte{output("n"), output("text_output")}, raws: [][]byte{raw("4"), raw("")}}, false, true, true},
		"second":        {message{outputs: [][]byte{output("n"), output("text_output")}, raws: [][]byte{raw(""), raw("a")}}, true, false, true},
		"another only":  {message{outputs: [][]byte{output("n")}, raws: [][]byte{raw("")}}, true, false, true},
		"the end":       {message{parameters: final}, false, true, true},
		"broken raw":    {message{outputs: [][]byte{output("text_output")}, raws: [][]byte{{9, 0, 0, 0}}}, true, false, true},
	} {
		b := protow.AppendString(nil, 3, "7")
		if c.parameters != nil {
			b = protow.AppendString(b, 4, c.parameters)
		}
		for _, o := range c.outputs {
			b = protow.AppendString(b, 5, o)
		}
		for _, r := range c.raws {
			b = protow.AppendString(b, 6, r)
		}
		j := &streamJudge{answer: textOf{wanted: true}}
		whole := protow.AppendString(nil, 2, b)
		for cut := range whole {
			m := j.Read([][]byte{whole[:cut], whole[cut:]})
			if m.Text != c.text || m.Empty != c.empty || m.Final != c.final || m.Broken || m.ID != 7 {
				t.Fatalf("%s, cut at %d: %+v", name, cut, m)
			}
		}
	}
}
