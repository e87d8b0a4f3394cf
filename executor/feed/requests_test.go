package feed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// textTarget is the signature of a target that takes text.
var textTarget = backends.Signature{Model: "m", Text: true, Endpoint: "chat"}

// prompts builds the requests of a trace, and returns the words of their prompts.
func prompts(t *testing.T, seed uint64, rows string) (all [][]string) {
	t.Helper()
	d := files(t, "trace.jsonl", rows)
	d.Format = format.Mooncake
	built, diags := Build(d, &scenario.Request{Data: d, Batch: 1}, textTarget, seed)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for _, r := range built.Requests {
		all = append(all, strings.Fields(strings.Trim(string(r.Rows[0][0].Value), `"`)))
	}
	return all
}

// TestBlocks: prompts have the length that the trace says, blocks with one number have one text, cut or
// not, and everything else has another.
func TestBlocks(t *testing.T) {
	const rows = `{"input_length":1024,"hash_ids":[5,7]}
{"input_length":700,"hash_ids":[5,7]}
{"input_length":1500,"hash_ids":[9,5,7]}
{"input_length":40}
{"input_length":40}
`
	all, same, other := prompts(t, 1, rows), prompts(t, 1, rows), prompts(t, 2, rows)
	for i, want := range []int{1024, 700, 1500, 40, 40} {
		if len(all[i]) != want {
			t.Errorf("prompt %d has %d words, want %d", i, len(all[i]), want)
		}
	}
	text := func(words []string) string { return strings.Join(words, " ") }
	if text(all[0][:700]) != text(all[1]) || text(all[2][512:]) != text(all[0][:988]) {
		t.Error("blocks with one number have different texts")
	}
	if text(all[0][:512]) == text(all[0][512:]) || text(all[3]) == text(all[4]) {
		t.Error("blocks with different numbers, or rows without, have one text")
	}
	if fmt.Sprint(all) != fmt.Sprint(same) || text(all[0]) == text(other[0]) || text(all[3]) == text(other[3]) {
		t.Error("prompts do not follow from the seed")
	}
}

