package convert_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert"
)

// TestGenAISweeps: each axis of `genai-perf analyze` becomes levels of the load or an axis of the stage's matrix, or
// is named; its plan is valid.
func TestGenAISweeps(t *testing.T) {
	writeLLM(t)
	for i, text := range []string{
		"concurrency: {start: 4, stop: 16}",
		"concurrency: {start: 2, stop: 6, step: 2}\n  input_sequence_length: {start: 100, stop: 200, step: 100}",
		"request_rate: {stop: 64}\n  num_dataset_entries: {start: 10, stop: 20, step: 10}",
		"runtime_batch_size: {stop: 4}",
		"input_length: {start: 1}",
		"concurrency: [1, 2]",
		"concurrency: {start: 1, stop: 4, size: 2}",
		"concurrency: {}\n  request_rate: {}",
	} {
		kind := "chat"
		if strings.HasPrefix(text, "runtime") {
			kind = "embeddings"
		}
		settings := "model_name: m\nendpoint: {type: " + kind + ", service_kind: openai}\nanalyze:\n  " + text + "\n"
		if err := os.WriteFile(fmt.Sprintf("sweep%d.yaml", i), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string][]string{
		"analyze -m m --endpoint-type chat":                                                                           {"concurrency: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]  # analyze", "# No equal: analyze: ", "analyze_export_genai_perf.csv"},
		"analyze -m m --endpoint-type chat --generate-plots":                                                          {"# No equal: analyze: ", "# No equal: --generate-plots: "},
		"analyze -m m --endpoint-type chat --sweep-type request_rate":                                                 {"rate: [1/s, 2/s,", "512/s, 1024/s]", "# --sweep-type"},
		"analyze -m m --endpoint-type chat --sweep-range 1:4":                                                         {"concurrency: [1, 2, 4]", "# --sweep-range"},
		"analyze -m m --endpoint-type chat --sweep-list 3,5 --sweep-range 1:4":                                        {"concurrency: [3, 5]", "# Not needed: --sweep-range: --sweep-list has the values"},
		"analyze -m m --endpoint-type chat --concurrency 7 --sweep-list 3,5":                                          {"# Not needed: --concurrency: the sweep has its values"},
		"analyze -m m --endpoint-type chat --request-rate 7 --sweep-list 3,5":                                         {"# Not needed: --request-rate: the sweep says what the load is"},
		"analyze -m m --endpoint-type chat --concurrency 7 --sweep-type num_dataset_entries --sweep-range 100:200:50": {"concurrency: 7", "matrix: {data: [n100, n150, n200]}", "n150:\n    prompts:\n      count: 150"},
		"analyze -m m --endpoint-type embeddings --sweep-type batch_size --sweep-range 1:8":                           {"matrix: {batch: [1, 2, 4, 8]}", `batch: "${matrix.batch}"`},
		"analyze -m m --endpoint-type chat --sweep-type batch_size --sweep-range 1:8":                                 {"error: --sweep-type does not go with --endpoint-type chat"},
		"analyze -m m --endpoint-type chat --sweep-type input_sequence_length --sweep-list 64":                        {"input_tokens: 64"},
		"analyze -m m --endpoint-type chat --input-file texts.jsonl --sweep-type input_sequence_length":               {"# No equal: --sweep-type: rows of a file are sent as they are"},
		"config -f sweep0.yaml": {"concurrency: [4, 8, 16]"},
		"config -f sweep1.yaml": {"concurrency: [2, 4, 6]", "matrix: {data: [in100, in200]}"},
		"config -f sweep2.yaml": {"rate: [16/s, 32/s, 64/s]", "matrix: {data: [n10, n20]}"},
		"config -f sweep3.yaml": {"matrix: {batch: [1, 2, 4]}"},
		"config -f sweep4.yaml": {"# No equal: analyze.input_length: "},
		"config -f sweep5.yaml": {"# No equal: analyze.concurrency: "},
		"config -f sweep6.yaml": {"concurrency: [1, 2, 4]", "# No equal: analyze.concurrency.size: "},
		"config -f sweep7.yaml": {"error: --sweep-type: one sweep says what the load is"},
		"config -f sweep0.yaml --sweep-list 3,5 --sweep-range 1:2 --sweep-type concurrency": {"concurrency: [3, 5]"},
	} {
		out, diags := convert.GenAIPerf(convert.Options{Args: strings.Fields(line)})
		var shown strings.Builder
		shown.WriteString(out.Plan)
		for _, d := range diags {
			fmt.Fprintf(&shown, "%s: %s\n", d.Severity, d.Summary)
		}
		got := shown.String()
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s: %q is not in\n%s", line, text, got)
			}
		}
		if out.Plan != "" {
			valid(t, out.Plan)
		}
	}
}
