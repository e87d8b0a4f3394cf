package artifact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// TestSamplesAreMasked: what servers and the plan say passes the mask in every file, each text once.
func TestSamplesAreMasked(t *testing.T) {
	for _, table := range []string{"csv", "jsonl"} {
		asked := map[string]int{}
		o := SamplesOptions{Table: table, Export: true, Mask: func(s string) string {
			asked[s]++
			return strings.ReplaceAll(s, "hunter2", "***")
		}}
		trial := Trial{
			Node: "s[token=hunter2]", Mix: []string{"by hunter2"},
			Sent: func(uint16, uint32) []backends.Tensor {
				return []backends.Tensor{tensorOf("in", tensor.Bytes, text("a hunter2", "b")...)}
			},
			Received: func(_ uint16, reply []byte) ([]backends.Tensor, error) {
				return []backends.Tensor{tensorOf("of hunter2", tensor.Bytes, text(string(reply))...)}, nil
			},
		}
		good, bad := backends.Sample{Responses: 1},
			backends.Sample{Class: backends.Server, Note: []byte("denied: \"Bearer hunter2\"")}
		good.AddText([]byte("it is hunter2"))
		files := kept(t, o, trial, nil, bad, good, bad, good, bad)
		for name, data := range files {
			if strings.Contains(data, "hunter2") || !strings.Contains(data, "***") {
				t.Errorf("%s: %s", name, data)
			}
		}
		if len(files) != 2 || asked["denied: \"Bearer hunter2\""] != 1 || asked["it is hunter2"] != 1 {
			t.Errorf("%d files, asked for %v", len(files), asked)
		}
	}
}

// TestMaskedTextsAreBounded: texts that never come again take no memory for ever.
func TestMaskedTextsAreBounded(t *testing.T) {
	s := &Samples{o: SamplesOptions{Mask: strings.ToUpper}}
	for n := range 3 * maxMasked {
		if text := fmt.Sprint("request x", n); s.mask(text) != strings.ToUpper(text) {
			t.Fatal(text)
		}
	}
	_ = s.mask(strings.Repeat("x", maxMaskedText+1))
	if n := len(s.masked); n > maxMasked {
		t.Errorf("%d texts are kept", n)
	}
	for text := range s.masked {
		if len(text) > maxMaskedText {
			t.Errorf("a text of %d bytes is kept", len(text))
		}
	}
}
