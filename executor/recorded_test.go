package executor

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
)

// recalled records the body of each sample as files of requests have it.
type recalled struct {
	of              trial.Recording
	bodies, replies []string
}

func (r *recalled) record(of trial.Recording) trial.Recorder {
	r.of = of
	return endless{r}
}

// Write implements measure.Sink.
func (r *recalled) Write(x *backends.Sample) error {
	inputs := r.of.Own(x)
	if inputs == nil {
		inputs = r.of.Sent(x.Entry, x.Row)
	}
	body := ""
	if len(inputs) > 0 {
		body = string(inputs[0].Data[4:]) // after its length
	}
	r.bodies = append(r.bodies, body)
	for _, reply := range x.Replies() {
		outputs, err := r.of.Received(x.Entry, reply)
		if err != nil {
			return err
		}
		r.replies = append(r.replies, string(outputs[0].Data[4:]))
	}
	return nil
}

// TestRecordedBodies: what is recorded of a request is what the server got: with the turns before it and
// their answers, and with the words of its own of a prompt that differs each time.
func TestRecordedBodies(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("tokenizer/testdata/wordpiece.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ data, load string }{
		"rows": {sessionRows(6, 5, nothingMore), "load: {concurrency: 3}, for: 6 sessions"},
		"rows, sessions arrive": {
			sessionRows(6, 5, nothingMore), "load: {rate: 200/s, of: sessions}, for: 6 sessions",
		},
		"verbatim": {
			sessionRows(6, 5, nothingMore) + "  history: verbatim\n", "load: {concurrency: 3}, for: 6 sessions",
		},
		"prompts": {
			"data: {prompts: {count: 4, input_tokens: 40, output_tokens: 3}}\n", "load: {concurrency: 3}, for: 30 requests",
		},
		"prompts with turns": {
			"data: {prompts: {count: 4, input_tokens: 40, output_tokens: 3, turns: 3}}\n",
			"load: {concurrency: 3}, for: 10 sessions",
		},
	} {
		for _, replies := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				e, at := eavesdrop(t, builtin.Generation{})
				var all recalled
				r := play(t, `version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, probe: false, tokenizer: `+file+`}
`+c.data+`stages:
  - {id: s, `+c.load+`}
`, at, Env{Record: all.record, Replies: replies})
				if n := count(node(t, r, "s"), "requests.count"); n != 30 || len(all.bodies) != 30 || len(e.all) != 30 {
					t.Fatalf("%d requests, %d recorded, %d at the server", n, len(all.bodies), len(e.all))
				}
				var want, got []string
				for i := range e.all {
					var body struct{ Messages []message }
					if err := json.Unmarshal([]byte(all.bodies[i]), &body); err != nil {
						t.Fatalf("%v: %s", err, all.bodies[i])
					}
					got, want = append(got, textOf(t, body.Messages)), append(want, textOf(t, e.all[i].messages))
				}
				slices.Sort(got)
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("recorded\n%q\nsent\n%q", got, want)
				}
			})
		}
	}
}

// textOf returns messages as JSON.
func textOf(t *testing.T, list []message) string {
	t.Helper()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRecordedTensors: of rows of text that go out as tensors, the tensors are recorded.
func TestRecordedTensors(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for endpoint, want := range map[string][]string{
		"tensorrtllm": {"text_input", "stream", "max_tokens"},
		"vllm":        {"text_input", "stream", "max_tokens"},
	} {
		var all recalled
		play(t, `version: 1
target: {backend: triton, url: URL, model: tokens_decoupled, endpoint: `+endpoint+`, streaming: true, statistics: none}
data: {rows: [{prompt: a b c, output_tokens: 6}]}
stages: [{id: s, load: {concurrency: 1}, for: 2 requests}]
`, s.GRPCURL(), Env{Record: all.record})
		var names []string
		for _, x := range all.of.Sent(0, 0) {
			if names = append(names, x.Name); x.Name == "text_input" && string(x.Data[4:]) != "a b c" {
				t.Errorf("%s: text %q", endpoint, x.Data)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: %q", endpoint, names)
		}
	}
}

// TestPromptsVaryInTensors: prompts that are sent as tensors have words of their own each time, which are recorded as
// they were sent: the model repeats its prompt.
func TestPromptsVaryInTensors(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for name, target := range map[string]string{
		"tensorrtllm":      "endpoint: tensorrtllm, streaming: true, parameters: {stream: false}, url: " + s.GRPCURL(),
		"vllm, compressed": "endpoint: vllm, streaming: true, parameters: {stream: false}, compression: gzip, url: " + s.GRPCURL(),
		"generate":         "endpoint: generate, url: " + s.HTTPURL(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all recalled
			r := play(t, `version: 1
target: {backend: triton, model: tokens_decoupled, statistics: none, probe: false, `+target+`}
data: {prompts: {count: 2, system: 12, input_tokens: 40, output_tokens: 100}}
stages:
  - {id: s, load: {concurrency: [1, 2]}, warmup: 2 requests, for: 8 requests, assert: [errors.count == 0]}
`, "", Env{Record: all.record, Replies: true})
			if node(t, r, "s[concurrency=1]").Outcome != result.Done || len(all.bodies) != 20 || len(all.replies) != 20 {
				t.Fatalf("%d requests recorded, %d replies: %s", len(all.bodies), len(all.replies), node(t, r, "s[concurrency=1]").Reason)
			}
			seen := map[string]bool{}
			for i, body := range all.bodies {
				if got := strings.TrimSpace(all.replies[i]); !strings.HasPrefix(got, strings.Join(strings.Fields(body), " ")) {
					t.Errorf("recorded %q, and the server got %q", body, got)
				}
				if seen[body] {
					t.Errorf("%q was sent twice", body)
				}
				seen[body] = true
			}
		})
	}
}