// TestRequestFiles: what a row of a file of requests becomes for an endpoint that takes text.
func TestRequestFiles(t *testing.T) {
	const talk = `[{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"},` +
		`{"from":"human","value":"c"},{"from":"gpt","value":"d"}]}]`
	for name, c := range map[string]struct{ format, history, text, want, wrong string }{
		"a conversation": {format.ShareGPT, "", talk, `prompt="a"`, ""},
		"its turns": {
			format.ShareGPT, format.Verbatim, talk, `prompt="a"` + "\n" + `messages=[{"role":"user","content":"a"},` +
				`{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`, "",
		},
		"a batch": {
			format.OpenAIBatch, "", `{"url":"/v1/chat/completions","body":{"model":"x","messages":[{}],"seed":1}}`,
			`messages=[{}] seed=1`, "",
		},
		"a batch for another endpoint": {
			format.OpenAIBatch, "", `{"url":"/v1/embeddings","body":{"input":"a"}}`, "", `is for /v1/embeddings, and the endpoint`,
		},
		"a trace with text":   {format.Mooncake, "", `{"text_input":"a","output_length":5}`, `text_input="a" output_tokens=5`, ""},
		"a trace with bodies": {format.Mooncake, "", `{"payload":{"a":1}}`, `body {"a":1}`, ""},
		"a picture":           {"jsonl", "", `{"text":"a","image":"p.png"}`, `text="a" image="data:image/png;base64,UA=="`, ""},
		"pictures": {
			"jsonl", "", `{"text":"a","image":["p.png","https://h/x.png"]}`,
			`text="a" image=["data:image/png;base64,UA==","https://h/x.png"]`, "",
		},
		"a sound":         {"jsonl", "", `{"text":"a","audio":"s.wav"}`, `text="a" audio="wav,Uw=="`, ""},
		"a sound as text": {"jsonl", "", `{"text":"a","audio":"mp3,AAAA"}`, `text="a" audio="mp3,AAAA"`, ""},
		"no picture":      {"jsonl", "", `{"text":"a","image":"s.wav"}`, "", `a.jsonl, line 1: image "s.wav" is no picture by its name`},
		"no file":         {"jsonl", "", "\n" + `{"text":"a","image":"n.png"}`, "", `a.jsonl, line 2: image: file`},
		"no sound":        {"jsonl", "", `{"text":"a","audio":"p.png"}`, "", `a.jsonl, line 1: audio "p.png" is no sound by its name`},
	} {
		d := files(t, "a.jsonl", c.text)
		d.Format, d.History = c.format, c.history
		for name, text := range map[string]string{"p.png": "P", "s.wav": "S"} {
			if err := os.WriteFile(filepath.Join(filepath.Dir(d.Files[0].Name), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		built, diags := Build(d, &scenario.Request{Data: d, Batch: 1, Target: &scenario.Target{Name: "main"}}, textTarget, 0)
		got := strings.Join(textOf(built.Requests), "\n")
		if got != c.want || diags.HasErrors() != (c.wrong != "") || !strings.Contains(summaries(diags), c.wrong) {
			t.Errorf("%s:\n got %s\nwant %s\n%v", name, got, c.want, diags)
		}
	}
}

// TestRequestFilesElsewhere: targets of other kinds refuse such files, or send their bodies as they are.
func TestRequestFilesElsewhere(t *testing.T) {
	const batch = `{"custom_id":"a","url":"/v1/embeddings","body":{"model":"x","input":"a"}}`
	for name, c := range map[string]struct{ format, text, body, tensors string }{
		"a batch":       {format.OpenAIBatch, batch, `{"model":"x","input":"a"}`, `no input "input"`},
		"a payload":     {format.Mooncake, `{"payload":{"a":1}}`, `{"a":1}`, `no input "payload"`},
		"a trace":       {format.Mooncake, `{"input_length":5}`, "", "has no data for"},
		"conversations": {format.ShareGPT, `[{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}]`, "", `no input "prompt"`},
	} {
		d := files(t, "a.jsonl", c.text)
		d.Format = c.format
		r := &scenario.Request{Data: d, Batch: 1, Target: &scenario.Target{Name: "main"}}
		built, diags := Build(d, r, backends.Signature{Model: "m", Bodies: true}, 0)
		switch {
		case c.body == "" && !diags.HasErrors(), c.body != "" && (diags.HasErrors() || string(built.Requests[0].Body) != c.body):
			t.Errorf("%s as a body: %v", name, diags)
		}
		if _, diags = Build(d, r, model(t, 0, "IN:BYTES[1]"), 0); !strings.Contains(summaries(diags), c.tensors) {
			t.Errorf("%s as tensors: %v", name, diags)
		}
	}
}

// TestLongTrace: the rows of a long trace are all there, in their order.
func TestLongTrace(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `{"timestamp":%d,"input_length":600,"output_length":5,"hash_ids":[%d,%d]}`+"\n", i*3, i%50, i)
	}
	d := files(t, "trace.jsonl", b.String())
	d.Format = format.Mooncake
	times, diags := Times(d, false)
	built, more := Build(d, &scenario.Request{Data: d, Batch: 1}, textTarget, 0)
	if len(diags)+len(more) > 0 || len(times) != 10_000 || len(built.Requests) != 10_000 || times[9_999] != 29_997e6 {
		t.Errorf("%d times, %d requests, %v %v", len(times), len(built.Requests), diags, more)
	}
}

// TestStrictTimes: with a share of the sessions, the times of a schedule are those of the requests.
func TestStrictTimes(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `{"session_id":"s%d","prompt":"row %d","timestamp":%d}`+"\n", i%10, i, i*7)
	}
	d := files(t, "trace.jsonl", b.String())
	d.Sample, d.Timing, d.History, d.TimeUnit = 0.3, "strict", format.Verbatim, time.Millisecond
	times, diags := Times(d, false)
	built, more := Build(d, &scenario.Request{Data: d, Batch: 1}, textTarget, 0)
	if len(diags)+len(more) > 0 || len(times) != 12 || len(built.Requests) != 12 {
		t.Fatalf("%d times, %d requests, %v %v", len(times), len(built.Requests), diags, more)
	}
	for i, at := range times {
		if want := fmt.Sprintf("row %d\"", at/7e6); !strings.Contains(string(built.Requests[i].Rows[0][0].Value), want) {
			t.Errorf("request %d, due at %d ns, is not %s", i, at, want)
		}
	}
	d.IdleCap, d.IdleCapPos = time.Second, source.Pos{File: "plan.yaml", Line: 1}
	if _, _, diags := Check(d, false); len(diags) != 1 {
		t.Errorf("idle_cap: %v", diags)
	}
}
