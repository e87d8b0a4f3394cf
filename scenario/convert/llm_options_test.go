package convert_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/scenario/convert"
)

// llmTools are the tools whose plans have prompts.
func llmTools() []convert.Tool {
	return slices.DeleteFunc(convert.Tools(), func(t convert.Tool) bool { return t.Name == "perf-analyzer" })
}

// kinds are values of options whose words the usage text does not list.
var kinds = map[string]string{
	"--endpoint-type": "chat", "--backend": "vllm", "--custom-dataset-type": "mooncake_trace",
}

// valueFor returns a value of an option by the name of its value in the usage text.
func valueFor(option, value string) string {
	first, _, _ := strings.Cut(value, "|")
	switch first = strings.TrimSuffix(first, "..."); {
	case kinds[option] != "":
		return kinds[option]
	case value == "" || value[0] == '[':
		return ""
	case slices.Contains([]string{"PATH", "FILE", "DIR"}, first):
		return "texts.jsonl"
	case regexp.MustCompile(`^(MS|S|N|R|P|V|B|K|KHZ|BITS|PERCENT|RATIO)([\[,|.]|$)`).MatchString(first + "."):
		return "1"
	case first == "NAME" || first == "KIND" || first == "WORD" || first == "MODE" || first == "METRIC":
		return "x"
	}
	for name, text := range map[string]string{
		"NAME:VALUE": "a:1", "METRIC:VALUE": "ttft:5", "NAME=VALUE": "a=1", "URL": "http://h:1/metrics",
		"PACKAGE": "a.B/C", "MIN:MAX": "1:4", "PAIRS": "128,64:100", "JSON": `{"a": 1}`, "BUCKETS": "{(256, 256, 1): 1}",
	} {
		if strings.HasPrefix(first, name) {
			return text
		}
	}
	if strings.ToLower(first) == first { // one of some words
		return first
	}
	return "x"
}

// listed is an option of the usage text.
type listed struct {
	names []string
	value string
}

// optionsOf returns the options that a tool's usage lists.
func optionsOf(tool convert.Tool) (all []listed) {
	row := regexp.MustCompile(`(?m)^  (-.*?)  `)
	for _, r := range row.FindAllStringSubmatch(tool.Usage(), -1) {
		var o listed
		for word := range strings.FieldsSeq(r[1]) {
			if word = strings.TrimSuffix(word, ","); strings.HasPrefix(word, "-") {
				o.names = append(o.names, word)
			} else {
				o.value = word
			}
		}
		all = append(all, o)
	}
	return all
}

// besides are command lines of each tool that an option may be in.
var besides = map[string][]string{
	"perf-analyzer": {"-m m", "-m m -i grpc", "-m m -i grpc --streaming", "-m m --request-rate-range 4", "-m m --service-kind openai --endpoint v1/chat/completions --input-data texts.jsonl --async", "-m m --service-kind triton_c_api --model-repository .", "-m m --service-kind tfserving -i grpc", "-m m --service-kind torchserve --input-data texts.jsonl", "--service-kind dynamic_grpc --grpc-method a.B/C --input-data texts.jsonl", "-m m --collect-metrics", "-m m --request-intervals texts.jsonl", "-m m -i grpc --streaming --periodic-concurrency-range 1:4 --profile-export-file x.json", "-m m --request-count 5", "-m m --input-data texts.jsonl", "-m m -u https://h"},
	"genai-perf": {
		"-m m --endpoint-type chat", "-m m", "-m m --endpoint-type chat --output-tokens-mean 5", "-m m --endpoint-type embeddings",
		"-m m --service-kind openai --endpoint-type chat", "-m m --endpoint-type chat --num-sessions 3", "-m m --endpoint-type chat --num-sessions 3 --session-turns-mean 3",
		"-m m --endpoint-type chat --image-width-mean 8 --image-height-mean 8", "-m m --endpoint-type chat --input-file payload:trace.jsonl",
		"-m m --endpoint-type chat --audio-length-mean 1", "-m m --endpoint-type chat --sweep-list 1,2", "-m m --endpoint-type chat --input-file texts.jsonl", "-m m --endpoint-type chat --request-rate 4", "--endpoint-type dynamic_grpc --grpc-method a.B/C --input-file texts.jsonl", "-m m --endpoint-type chat --input-file payload:trace.jsonl --fixed-schedule", "-m m a --endpoint-type chat",
		"-m m --endpoint-type rankings --input-file rankings_jsonl/",
	},
	"aiperf": {
		"-m m", "-m m --request-rate 4", "-m m --input-file texts.jsonl", "-m m --user-centric-rate 1 --num-users 2",
		"-m m --request-cancellation-rate 5", "-m m --benchmark-duration 5", "-m m --image-width-mean 8 --image-height-mean 8",
		"-m m --audio-length-mean 1", "-m m --input-file trace.jsonl", "-m m --endpoint-type embeddings", "-m m --num-sessions 4 --session-turns-mean 3", "-m m --sequence-distribution 128,64:100", "-m m --reset-kv-cache --server-profiler", "-m m --input-file trace.jsonl --fixed-schedule", "-m m a",
	},
	"vllm-bench": {
		"--model m", "--model m --dataset-path sharegpt.json", "--model m --request-rate 4",
		"--model m --ramp-up-start-rps 1 --ramp-up-end-rps 2 --ramp-up-strategy linear", "--model m --dataset-name random-mm",
		"--model m --dataset-name custom --dataset-path prompts.jsonl", "--model m --save-result", "--model m --dataset-name prefix_repetition", "--model m --dataset-name sonnet", "--model m --dataset-name hf --dataset-path x", "--model m --dataset-name timed_trace --dataset-path trace.jsonl", "--model m --backend openai-embeddings",
		"--model m --dataset-name sharegpt --dataset-path sharegpt.json", "--model m --lora-modules a b",
	},
}

