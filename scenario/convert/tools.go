package convert

import "github.com/sluice-bench/sluice/scenario/source"

// Tool is a load generator whose command lines become plans.
type Tool struct {
	Name    string // of the subcommand: perf-analyzer
	Program string // in messages: perf_analyzer
	Example string // options of a line
	Convert func(Options) (Converted, source.Diagnostics)
	Usage   func() string // every option and its key
}

// Tools lists the load generators.
func Tools() []Tool {
	return []Tool{
		{"perf-analyzer", "perf_analyzer", "-m NAME", PerfAnalyzer, PerfAnalyzerUsage},
		{"genai-perf", "genai-perf", "profile -m NAME --endpoint-type chat", GenAIPerf, GenAIPerfUsage},
		{"aiperf", "aiperf", "profile -m NAME --streaming --concurrency 8", AIPerf, AIPerfUsage},
		{"vllm-bench", "vllm bench serve", "--model NAME --request-rate 4", VLLM, VLLMUsage},
	}
}
