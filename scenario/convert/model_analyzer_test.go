package convert_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/scenario/convert"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestModelAnalyzer: the plan of a configuration is the one beside it, with what has no equal, and compiles.
// -update writes it.
func TestModelAnalyzer(t *testing.T) {
	const file, golden = "testdata/model_analyzer.yaml", "testdata/model_analyzer.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plan, diags := convert.ModelAnalyzer("config.yaml", data)
	valid(t, plan)
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s: %s %s\n", d.Pos, d.Severity, d.Summary)
	}
	got := b.String() + plan
	if os.Getenv("UPDATE_MODEL_ANALYZER") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("UPDATE_MODEL_ANALYZER=1 go test writes %s: %v\n%s", golden, err, diff)
	}
}

// TestModelAnalyzerForms: each form of a setting, and the line of the plan that it becomes; or the mistake.
func TestModelAnalyzerForms(t *testing.T) {
	for config, want := range map[string]string{
		"profile_models: a, b": "  b: {backend: triton",
		"profile_models: [a, {b: {objectives: perf_throughput}}]": "best: {max: throughput}",
		"profile_models: [A/B, a-b]":                              "  a-b-2: {backend: triton",
		"profile_models: [a]\nclient_protocol: http":              `url: "http://localhost:8000"`,
		"profile_models: [a]\nlatency_budget: 50":                 "best: {max: throughput, where: latency.p99 <= 50ms}",
		"profile_models: [a]\nconcurrency: 1,2,4":                 "load: {concurrency: [1, 2, 4]}",
		"profile_models: [a]\nrequest_rate: [10, 20]":             "load: {rate: [10/s, 20/s]}",
		"profile_models: [a]":                                     "matrix: {max_batch_size: [1, 2, 4, 8, 16, 32, 64, 128], instances: [1, 2, 3, 4, 5]}",
		"profile_models: {a: {cpu_only: true}}":                   `instance_group: [{count: "${matrix.instances}", kind: KIND_CPU}]`,
		"profile_models: [a]\nrun_config_search_disable: true\nconstraints: {perf_latency_p90: {max: 5}}":                           "assert: [latency.p90 <= 5ms]",
		"profile_models: {a: {model_config_parameters: {dynamic_batching: {}}}}":                                                    "dynamic_batching: true",
		"profile_models: {a: {model_config_parameters: {parameters: {n: {string_value: [\"1\", \"2\"]}, ms: {string_value: 20}}}}}": `parameters: {"n": "${matrix.n}", ms: "20"}`,
		"profile_models: [a]\nobjectives: [perf_latency_avg]":                                                                       "best: {min: latency.mean}",
		"profile_models: [a]\nperf_analyzer_flags: {warmup-request-count: 9}":                                                       "warmup: 9 requests",
		"- a":                                   "error: a configuration of Model Analyzer is a map",
		"concurrency: 1":                        "error: `profile_models` names no model",
		"profile_models: [a]\nconcurrency: [0]": `error: "0" is no whole number from 1 on`,
		"profile_models: [a]\nlatency_budget: low":                      `error: "low" is no limit`,
		"profile_models: [a]\nconcurrency: {start: 4, stop: 1}":         "error: this is no range",
		"profile_models: [a]\nrun_config_search_max_instance_count: 99": "error: the search of \"a\" has 792 configurations",
		"profile_models: [a]\nnew_key: 1":                               "warning: `new_key` has no equal in a plan",
	} {
		plan, diags := convert.ModelAnalyzer("config.yaml", []byte(config))
		var b strings.Builder
		for _, d := range diags {
			fmt.Fprintf(&b, "%s: %s\n", d.Severity, d.Summary)
		}
		if got := b.String() + plan; !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nwant %s", config, got, want)
		}
		if plan != "" {
			valid(t, plan)
		} else if !diags.HasErrors() {
			t.Errorf("%s: no plan and no error", config)
		}
	}
}

func FuzzModelAnalyzer(f *testing.F) {
	f.Add([]byte("profile_models: [a, {b: {objectives: {perf_throughput: 1}}}]\nconcurrency: {start: 1, stop: 4}"))
	f.Add([]byte("profile_models: {\"x\\n\": {model_config_parameters: {instance_group: [{count: [1, 2]}]}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, _ := convert.ModelAnalyzer("config.yaml", data)
		if _, bad := source.Parse("plan.yaml", []byte(plan)); plan != "" && bad.HasErrors() {
			t.Errorf("%q becomes\n%s\n%s", data, plan, bad)
		}
	})
}
