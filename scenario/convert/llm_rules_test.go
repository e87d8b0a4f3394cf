package convert_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert"
)

// Mistakes of command lines are errors that name the option; none of them becomes a plan.
func TestLLMMistakes(t *testing.T) {
	writeLLM(t)
	for line, want := range map[string]string{
		"genai-perf profile --endpoint-type chat":                                                                 "the model, -m NAME, is missing",
		"genai-perf profile -m m --endpoint-type chat --concurrency 3 --request-rate 9.0":                         "--concurrency does not go with --request-rate",
		"genai-perf profile -m m --endpoint-type chat --extra-inputs hi:":                                         "the name or the value is empty",
		"genai-perf profile -m m --endpoint-type chat --extra-inputs :a":                                          "the name or the value is empty",
		"genai-perf profile -m m --endpoint-type chat --extra-inputs :a:":                                         "the name or the value is empty",
		"genai-perf profile -m m --endpoint-type chat --extra-inputs a:b:c":                                       `"a:b:c" is not NAME:VALUE`,
		"genai-perf profile -m m --endpoint-type chat --extra-inputs test_key:5 test_key:6":                       "test_key is given already",
		"genai-perf profile -m m --endpoint-type chat --extra-inputs {a:":                                         "is no JSON object",
		"genai-perf profile -m m --endpoint-type chat --goodput time_to_first_token:-1":                           "--goodput must not be below 0",
		"genai-perf profile -m m --endpoint-type chat --goodput time_to_first_token":                              "--goodput wants METRIC:VALUE",
		"genai-perf profile -m m --endpoint-type chat --output-tokens-stddev 5":                                   "--output-tokens-stddev needs --output-tokens-mean",
		"genai-perf profile -m m --output-tokens-mean-deterministic":                                              "--output-tokens-mean-deterministic needs --output-tokens-mean",
		"genai-perf profile -m m --endpoint-type rankings --backend vllm":                                         "--backend does not go with rankings",
		"genai-perf profile -m m --endpoint-type embeddings --streaming":                                          "--streaming does not go with embeddings",
		"genai-perf profile -m m --endpoint-type chat --batch-size 4":                                             "--batch-size does not go with chat",
		"genai-perf profile -m m --endpoint-type chat --audio-sample-rates 0":                                     "--audio-sample-rates must be at least 0.001",
		"genai-perf profile -m m --endpoint-type chat --image-width-mean -5":                                      "--image-width-mean must not be below 0",
		"genai-perf profile -m m --endpoint-type chat --input-file payload:":                                      "payload: has no file after it",
		"genai-perf profile -m m --endpoint-type chat --profile-export-file a/b.json":                             "the folder is given with --artifact-dir",
		"genai-perf profile -m m --endpoint-type chat --fixed-schedule":                                           "--fixed-schedule needs --input-file payload:FILE",
		"genai-perf profile -m m --endpoint-type tensorrtllm_engine":                                              "requests of kind tensorrtllm_engine have no equal",
		"genai-perf profile -m m --endpoint-type chatt":                                                           `"chatt" is no value of --endpoint-type`,
		"genai-perf profile -m m --endpoint-type chat --conurrency 4":                                             "there is no option --conurrency",
		"genai-perf profile -m m --endpoint-type chat stray":                                                      `"stray" belongs to no option`,
		"genai-perf profile -m m --endpoint-type chat --concurrency 4 --measurement-interval 5 --request-count 6": "--measurement-interval does not go with --request-count",
		"genai-perf analyze -m m --endpoint-type chat --sweep-type concurrency --sweep-range 1:8:2":               "concurrency takes no step",
		"genai-perf analyze -m m --endpoint-type chat --sweep-range 8:1":                                          "with MIN below MAX",
		"genai-perf compare --files a.json b.json":                                                                "genai-perf compare measures nothing",
		"genai-perf config -f none.yaml":                                                                          `the file "none.yaml" cannot be read`,
		"genai-perf profile -m m --service-kind openai":                                                           "--service-kind needs --endpoint-type",
		"genai-perf profile --endpoint-type dynamic_grpc":                                                         "--endpoint-type needs --grpc-method",
		"aiperf profile --url h":                                                                              "the model, --model NAME, is missing",
		"aiperf profile -m m --seq-dist 256,128:60;512,256:30":                                                "the shares are 90 % in all",
		"aiperf profile -m m --seq-dist 0,128:100":                                                            "a length must be above 0",
		"aiperf profile -m m --seq-dist words":                                                                "has no pairs of lengths",
		"aiperf profile -m m --user-centric-rate 2":                                                           "--user-centric-rate needs --num-users",
		"aiperf profile -m m --request-cancellation-delay 2":                                                  "--request-cancellation-delay needs --request-cancellation-rate",
		"aiperf profile -m m --request-count 4 --num-sessions 5":                                              "--request-count does not go with --num-sessions",
		"aiperf profile -m m --endpoint-type video_generation":                                                "requests of kind video_generation have no equal",
		"aiperf profile -m m --input-file texts.jsonl --custom-dataset-type weka_trace":                       "data of kind weka_trace has no equal",
		"aiperf profile -m m --custom-dataset-type single_turn":                                               "--custom-dataset-type needs --input-file",
		"aiperf profile -m m --concurrency 4,x":                                                               `--concurrency wants a whole number, "x" is none`,
		"aiperf profile -m m --benchmark-duration 5 --benchmark-grace-period soon":                            "write seconds, or inf",
		"aiperf plot --paths a":                                                                               "aiperf plot measures nothing",
		"vllm bench serve --dataset-name random":                                                              "the model, --model NAME, is missing",
		"vllm bench serve --model m --backend tgi":                                                            "requests of kind tgi have no equal",
		"vllm bench serve --model m --request-rate fast":                                                      "it is a number above 0, or inf",
		"vllm bench serve --model m --dataset-name custom":                                                    "--dataset-name needs --dataset-path",
		"vllm bench serve --model m --dataset-name random --dataset-path x":                                   "--dataset-path does not go with random",
		"vllm bench serve --model m --ramp-up-strategy linear":                                                "--ramp-up-strategy needs --ramp-up-start-rps",
		"vllm bench serve --model m --ramp-up-strategy exponential --ramp-up-start-rps 0 --ramp-up-end-rps 5": "vLLM's ramps begin above 0",
		"vllm bench serve --model m --ramp-up-strategy linear --ramp-up-start-rps 9 --ramp-up-end-rps 5":      "not below the start",
		"vllm bench serve --model m --header x":                                                               `wants a "=" between a header's name and its value`,
		"vllm bench throughput --model m":                                                                     "vllm bench throughput sends nothing to a server",
	} {
		tool := "genai-perf"
		switch {
		case strings.HasPrefix(line, "aiperf"):
			tool = "aiperf"
		case strings.HasPrefix(line, "vllm"):
			tool = "vllm-bench"
		}
		for _, candidate := range convert.Tools() {
			if candidate.Name != tool {
				continue
			}
			out, diags := candidate.Convert(convert.Options{Args: strings.Fields(line)})
			if text := diags.Error(); out.Plan != "" || !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %q\n%s", line, want, text, out.Plan)
			}
		}
	}
}

