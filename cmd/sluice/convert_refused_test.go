package main

import (
	"strings"
	"testing"
)

// TestConvertRefused: a command line whose plan validate refuses is a mistake of its option, and no plan is printed.
func TestConvertRefused(t *testing.T) {
	for line, want := range map[string]string{
		"aiperf -- -m m --request-cancellation-rate 150":                                   "--request-cancellation-rate: `ratio` cannot be 150%",
		"aiperf -- -m m --request-timeout-seconds 0.0001":                                  "--request-timeout-seconds: `timeout` cannot be 0.0001s",
		"genai-perf -- -m m --endpoint-type chat -u ftp://x":                               `--url: URL scheme "ftp" is not known`,
		"genai-perf -- --endpoint-type dynamic_grpc --grpc-method a.B/C":                   "--endpoint-type needs --input-file",
		"vllm-bench -- --model m --metric-percentiles 0":                                   "--metric-percentiles: `percentiles` cannot be 0",
		"vllm-bench -- --model m --save-result --metric-percentiles 101":                   "--metric-percentiles: `percentiles` cannot be 101",
		"vllm-bench -- --model m --num-prompts 2000000":                                    "--num-prompts: `concurrency` cannot be 2000000",
		"aiperf -- -m m --fixed-schedule-start-offset 500 --fixed-schedule-end-offset 100": "--fixed-schedule-end-offset: it is above the start of 500 ms",
	} {
		out := sluiceIn(t, t.TempDir(), 2, append([]string{"convert"}, strings.Fields(line)...)...)
		if !strings.Contains(out, want) || strings.Contains(out, "version: 1") {
			t.Errorf("%s: %q is not in\n%s", line, want, out)
		}
	}
	for _, line := range []string{
		"vllm-bench -- --model m --header Authorization=Bearer", // the only one: none of ours beside it
		"aiperf -- -m m --input-file none.jsonl",                // the plan may be run elsewhere
	} {
		if out := sluiceIn(t, t.TempDir(), 0, append([]string{"convert"}, strings.Fields(line)...)...); !strings.Contains(out, "version: 1") {
			t.Errorf("%s: no plan\n%s", line, out)
		}
	}
}
