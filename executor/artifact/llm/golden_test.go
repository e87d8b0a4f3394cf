package llm

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// one reads a file or folder of testdata that has one run.
func one(t *testing.T, path string) *Run {
	t.Helper()
	runs, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 1 {
		t.Fatalf("%s: %d runs", path, len(runs))
	}
	return runs[0]
}

// sameStats compares the statistics of a metric, ms to 1 ns and others to 1e-9 of them.
func sameStats(t *testing.T, tag string, got, want Stats) {
	t.Helper()
	if got.Unit != want.Unit {
		t.Errorf("%s: unit %q, want %q", tag, got.Unit, want.Unit)
	}
	for name, w := range want.Values {
		g, ok := got.Values[name]
		near := 1e-6
		switch {
		case strings.HasSuffix(tag, PerUser):
			near = 1e-5 * w // GenAI-Perf rounds the time between tokens to ns first
		case want.Unit == "sec":
			near = 1e-7 // from two clocks
		case want.Unit != "ms":
			near = 1e-9 * math.Abs(w)
		}
		if !ok || math.Abs(g-w) > near {
			t.Errorf("%s.%s = %v, want %v", tag, name, g, w)
		}
	}
}

// TestAIPerfRecords: what AIPerf made of its records is what its records say here, without the warm-up.
func TestAIPerfRecords(t *testing.T) {
	f, err := os.Open("testdata/aiperf/profile_export.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := readAIPerfRecords(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Requests) != 6 || got.Warmup != 1 || got.Failed != 0 || !got.Streaming {
		t.Errorf("%d requests, %d of a warm-up, %d failed", len(got.Requests), got.Warmup, got.Failed)
	}
	data, err := os.ReadFile("testdata/aiperf/profile_export_aiperf.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	want := readAIPerf(doc)
	// Its rates divide by the time of the phase, which is not in the records, and not by its own duration.
	for _, tag := range []string{TTFT, TTST, Latency, ITL, OSL, ISL, Gap, duration} {
		sameStats(t, tag, got.Stats[tag], want.Stats[tag])
	}
	if want.Tool != "AIPerf" || want.Version != "0.13.0" || want.Model != "tiny" || !want.Closed || want.Level != 2 {
		t.Errorf("%+v", want)
	}
}

// TestAIPerfFolder: records and aggregate are one run, whichever is named; one whose text came in one read says so.
func TestAIPerfFolder(t *testing.T) {
	for _, path := range []string{"", "profile_export.jsonl", "profile_export_aiperf.json"} {
		r := one(t, filepath.Join("testdata/aiperf", path))
		if r.Version != "0.13.0" || len(r.Requests) != 6 || r.Warmup != 1 || r.Stats[Latency].Values["p99"] != 59.1245977 {
			t.Errorf("%q: version %q, %d requests, %v", path, r.Version, len(r.Requests), r.Stats[Latency])
		}
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "6 answers came in one read") {
			t.Errorf("%q: %s", path, notes)
		}
	}
}

