package llm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWhatCannotBeRead: each mistake says what it is and in which file.
func TestWhatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a.json":  {`{"a": 1}`, "it is no result of"},
		"b.json":  {`[1]`, "it is no JSON object"},
		"c.jsonl": {"{\"metadata\":{}}\n{", "line 2: "},
		"d.jsonl": {`{"node":"s"}`, "line 1 is no record of AIPerf"},
		"e.json":  {`{"experiments":[]}`, "it has no experiments"},
		"f.json":  {`{"model_id":"m","ttfts":[1],"itls":[]}`, "elements, ttfts 1"},
		"g.json":  {`{"schema":"sluice/result/v9"}`, "schema is"},
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for path, want := range map[string]string{
		t.TempDir():           "the folder has none of",
		"testdata/none.json":  "no such file",
		"testdata/aiperf#s":   `there is no node "s"`,
		"testdata/vllm/a#b#c": "no such file",
	} {
		if _, err := ReadAll([]string{path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestNames: runs are told apart by their folders where their files do not name them.
func TestNames(t *testing.T) {
	runs, err := ReadAll([]string{"testdata/genai-perf", "testdata/genai-perf/profile_export.json", "testdata/vllm"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range runs {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, ", "); got != "genai-perf, genai-perf (2), vllm" {
		t.Error(got)
	}
}

// TestReads: a read of perf_analyzer may hold several events, or a part without content; the client's own time between
// two reads is the only one there is.
func TestReads(t *testing.T) {
	p := profileReply{stream: true}
	event := func(delta string) string { return `data: {"choices":[{"delta":` + delta + `}]}` + "\n\n" }
	p.add(3, event(`{"role":"assistant","content":null}`))
	p.add(5, event(`{"role":"assistant","content":""}`)+event(`{"content":"I"}`))
	p.add(8, ": ping\n\n"+event(`{"reasoning_content":"so"}`))
	p.add(12, event(`{"tool_calls":[{"index":0}]}`)+event(`{"content":" dogs"}`))
	p.add(13, `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":9}}`+"\n\n")
	p.add(14, "data: [DONE]\n\n")
	q := NewRequest()
	p.enter(&q)
	if q.First != 5 || q.Latency != 12 || q.End != 14 || q.Input != 7 || q.Output != 9 || len(q.Gaps) != 3 {
		t.Errorf("%+v", q)
	}
	none := profileReply{stream: true}
	none.add(3, "data: [DONE]\n\n")
	q = NewRequest()
	if none.enter(&q); q.Class == "" {
		t.Error("a reply without content is no failure")
	}
}

func FuzzFiles(f *testing.F) {
	for _, file := range []string{
		"testdata/aiperf/profile_export_aiperf.json", "testdata/genai-perf/profile_export.json",
		"testdata/genai-perf/profile_export_genai_perf.json", "testdata/vllm/vllm_bench.json",
		"testdata/aiperf/profile_export.jsonl",
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"model_id":"","ttfts":[-1e308,1e308],"itls":[[1e300],null],"input_lens":[-5,1e99],"output_lens":[1,2]}`))
	f.Add([]byte(`{"experiments":[{"requests":[{"response_timestamps":[-9223372036854775808,9223372036854775807],` +
		`"response_outputs":[{"response":"data: {}"}]}]}]}`))
	f.Add([]byte(`{"node":"s","class":"ok","due":1e300,"send_start":-1e300,"response_times":[1e308,-5],"input_tokens":-9}`))
	f.Add([]byte(`{"metadata":{},"metrics":{"ttft":{"value":1e300,"unit":"s"},"inter_chunk_latency":{"value":[-1,1e40]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var runs []*Run
		if r, err := readAIPerfRecords(strings.NewReader(string(data)), nil); err == nil {
			runs = append(runs, r)
		}
		if list, err := readProfile(data); err == nil {
			runs = append(runs, list...)
		}
		var samples Tally
		_ = eachLine(strings.NewReader(string(data)), func(_ int, line []byte) error {
			var x sampleLine
			if json.Unmarshal(line, &x) == nil {
				q := x.request(1)
				samples.Add(&q)
			}
			return nil
		})
		r := &Run{}
		samples.Sum(r)
		runs = append(runs, r)
		var doc map[string]json.RawMessage
		if json.Unmarshal(data, &doc) == nil && doc != nil {
			if r, err := readVLLM(data, doc); err == nil {
				runs = append(runs, r)
			}
			runs = append(runs, readGenAIPerf(doc), readAIPerf(doc))
		}
		for _, p := range Plots(len(runs)) {
			if svg := string(p.SVG(runs)); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s: %s", p.Title, svg)
			}
		}
		_ = Table(runs)
		for _, r := range runs {
			if text, err := GenAIPerfJSON(r); err != nil || !json.Valid(text) {
				t.Errorf("%v: %s", err, text)
			}
			if text, err := AIPerfJSON(r); err != nil || !json.Valid(text) {
				t.Errorf("%v: %s", err, text)
			}
		}
	})
}

// TestAppended: a file to which vLLM's bench has added is a run for each object; another tool's objects, and what is no
// regular file, are refused.
func TestAppended(t *testing.T) {
	dir := t.TempDir()
	one := `{"model_id": "m", "completed": 3, "duration": 1.5, "request_goodput:": 1.25}`
	for name, c := range map[string]struct {
		text string
		want int
	}{"a.json": {one + "\n" + one, 2}, "b.jsonl": {one + one + "\n", 2}, "c.json": {one + `{"records": {}}`, 0}, "d.json": {one + "}", 0}} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		runs, err := ReadAll([]string{file})
		if len(runs) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s: %d runs, %v", name, len(runs), err)
			continue
		}
		for i, r := range runs {
			if v, _ := r.Stat(GoodputRate, "avg"); v != 1.25 || !strings.HasSuffix(r.Path, []string{"#1", "#2"}[i]) {
				t.Errorf("%s: goodput %g, path %s", name, v, r.Path)
			}
		}
	}
	pipe := filepath.Join(dir, RecordsName)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "a named pipe") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
