package executor

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/tokenizer"
)

// said are the parts of the answers of the servers of TestAnswerTokens.
var said = []string{"The index of ", "refraction is ", "the ratio of the sines."}

// saying answers with said in events or in one piece, behind "Hm." as reasoning, and with usage of n tokens; 0: none.
func saying(usage int) func(w http.ResponseWriter, body string) {
	return func(w http.ResponseWriter, body string) {
		count := ""
		if usage > 0 {
			count = fmt.Sprintf(`,"usage":{"prompt_tokens":5,"completion_tokens":%d}`, usage)
		}
		if !strings.Contains(body, `"stream":true`) {
			fmt.Fprintf(w, `{"choices":[{"message":{"reasoning":"Hm.","content":%q},"finish_reason":"stop"}]%s}`,
				strings.Join(said, ""), count)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		event := func(name, text string) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{%q:%q}}]}\n\n", name, text)
			_ = http.NewResponseController(w).Flush()
		}
		event("reasoning", "Hm.")
		for _, text := range said {
			event("content", text)
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]%s}\n\ndata: [DONE]\n\n", count)
	}
}

// TestAnswerTokens: the tokens of answers are those of the server's usage, else of their texts by the target's
// tokenizer, else of their events; usage, tokenizer and events stand side by side.
func TestAnswerTokens(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("tokenizer/testdata/bytelevel.json")
	if err != nil {
		t.Fatal(err)
	}
	counts, err := tokenizer.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	answer := int64(counts.Count("Hm.") + counts.Count(strings.Join(said, "")))
	repeated := int64(counts.Count(strings.Repeat("a b ", 3)))
	_, silent := talk(t, saying(0))
	_, counting := talk(t, saying(int(answer)+1)) // and a token that ends the answer
	_, other := talk(t, saying(3*int(answer)))
	embedded := serve(t, builtin.Config{})
	prompt := "{rows: [{prompt: a b, output_tokens: 6}]}"
	const turns = `{rows: [{session_id: s, prompt: a}, {session_id: s, prompt: b}]}`
	tensors := "backend: triton, model: tokens_decoupled, statistics: none, streaming: true, "
	for name, c := range map[string]struct {
		target, data, stage string
		env                 Env
		blind               bool // no tokenizer
		source              string
		tokens              int64              // of an answer
		counts              result.TokenCounts // of one
		note                string             // the code of a finding
	}{
		"a stream without usage": {
			target: "backend: openai, model: m, streaming: true, url: " + silent,
			source: "tokenizer", tokens: answer, counts: result.TokenCounts{Tokenizer: answer, Events: new(int64(4))},
		},
		"in one piece without usage": {
			target: "backend: openai, model: m, url: " + silent,
			source: "tokenizer", tokens: answer, counts: result.TokenCounts{Tokenizer: answer},
		},
		"neither usage nor tokenizer": {
			target: "backend: openai, model: m, streaming: true, url: " + silent, blind: true,
			source: "events", tokens: 4, note: result.TokensFromEvents,
		},
		"usage": {
			target: "backend: openai, model: m, streaming: true, url: " + counting,
			source: "usage", tokens: answer + 1,
			counts: result.TokenCounts{Tokenizer: answer, Usage: new(answer + 1), Events: new(int64(4))},
		},
		"usage of another tokenizer": {
			target: "backend: openai, model: m, streaming: true, url: " + other,
			source: "usage", tokens: 3 * answer,
			counts: result.TokenCounts{Tokenizer: answer, Usage: new(3 * answer), Events: new(int64(4))},
			note:   result.TokenCountsDiffer,
		},
		"replies that are kept": {
			target: "backend: openai, model: m, streaming: true, url: " + silent, env: Env{Replies: true},
			source: "tokenizer", tokens: answer, counts: result.TokenCounts{Tokenizer: answer, Events: new(int64(4))},
		},
		"turns of sessions": {
			target: "backend: openai, model: m, streaming: true, url: " + silent, data: turns,
			source: "tokenizer", tokens: answer, counts: result.TokenCounts{Tokenizer: answer, Events: new(int64(4))},
		},
		"an assertion that may abort": {
			target: "backend: openai, model: m, streaming: true, url: " + silent,
			stage:  ", assert: [{that: tokens.output.max < 1000, abort: true}]",
			source: "tokenizer", tokens: answer, counts: result.TokenCounts{Tokenizer: answer, Events: new(int64(4))},
		},
		"tensors of text": {
			target: tensors + "endpoint: tensorrtllm, url: " + embedded.GRPCURL(),
			source: "tokenizer", tokens: repeated, counts: result.TokenCounts{Tokenizer: repeated, Events: new(int64(6))},
		},
		"generate": {
			target: tensors + "endpoint: generate, url: " + embedded.HTTPURL(),
			data:   "{rows: [{text_input: a b, max_tokens: 6}]}",
			source: "tokenizer", tokens: repeated, counts: result.TokenCounts{Tokenizer: repeated, Events: new(int64(6))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := c.target
			if !c.blind {
				target += ", tokenizer: " + file
			}
			if c.data == "" {
				c.data = prompt
			}
			r := play(t, "version: 1\ntarget: {"+target+", probe: false}\ndata: "+c.data+
				"\nstages: [{id: s, load: {concurrency: 2}, for: 8 requests"+c.stage+"}]\n", "", c.env)
			n := node(t, r, "s")
			m := n.Metrics["tokens.output"]
			if m.Source != c.source || *m.Count != 8 || *m.Min != float64(c.tokens) || *m.Max != float64(c.tokens) {
				t.Errorf("tokens.output is %v to %v of %q, %v requests, want %d of %q", *m.Min, *m.Max, m.Source, *m.Count,
					c.tokens, c.source)
			}
			if got, want := n.TokenCounts, c.counts.Tokenizer; (got != nil) != (want > 0) {
				t.Errorf("token_counts is %+v", got)
			} else if got != nil {
				if got.Answers != 8 || got.Tokenizer != 8*want || !eightTimes(got.Usage, c.counts.Usage) ||
					!eightTimes(got.Events, c.counts.Events) {
					t.Errorf("token_counts is %+v, want 8 times %+v", got, c.counts)
				}
			}
			for _, code := range []string{result.TokensFromEvents, result.TokenCountsDiffer} {
				if (n.Finding(code) != nil) != (c.note == code) {
					t.Errorf("finding %s: %+v", code, n.Finding(code))
				}
			}
		})
	}
}