// TestFirstAIPerf: records and aggregates of the first editions had other names.
func TestFirstAIPerf(t *testing.T) {
	r, err := readAIPerfRecords(strings.NewReader(
		`{"metadata":{"timestamp_ns":1000,"credit_phase":"warmup"},"metrics":{"ttft":{"value":1,"unit":"ms"}}}
{"metadata":{"timestamp_ns":5000,"credit_phase":"profiling"},"metrics":{"ttft":{"value":3.5,"unit":"ms"},`+
			`"request_latency":{"value":9.5,"unit":"ms"},"output_sequence_length":{"value":4,"unit":"tokens"},`+
			`"inter_chunk_latency":{"value":[2,4],"unit":"ms"}}}
{"metadata":{"timestamp_ns":6000,"credit_phase":"profiling"},"metrics":{},"error":{"code":503,"type":"HTTP","message":"busy"}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := NewRequest()
	want.Sent, want.First, want.Latency, want.Output, want.Gaps = 5000, 3_500_000, 9_500_000, 4, []int64{2e6, 4e6}
	if diff := cmp.Diff([]Request{want}, r.Requests); diff != "" {
		t.Error(diff)
	}
	if v, _ := r.Stat(ITL, "avg"); v != 2 || r.Failed != 1 || r.Warmup != 1 {
		t.Errorf("ITL %v, %d failed, %d of the warm-up", v, r.Failed, r.Warmup)
	}
	if diff := cmp.Diff([]Failure{{"HTTP", 503, "busy", 1}}, r.Failures); diff != "" {
		t.Error(diff)
	}
	old := readAIPerf(map[string]json.RawMessage{
		"records": json.RawMessage(`{"ttft":{"unit":"ms","avg":4,"p99":5},"count":3}`),
	})
	if v, ok := old.Stat(TTFT, "p99"); !ok || v != 5 {
		t.Errorf("%v", old.Stats)
	}
}

// TestGenAIPerf: what GenAI-Perf made of perf_analyzer's raw file is what is read from that file here. Lengths of inputs
// need its tokenizer.
func TestGenAIPerf(t *testing.T) {
	for folder, tags := range map[string][]string{
		"genai-perf": {TTFT, TTST, Latency, ITL, PerUser, OSL, RequestRate, OutputRate},
		"embeddings": {Latency, RequestRate},
	} {
		raw := one(t, filepath.Join("testdata", folder, "profile_export.json"))
		want := one(t, filepath.Join("testdata", folder))
		for _, tag := range tags {
			sameStats(t, folder+" "+tag, raw.Stats[tag], want.Stats[tag])
		}
		for _, q := range want.Requests {
			if length, ok := want.Stat(ISL, "avg"); ok && q.Input != int64(length) {
				t.Errorf("%s: input of %d tokens", folder, q.Input)
			}
		}
		if want.Tool != "GenAI-Perf" || want.Model != "tiny" || !want.Closed || len(want.Requests) == 0 {
			t.Errorf("%s: %+v", folder, want)
		}
	}
}

// TestGenAIPerfFiles: GenAI-Perf's statistics written again are its files: the CSV byte for byte, the JSON but for the
// configuration.
func TestGenAIPerfFiles(t *testing.T) {
	for _, folder := range []string{"genai-perf", "embeddings"} {
		r := one(t, filepath.Join("testdata", folder, "profile_export_genai_perf.json"))
		got, err := GenAIPerfCSV(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("testdata", folder, "profile_export_genai_perf.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: %s", folder, diff)
		}
		got, err = GenAIPerfJSON(r)
		if err != nil {
			t.Fatal(err)
		}
		if want, err = os.ReadFile(filepath.Join("testdata", folder, "profile_export_genai_perf.json")); err != nil {
			t.Fatal(err)
		}
		before, _, _ := bytes.Cut(want, []byte(`"input_config"`))
		written, _, _ := bytes.Cut(got, []byte(`"input_config"`))
		if diff := cmp.Diff(string(before), string(written)); diff != "" {
			t.Errorf("%s: %s", folder, diff)
		}
	}
}

// TestVLLM: the statistics of vLLM's bench are those of its lists: its TPOT is ITL here, its ITL the gap between chunks.
func TestVLLM(t *testing.T) {
	const file = "testdata/vllm/vllm_bench.json"
	r := one(t, file)
	if len(r.Requests) != 8 || r.Failed != 1 || !r.Closed || r.Level != 2 || r.Model != "tiny" || r.Endpoint != "chat" {
		t.Errorf("%+v", r)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors"} {
		delete(doc, name) // as without --save-detailed
	}
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(t.TempDir(), "8qps-concurrency2-tiny.json")
	if err := os.WriteFile(short, data, 0o600); err != nil {
		t.Fatal(err)
	}
	want := one(t, short)
	for _, tag := range []string{TTFT, ITL, Latency} {
		sameStats(t, tag, r.Stats[tag], want.Stats[tag])
	}
	gaps := want.Stats[Gap]
	delete(gaps.Values, "p50") // nearest rank of 31 gaps, and between two of them
	delete(gaps.Values, "p99")
	sameStats(t, Gap, r.Stats[Gap], gaps)
	if v, _ := want.Stat(RequestRate, "avg"); v != 16 {
		t.Errorf("%v requests/s", v)
	}
	if !strings.Contains(strings.Join(r.Notes, " "), "first chunk, even one without text") {
		t.Errorf("%q", r.Notes)
	}
}