// TestEveryOptionHasAReason: an option that is no line of the plan is named with a reason of its own, whatever it has
// as a value and whatever is beside it.
func TestEveryOptionHasAReason(t *testing.T) {
	writeLLM(t)
	for _, tool := range convert.Tools() {
		setKinds(tool)
		for _, o := range cases.Some(optionsOf(tool), 3) {
			values := []string{valueFor(o.names[0], o.value), "0"}
			switch words := strings.Split(o.value, "|"); {
			case o.value == "":
				values = []string{""}
			case len(words) > 1:
				values = []string{words[0], words[len(words)-1]}
			}
			for _, others := range besides[tool.Name] {
				for _, v := range values {
					line := strings.TrimSpace(others + " " + o.names[0] + " " + v)
					out, _ := tool.Convert(convert.Options{Args: strings.Fields(line)})
					if strings.Contains(out.Plan, "it is no line of this plan") {
						t.Errorf("%s %s: no reason\n%s", tool.Name, line, out.Plan)
					}
				}
			}
		}
	}
}

// setKinds sets the values of options with the same name in several tools.
func setKinds(tool convert.Tool) {
	kinds["--endpoint-type"] = "chat"
	if tool.Name == "vllm-bench" {
		kinds["--endpoint-type"] = "openai-chat"
	}
}

// Every option of every tool that becomes a plan, with the options it needs, is named in the plan: beside the line
// that it made, or as one without an equal or without need.
func TestEveryLLMOptionIsMentioned(t *testing.T) {
	writeLLM(t)
	for _, tool := range llmTools() {
		setKinds(tool)
		rows := optionsOf(tool)
		if len(rows) < 60 {
			t.Errorf("%s has %d options", tool.Name, len(rows))
		}
		for _, r := range rows {
			names, value := r.names, r.value
			for _, name := range names {
				if slices.Contains([]string{"-h", "--help", "--version", "-f", "--file", "--config", "--config-file"}, name) {
					continue
				}
				long := names[len(names)-1]
				if strings.HasPrefix(name, "--") {
					long = name
				}
				found := false
				for _, others := range besides[tool.Name] {
					args := append(strings.Fields(others), name)
					if v := valueFor(name, value); v != "" {
						args = append(args, v)
					}
					out, _ := tool.Convert(convert.Options{Args: args})
					if out.Plan == "" {
						continue
					}
					found = true
					_, body, _ := strings.Cut(out.Plan, "\n") // the first line is the command line
					if !slices.ContainsFunc(append(names, long), func(n string) bool {
						return regexp.MustCompile(`(?m)# .*` + regexp.QuoteMeta(n) + `\b`).MatchString(body)
					}) {
						t.Errorf("%s %s: the plan does not name %s\n%s", tool.Name, strings.Join(args, " "), name, out.Plan)
					}
				}
				if !found && !slices.Contains([]string{"--service-kind", "--rest"}, name) {
					_, diags := tool.Convert(convert.Options{Args: append(strings.Fields(besides[tool.Name][0]), name, valueFor(name, value))})
					t.Errorf("%s %s %s becomes no plan, whatever is beside it: %s", tool.Name, name, valueFor(name, value), diags)
				}
			}
		}
	}
}
