package artifact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/artifact/llm"
	"github.com/sluice-bench/sluice/executor/result"
)

// chat returns a sample with answers at some times, in ms after its sending at ms.
func chat(at int64, input, output int64, events ...int64) backends.Sample {
	const ms = 1e6
	x := backends.Sample{Due: at * ms, SendStart: at*ms + ms/2, Status: 200, ID: uint64(at)}
	x.InputTokens, x.OutputTokens = backends.CountOf(input), backends.CountOf(output)
	x.Events = make([]backends.Event, 0, 8)
	for _, e := range events {
		x.AddToken(x.SendStart+e*ms, backends.EventAnswer, 0)
		x.LastByte = x.SendStart + (e+1)*ms
	}
	return x
}

// TestLLMFiles: requests of the hold alone are in the numbers of all files; a warm-up, an earlier attempt, failures and
// requests that this side closed are not. Every file is read back.
func TestLLMFiles(t *testing.T) {
	dir := t.TempDir()
	origin := time.Unix(1_700_000_000, 0)
	s := NewSamples(dir, SamplesOptions{LLM: true, Mask: func(s string) string {
		return strings.ReplaceAll(s, "secret", "***")
	}})
	body := func(uint16, uint32) []backends.Tensor {
		return []backends.Tensor{backends.TensorOf("payload", tensor.TextArray([]byte(`{"model": "m", "user": "secret"}`)))}
	}
	write := func(node string, number int, samples ...backends.Sample) {
		k := s.Trial(Trial{Node: node, Number: number, Closed: true, Value: 2, Started: origin, Sent: body})
		for i := range samples {
			if err := k.Write(&samples[i]); err != nil {
				t.Fatal(err)
			}
			if _, used := samples[i].OutputTokens.Get(); !used {
				k.Counted(samples[i].ID, 5) // of the text, by a tokenizer
			}
		}
		if err := k.Close(nil); err != nil {
			t.Fatal(err)
		}
	}
	warm := chat(90, 1, 1, 1)
	warm.Flags = backends.Warmup
	failed := chat(130, 8, 0)
	failed.Class, failed.Status, failed.Note, failed.LastByte = backends.Status, 503, []byte("secret\nbusy"), 131e6
	stopped := chat(140, 8, 0)
	stopped.Class, stopped.Flags = backends.Stopped, backends.Incomplete
	write("s[a=1]", 0, chat(20, 50, 50, 500, 501)) // an attempt that does not count
	write("s[a=1]", 1, warm, chat(100, 10, 3, 10, 12, 16), chat(110, 12, -1, 20, 24), failed, stopped)
	write("s[a=2]", 0, chat(300, 7, 2, 30, 31))
	s.Close()
	node := func(id string, from, length float64) *result.Node {
		return &result.Node{
			ID: id, Outcome: result.Done, Started: from, Duration: length, Target: "main",
			Load: result.Load{Kind: "concurrency", Value: 2, Model: "m"},
		}
	}
	r := &result.Result{
		Schema: result.Schema, Tool: result.Tool{Version: "1.2.3"}, Started: origin,
		Nodes: []*result.Node{
			node("s[a=1]", 0.1, 0.1), {ID: "none", Outcome: result.SkippedNode}, node("s[a=2]", 0.3, 0.1),
		},
	}
	o := Options{Formats: LLMFormats(), Samples: s}
	paths, err := (&Folder{dir: dir, o: o, own: map[string]bool{}}).Write(r, o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	want := "result.json inputs.json profile_export.jsonl profile_export_aiperf.json profile_export_genai_perf.csv " +
		"profile_export_genai_perf.json s-a2.profile_export.jsonl s-a2.profile_export_aiperf.json " +
		"s-a2.profile_export_genai_perf.csv s-a2.profile_export_genai_perf.json s-a2.vllm_bench.json vllm_bench.json"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, name := range names {
		if !isOutputName(name) {
			t.Errorf("%s is none of a run", name)
		}
	}
	for file, requests := range map[string]int{
		"": 2, llm.RecordsName: 2, llm.AIPerfName: 2, llm.VLLMName: 2, llm.GenAIPerfName: 0,
	} {
		runs, err := llm.Read(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		got := runs[0]
		if len(got.Requests) != requests || got.Failed != 1 && file != llm.GenAIPerfName || got.Model != "m" {
			t.Errorf("%s: %d requests, %d failed, model %q", file, len(got.Requests), got.Failed, got.Model)
		}
		stats := map[string]float64{}
		for _, tag := range []string{llm.TTFT, llm.Latency, llm.ITL, llm.ISL, llm.OSL, llm.RequestCount, llm.OutputRate} {
			stats[tag], _ = got.Stat(tag, "avg")
		}
		if diff := cmp.Diff(map[string]float64{
			llm.TTFT: 15, llm.Latency: 20, llm.ITL: 2, llm.ISL: 11, llm.OSL: 4, llm.RequestCount: 2,
			llm.OutputRate: 8 / 0.034,
		}, stats, about()); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
	checkPrivate(t, dir, r)
}

// about compares numbers to a millionth.
func about() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return a == b || (a-b)/b < 1e-6 && (b-a)/b < 1e-6 })
}

// checkPrivate looks at what files say of texts of servers and of data.
func checkPrivate(t *testing.T, dir string, r *result.Result) {
	t.Helper()
	inputs, err := os.ReadFile(filepath.Join(dir, llm.InputsName))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Data []struct{ Payload []map[string]string }
	}
	if err := json.Unmarshal(inputs, &doc); err != nil || len(doc.Data) != 1 || doc.Data[0].Payload[0]["user"] != "***" {
		t.Errorf("%v: %s", err, inputs)
	}
	records, err := os.ReadFile(filepath.Join(dir, llm.RecordsName))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(records); strings.Count(text, "\n") != 5 || !strings.Contains(text, `"message":"*** busy"`) ||
		!strings.Contains(text, `"was_cancelled":true`) {
		t.Errorf("%s", text)
	}
	for _, name := range []string{llm.InputsName, llm.RecordsName, llm.VLLMName} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != private {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
	if len(r.Files) != 12 {
		t.Errorf("%q", r.Files)
	}
}
