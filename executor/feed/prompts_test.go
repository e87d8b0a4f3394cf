package feed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/tokenizer"
	"github.com/sluice-bench/sluice/scenario"
)

func always(n float64) scenario.Dist { return scenario.Dist{Shape: "constant", Mean: n} }

// TestPromptMixture: the pairs of lengths that 1,000 prompts have pass a chi-square test at 1 % against
// their weights, and each prompt has the length of its pair.
func TestPromptMixture(t *testing.T) {
	k, err := tokenizer.Open("../tokenizer/testdata/bytelevel.json")
	if err != nil {
		t.Fatal(err)
	}
	pairs, chi := map[string]float64{}, 0.0
	weights := []float64{60, 30, 10}
	p := &scenario.Prompts{Count: 1000, Reuse: "all"}
	for i, w := range weights {
		out := always(float64(7 * (i + 1)))
		p.Lengths = append(p.Lengths, scenario.Lengths{Input: always(float64(20 * (i + 1))), Output: &out, Weight: w})
	}
	built, diags := Build(&scenario.Dataset{Name: "main", Source: "prompts", Prompts: p},
		&scenario.Request{Target: &scenario.Target{}},
		backends.Signature{Model: "m", Text: true, Endpoint: "chat", Count: k.Count}, 1)
	if len(diags) > 0 || len(built.Requests) != 1000 {
		t.Fatal(diags, len(built.Requests))
	}
	for _, r := range built.Requests {
		var text string
		if err := json.Unmarshal(r.Rows[0][0].Value, &text); err != nil {
			t.Fatal(err)
		}
		pairs[fmt.Sprintf("%d %s", k.Count(text), r.Rows[0][1].Value)]++
	}
	for i, w := range weights {
		want := 10 * w
		got := pairs[fmt.Sprintf("%d %d", 20*(i+1), 7*(i+1))]
		chi += (got - want) * (got - want) / want
	}
	if len(pairs) != 3 || chi > 9.21 { // two degrees of freedom
		t.Errorf("pairs %v, chi-square %.2f", pairs, chi)
	}
}

// TestBlockTokens: blocks of a trace have their sizes in tokens of the tokenizer.
func TestBlockTokens(t *testing.T) {
	for _, name := range []string{"bytelevel", "sentencepiece", "unigram"} {
		k, err := tokenizer.Open("../tokenizer/testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		sig := textTarget
		sig.Count = k.Count
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		const rows = `{"timestamp":0,"input_length":700,"output_length":1,"hash_ids":[5,7]}
{"timestamp":0,"input_length":1500,"output_length":1,"hash_ids":[5,7,9]}
`
		if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		built, diags := Build(&scenario.Dataset{
			Name: "main", Source: "file", Format: "mooncake", Files: []scenario.Path{{Name: file}},
		}, &scenario.Request{Target: &scenario.Target{}}, sig, 1)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var texts []string
		for i, want := range []int{700, 1500} {
			var text string
			if err := json.Unmarshal(built.Requests[i].Rows[0][0].Value, &text); err != nil {
				t.Fatal(err)
			}
			if texts = append(texts, text); k.Count(text) != want {
				t.Errorf("%s: prompt %d has %d tokens, want %d", name, i, k.Count(text), want)
			}
		}
		if !strings.HasPrefix(texts[1], texts[0][:len(texts[0])*9/10]) {
			t.Errorf("%s: blocks with one number have different texts", name)
		}
	}
}