// TestAnswerTokensOfMix: each entry of a mix has the source of its own target.
func TestAnswerTokensOfMix(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("tokenizer/testdata/bytelevel.json")
	if err != nil {
		t.Fatal(err)
	}
	_, url := talk(t, saying(0))
	target := "backend: openai, model: m, streaming: true, probe: false, url: " + url
	r := play(t, `version: 1
targets: {with: {`+target+`, tokenizer: `+file+`}, without: {`+target+`}}
data: {rows: [{prompt: a b}]}
stages: [{id: s, mix: {a: {target: with}, b: {target: without}}, load: {concurrency: 2}, for: 20 requests}]
`, "", Env{Replies: true})
	n := node(t, r, "s")
	for mix, want := range map[string]string{"a": "tokenizer", "b": "events", "": "tokenizer and events"} {
		metrics := n.Metrics
		if mix != "" {
			metrics = n.Scope("", mix).Metrics
		}
		if m := metrics["itl"]; m.Source != want {
			t.Errorf("itl of %q is by %q, want %q", mix, m.Source, want)
		}
	}
}

// TestTextCounter: embeddings and ranks have no text that is counted; a model that takes batches has.
func TestTextCounter(t *testing.T) {
	for _, c := range []struct {
		sig  backends.Signature
		want bool
	}{
		{backends.Signature{Text: true}, true},
		{backends.Signature{Text: true, Batched: true}, false},
		{backends.Signature{Batched: true, MaxBatch: 8}, true},
	} {
		if got := textCounter(texter{}, c.sig, func(string) int { return 1 }) != nil; got != c.want {
			t.Errorf("%+v: counted %t", c.sig, got)
		}
	}
}

type texter struct{ backends.Conn }

func (texter) Texts(*backends.Sample) ([]string, bool) { return nil, false }

func eightTimes(got, one *int64) bool {
	if got == nil || one == nil {
		return got == one
	}
	return *got == 8**one
}
