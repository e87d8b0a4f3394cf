package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert"
)

// llmForms are options and the line of the plan that they become; or the mistake, or the warning. A text after !
// is none of the plan.
var llmForms = []struct{ line, want string }{
	{"aiperf profile -m m --goodput inter_token_latency:50 output_token_throughput_per_user:10", "goodput: {itl: 50ms}"},
	{"aiperf profile -m m --goodput output_token_throughput_per_user:100 inter_token_latency:50", "goodput: {itl: 10ms}"},
	{"aiperf profile -m m --goodput time_to_first_token:0.0001", "goodput: {ttft: 0.0001ms}"},
	{"aiperf profile -m m --goodput time_to_first_token:9 time_to_first_token:10", "goodput: {ttft: 10ms}"},
	{"aiperf profile -m m --goodput tftt:50", `error: "tftt" is no value of --goodput (ttft?)`},
	{"aiperf profile -m m --goodput output_sequence_length:50", "warning: --goodput: a plan cannot judge single requests by output_sequence_length"},
	{"aiperf profile -m m --failed-request-threshold 0", "assert: [{that: errors.ratio <= 0%, abort: true}]"},
	{"aiperf profile -m m --warmup-duration 5 --warmup-request-count 4", "No equal: --warmup-request-count: the warm-up has one end: --warmup-duration"},
	{"aiperf profile -m m --warmup-request-count 5 --num-warmup-sessions 4", "No equal: --num-warmup-sessions: the warm-up has one end: --warmup-request-count"},
	{"aiperf profile -m m --user-centric-rate 2 --num-users 4 --concurrency 2", "No equal: --concurrency: users have one request"},
	{"aiperf profile -m m --request-rate 2 --concurrency 8 --concurrency-ramp-duration 5", "No equal: --concurrency-ramp-duration: beside a rate"},
	{"aiperf profile -m m --request-timeout-seconds 0", "No equal: --request-timeout-seconds: requests without a limit"},
	{"genai-perf profile -m m --endpoint-type chat --image-width-mean 8 --image-height-mean 8 --batch-size-image 3", "images: {count: 3, width: 8, height: 8}  # --batch-size-image"},
	{"genai-perf profile --endpoint-type dynamic_grpc --grpc-method a.B/C --input-file texts.jsonl", "backend: grpc  # --endpoint-type"},
	{"vllm bench serve --model m --dataset-name timed_trace --dataset-path trace.jsonl --max-concurrency 4", "load: {schedule: {}, max_in_flight: 4}  # --max-concurrency: each row"},
	{"vllm bench serve --model m --best-of 2", "parameters:  # --best-of"},
	{"vllm bench serve --model m --dataset-name hf --dataset-path a/b", "No equal: --dataset-name, --dataset-path: hf is not downloaded"},
	{"vllm bench serve --model m --goodput foo:1", `error: "foo" is no value of --goodput`},
	{"vllm bench serve --model m --goodput inter_token_latency:1", `error: "inter_token_latency" is no value of --goodput`},
	{"vllm bench serve --model m --backend openai-comp", "endpoint: completions"},
	{`aiperf profile -m m --reset-kv-cache --reset-kv-cache-path a"},{command:[true]},{call:"b`, `before: [{call: "POST /a\"},{command:[true]},{call:\"b"}]`},
	{`aiperf profile -m m --server-profiler --server-profiler-start-path a"} --server-profiler-stop-path ${x}`, `before: [{call: "POST /a\"}"}]`},
	{`aiperf profile -m m --server-profiler --server-profiler-start-path a"} --server-profiler-stop-path ${x}`, `after: [{call: "POST /$${x}"}]`},
}

// TestLLMForms: each form of an option becomes its line.
func TestLLMForms(t *testing.T) {
	writeLLM(t)
	for _, f := range llmForms {
		out, diags := llmTool(f.line).Convert(convert.Options{Args: strings.Fields(f.line)})
		var b strings.Builder
		for _, d := range diags {
			nearest := ""
			if d.Nearest != "" {
				nearest = " (" + d.Nearest + "?)"
			}
			fmt.Fprintf(&b, "%s: %s%s\n", d.Severity, d.Summary, nearest)
		}
		got := b.String() + out.Plan
		if text, none := strings.CutPrefix(f.want, "!"); strings.Contains(got, text) == none {
			t.Errorf("%s:\n%s\nwant %s", f.line, got, f.want)
		}
		if out.Plan == "" && !diags.HasErrors() {
			t.Errorf("%s: no plan and no error", f.line)
		}
	}
}

// llmTool returns the tool of a command line.
func llmTool(line string) (tool convert.Tool) {
	name, _, _ := strings.Cut(line, " ")
	for _, candidate := range convert.Tools() {
		if strings.HasPrefix(candidate.Program, name) {
			return candidate
		}
	}
	return tool
}
