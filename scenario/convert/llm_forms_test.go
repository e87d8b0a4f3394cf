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
