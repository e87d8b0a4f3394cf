package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/scenario/convert"
)

// llmFiles are what the command lines of testdata/llm_lines.txt name.
var llmFiles = map[string]string{
	"openorca_10.jsonl":             `{"text_input": "What is a sluice?"}` + "\n" + `{"text_input": "And a weir?"}` + "\n",
	"texts.jsonl":                   `{"text": "What is a sluice?"}` + "\n" + `{"text": "And a weir?"}` + "\n",
	"prompts.jsonl":                 `{"prompt": "What is a sluice?"}` + "\n",
	"rankings_jsonl/queries.jsonl":  `{"text": "What is a sluice?"}` + "\n" + `{"text": "And a ${weir}?"}` + "\n",
	"rankings_jsonl/passages.jsonl": `{"text": "A gate."}` + "\n" + `{"text": "A dam."}` + "\n",
	"trace.jsonl":                   `{"timestamp": 0, "input_length": 20, "output_length": 5, "hash_ids": [1]}` + "\n" + `{"timestamp": 40, "input_length": 30, "output_length": 5, "hash_ids": [1]}` + "\n",
	"sharegpt.json":                 `[{"id": "a", "conversations": [{"from": "human", "value": "Hello there"}, {"from": "gpt", "value": "Hello"}]}]`,
	"tok/tokenizer.json":            `{"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}`,
	"genai_perf_config.yaml":        genaiSettings,
	"benchmark.yaml":                aiperfSettings,
	"minimal.yaml":                  "schemaVersion: \"2.0\"\nbenchmark:\n  model: Qwen/Qwen3-0.6B\n  endpoint: {url: \"http://localhost:8000\"}\n  dataset: {type: synthetic, entries: 100, prompts: {isl: 512, osl: 128}}\n  phases: {type: concurrency, concurrency: 8, requests: 100}\n",
}

// genaiSettings is what `genai-perf create-template` writes, with some values.
const genaiSettings = `
model_name: gpt2
endpoint: {type: kserve, backend: vllm, streaming: true, url: "localhost:8001", service_kind: triton, custom: ""}
perf_analyzer:
  verbose: false
  stimulus: {concurrency: 2}
  stability_percentage: 999
  measurement: {mode: interval, num: 5000}
input:
  num_dataset_entries: 50
  random_seed: 7
  synthetic_tokens: {mean: 120, stddev: 10}
  output_tokens: {mean: 60, deterministic: true, stddev: 0}
  goodput: {time_to_first_token: 300}
  extra: temperature:0.5
output: {artifact_directory: ./out, profile_export_file: p.json}
tokenizer: {name: gpt2, revision: main}
`

// aiperfSettings has the forms of AIPerf's files: a sweep, phases, a distribution, a variable of the
// environment with a default.
const aiperfSettings = `
schemaVersion: "2.0"
randomSeed: 42
multi_run: {num_runs: 3, cooldown_seconds: 15.0}
benchmark:
  models: [meta-llama/Llama-3.1-8B-Instruct]
  endpoint: {url: "${INFERENCE_URL:http://localhost:8000/v1/chat/completions}", type: chat, streaming: true, timeout: 600.0}
  datasets:
    - {name: main, type: synthetic, entries: 500, prompts: {isl: {mean: 512, stddev: 51}, osl: 128}, turns: {mean: 2}}
  phases:
    - {name: warmup, type: concurrency, concurrency: 8, requests: 50, exclude_from_results: true}
    - {name: profiling, type: poisson, rate: 30.0, duration: 2m, concurrency: 64, grace_period: 60, cancelation: {rate: 1}}
    - {name: recovery, kind: profiling, type: concurrency, duration: 30m}
  artifacts: {dir: ./artifacts/my-test}
sweep:
  type: grid
  parameters: {rate: [10.0, 30.0], datasets.main.prompts.isl: [128, 512]}
`

// writeLLM writes the files to the folder of the test.
func writeLLM(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("HF_HUB_CACHE", filepath.Join(t.TempDir(), "none"))
	for name, text := range llmFiles {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Every command line becomes a plan that validate accepts, with the text that testdata/llm_plans.txt holds.
func TestLLMLines(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "llm_lines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	golden, _ := filepath.Abs(filepath.Join("testdata", "llm_plans.txt"))
	want, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	tools := map[string]convert.Tool{}
	for _, tool := range convert.Tools() {
		tools[tool.Name] = tool
	}
	writeLLM(t)
	var got strings.Builder
	n := 0
	for l := range strings.Lines(string(data)) {
		if strings.HasPrefix(l, "#") || strings.TrimSpace(l) == "" {
			continue
		}
		n++
		words := strings.Fields(l)
		_, text, _ := strings.Cut(strings.TrimSpace(l[len(words[0]):]), words[2]+" ")
		t.Run(words[0], func(t *testing.T) {
			fmt.Fprintf(&got, "=== %s\n%s", words[0], planBy(t, tools[words[1]], strings.TrimSpace(text)))
		})
	}
	if n < 60 {
		t.Errorf("%d command lines, want 60 or more", n)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("testdata/llm_plans.txt (-want +got):\n%s", diff)
	}
}

// planBy converts a command line by a tool and compiles its plan; the warnings of the conversion come first.
func planBy(t *testing.T, tool convert.Tool, text string) string {
	t.Helper()
	args, err := convert.Split(text)
	if err != nil {
		t.Fatal(err)
	}
	out, diags := tool.Convert(convert.Options{Args: args})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	valid(t, out.Plan, out.Secrets...)
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s: %s\n", d.Severity, d.Summary)
	}
	return b.String() + out.Plan
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
