package kserve

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// TestVary: a request whose words vary is, with its holes filled, the request of the text with these words; no number
// and no length is taken for a mark.
func TestVary(t *testing.T) {
	v := &backends.Vary{Words: []string{"able", "bold", "calm", "dark"}, Bits: 2, Seed: 5}
	marks := strings.Repeat(string(rune(backends.VaryTrial)), 4) + " " + strings.Repeat(string(rune(backends.VaryRequest)), 4)
	inputs := func(text string) []backends.Tensor {
		return []backends.Tensor{
			{Name: "max_tokens", Type: tensor.Int32, Shape: []int64{1}, Data: binary.LittleEndian.AppendUint32(nil, 127)},
			backends.TensorOf("text_input", tensor.TextArray([]byte(text))),
			{Name: "top_k", Type: tensor.Int32, Shape: []int64{1}, Data: binary.LittleEndian.AppendUint32(nil, 26)},
		}
	}
	text := marks + ` "a\u001a" ` + marks + strings.Repeat("x", 127-2*len(marks)-11) // its length is a mark, too
	if len(text) != int(backends.VaryRequest) {
		t.Fatalf("the text has %d bytes", len(text))
	}
	for name, target := range map[string]backends.Target{
		"binary tensors": {},
		"JSON":           {InputJSON: true, OutputJSON: true},
		"generate":       {Endpoint: Generate},
	} {
		target.URL, target.Model = "http://localhost:1", "m"
		c, err := Open(target, backends.Clock{})
		if err != nil {
			t.Fatal(err)
		}
		varied, err := c.Prepare(backends.Request{Inputs: inputs(text), Vary: v})
		if err != nil {
			t.Fatal(err)
		}
		const id = 3<<40 + 7
		for _, h := range varied.Holes {
			if h.Field >= backends.FieldVaryRequest {
				copy(varied.Head[h.At:int(h.At)+int(h.Width)], v.Word(h.Field, id))
			}
		}
		plain, err := c.Prepare(backends.Request{Inputs: v.Filled(inputs(text), id)})
		if err != nil {
			t.Fatal(err)
		}
		got, want := append(varied.Head, bytes.Join(varied.Body, nil)...), append(plain.Head, bytes.Join(plain.Body, nil)...)
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, want)
		}
		if n := len(varied.Holes) - len(plain.Holes); n != 4 {
			t.Errorf("%s: %d words vary, want 4", name, n)
		}
	}
}