// Prompts that a plan writes differ anyway, and rows of a file never do.
func TestCacheBust(t *testing.T) {
	writeLLM(t)
	for line, want := range map[string]string{
		"--cache-bust first_turn_prefix":                              "# Not needed: --cache-bust: written prompts differ",
		"--input-file texts.jsonl --cache-bust first_turn_prefix":     "# No equal: --cache-bust: rows of a file are sent as they are",
		"--input-file texts.jsonl --cache-bust none":                  "# Not needed: --cache-bust: rows of a file",
		"--input-file texts.jsonl --cache-bust system_suffix --osl 5": "# No equal: --cache-bust: ",
	} {
		out, diags := convert.AIPerf(convert.Options{Args: strings.Fields("profile --model m --endpoint-type chat " + line)})
		if diags.HasErrors() || !strings.Contains(out.Plan, want) {
			t.Errorf("%s: %q is not in\n%s%v", line, want, out.Plan, diags)
		}
	}
}

// The lines of a file of settings are where messages point to, and options of the command line go before them.
func TestLLMSettings(t *testing.T) {
	writeLLM(t)
	out, diags := convert.GenAIPerf(convert.Options{Args: strings.Fields("config -f genai_perf_config.yaml --concurrency 9")})
	if diags.HasErrors() || !strings.Contains(out.Plan, "concurrency: 9 ") {
		t.Errorf("%v\n%s", diags, out.Plan)
	}
	write(t)
	writeFile(t, "wrong.yaml", "schemaVersion: \"2.0\"\nbenchmark:\n  model: m\n  phases: {type: poisson, rate: fast}\n")
	_, diags = convert.AIPerf(convert.Options{Args: []string{"wrong.yaml"}})
	if text := diags.Error(); !strings.Contains(text, `wrong.yaml:4:`) || !strings.Contains(text, `"fast" is none`) {
		t.Error(text)
	}
	writeFile(t, "computed.yaml", "benchmark:\n  model: m\n  phases: {type: concurrency, concurrency: \"{{ a * 2 }}\"}\n")
	_, diags = convert.AIPerf(convert.Options{Args: []string{"computed.yaml"}})
	if text := diags.Error(); !strings.Contains(text, "computed.yaml:3:") || !strings.Contains(text, "expressions in {{ }}") {
		t.Error(text)
	}
}

// FuzzLLM converts any line and any file of settings without a panic.
func FuzzLLM(f *testing.F) {
	f.Add("genai-perf profile -m m --concurrency 1 --extra-inputs {\"a\":{\"b\":[1]}}", "endpoint: {type: chat}")
	f.Add("aiperf profile -m m --seq-dist [(1,2):100] --goodput a:b", "benchmark: {models: [a], phases: [{type: gamma}]}")
	f.Add("vllm bench serve --model m --random-mm-bucket-config {(1,2,1):1} -- -H", "model: [a, {b: c}]\nsweep: 3\nphases: [1]")
	file := filepath.Join(f.TempDir(), "s.yaml")
	f.Fuzz(func(t *testing.T, line, settings string) {
		if len(line)+len(settings) > 4000 {
			return
		}
		writeFile(t, file, settings)
		for _, tool := range llmTools() {
			_, _ = tool.Convert(convert.Options{Args: strings.Fields(line)})
			_, _ = tool.Convert(convert.Options{Args: []string{"--config", file}})
		}
	})
}
