package modelanalyzer_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/convert/modelanalyzer"
	"github.com/sluice-bench/sluice/scenario/convert/secret"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestModelAnalyzer: the plan of a configuration is the one beside it, with what has no equal, and compiles.
// -update writes it.
func TestModelAnalyzer(t *testing.T) {
	const file, golden = "testdata/config.yaml", "testdata/plan.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, diags := modelanalyzer.Convert("config.yaml", data)
	plan := out.Text
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
		"profile_models: [a]\nlatency_budget: low":                                            `error: "low" is no limit`,
		"profile_models: [a]\nconcurrency: {start: 4, stop: 1}":                               "error: this is no range",
		"profile_models: [a]\nrun_config_search_max_instance_count: 99":                       "error: the search of \"a\" has 792 configurations",
		"profile_models: [a]\nnew_key: 1":                                                     "warning: `new_key` has no equal in a plan",
		"profile_models: [a]\nmin_throughput: 20":                                             "where: throughput >= 20/s",
		"profile_models: [a]\nrun_config_search_disable: True":                                "load: {concurrency: 1}",
		"profile_models: [a]\nparameters: {concurrency: 4}":                                   "warning: `parameters` is for one model: write it below the name of that model",
		"profile_models: [a]\nmodel_config_parameters: {}":                                    "warning: `model_config_parameters` is for one model",
		"profile_models: [a]\ncpu_only: true":                                                 "warning: `cpu_only` is for one model",
		"profile_models: {a: {latency_budget: 5}}":                                            "warning: `latency_budget` is for all models: it has no effect in the model a",
		"profile_models: {a: {run_config_search_max_concurrency: 5}}":                         "warning: `run_config_search_max_concurrency` is for all models",
		"profile_models: {a: {parameters: {concurency: 5}}}":                                  "warning: `concurency` has no equal in a plan",
		"profile_models: {a: {parameters: [4]}}":                                              "error: `parameters` is a map of",
		"profile_models: {a: [4]}":                                                            "error: the settings of the model a are a map",
		"profile_models: [[a]]":                                                               "error: a model is its name, or its name with a map",
		"profile_models: [a]\nperf_analyzer_flags: [x]":                                       "error: `perf_analyzer_flags` is a map",
		"profile_models: [a]\nperf_analyzer_flags: {streaming: true}":                         "warning: perf_analyzer's streaming is not converted here",
		"profile_models: {a: {model_config_parameters: [1]}}":                                 "error: `model_config_parameters` is a map",
		"profile_models: {a: {cpu_only: maybe}}":                                              "error: `cpu_only` is true or false",
		"profile_models: {a: {cpu_only: True, model_config_parameters: {max_batch_size: 2}}}": "warning: `cpu_only`: write kind: KIND_CPU",
		"profile_models: [a]\nobjectives: {perf_throughput: high}":                            "error: the weight of perf_throughput is a number above 0",
		"profile_models: [a]\nrun_config_search_disable: true\nobjectives: perf_throughput":   "warning: `objectives`: the stage of a has one node",
		"profile_models: [a]\nconstraints: [perf_latency_p99]":                                "error: a constraint is a metric with its max or min",
		"profile_models: [a]\nconstraints: {perf_latency_p99: 100}":                           "error: the constraint perf_latency_p99 has a max or a min",
		"profile_models: [a]\nconstraints: {perf_latency_p99: {maximum: 5}}":                  "error: a constraint has max and min, not \"maximum\"",
		"profile_models: [a]\nconcurrency: {start: 1, stop: 4, size: 2}":                      "warning: `size` has no equal in a plan",
		"profile_models: [a]\nconcurrency: 4\nrequest_rate: 9":                                "warning: `concurrency`: `request_rate` says what the load of a is",
		"profile_models: [a]\nclient_protocol: udp":                                           "error: \"udp\" is no protocol of Model Analyzer",
		"profile_models: [a]\ntriton_grpc_endpoint: [h]":                                      "error: `triton_grpc_endpoint` is one value",
		"profile_models: {a: {model_config_parameters: {instance_group: [[{kind: KIND_GPU, count: 1}], [{kind: KIND_CPU, count: 1}]]}}}": "warning: `instance_group`: an axis has no maps and lists as values: the first one is used",
		"profile_models: {a: {model_config_parameters: {instance_group: [[{kind: KIND_CPU, count: 3}]]}}}":                               "instance_group: [{kind: KIND_CPU, count: 3}]",
		"profile_models: {a: {model_config_parameters: {dynamic_batching: [{max_queue_delay_microseconds: 5}, {}]}}}":                    "dynamic_batching: {max_queue_delay_microseconds: 5}",
	} {
		out, diags := modelanalyzer.Convert("config.yaml", []byte(config))
		plan := out.Text
		var b strings.Builder
		for _, d := range diags {
			fmt.Fprintf(&b, "%s: %s\n", d.Severity, d.Summary)
		}
		if got := b.String() + plan; !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nwant %s", config, got, want)
		}
		if plan != "" {
			valid(t, plan, out.Secrets...)
		} else if !diags.HasErrors() {
			t.Errorf("%s: no plan and no error", config)
		}
	}
}

func FuzzModelAnalyzer(f *testing.F) {
	f.Add([]byte("profile_models: [a, {b: {objectives: {perf_throughput: 1}}}]\nconcurrency: {start: 1, stop: 4}"))
	f.Add([]byte("profile_models: {\"x\\n\": {model_config_parameters: {instance_group: [{count: [1, 2]}]}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, _ := modelanalyzer.Convert("config.yaml", data)
		plan := out.Text
		if _, bad := source.Parse("plan.yaml", []byte(plan)); plan != "" && bad.HasErrors() {
			t.Errorf("%q becomes\n%s\n%s", data, plan, bad)
		}
	})
}

// hush is the secret of the configurations of this file.
const hush = "hush-0815-hush"

// TestSecrets: a configuration keeps its secrets as a command line does.
func TestSecrets(t *testing.T) {
	for config, want := range map[string]string{
		"profile_models: [a]\nperf_analyzer_flags: {H: \"Authorization: Bearer " + hush + "\"}":                                    `headers: {Authorization: "Bearer ${token}"}`,
		"profile_models: [a]\nperf_analyzer_flags: {H: [\"X-A: b\", \"x-key: " + hush + "\"]}":                                     `headers: {X-A: b, x-key: "${x_key}"}`,
		"profile_models: [a]\nclient_protocol: http\ntriton_http_endpoint: me:" + hush + "@host:8000":                              `url: "http://host:8000", model: a, headers: {Authorization: "Basic ${credentials}"}`,
		"profile_models: [a]\nperf_analyzer_flags: {H: \"Authorization: Bearer " + hush + "\", header: \"a-token: " + hush + "\"}": `"Bearer ${token}"`,
	} {
		out, diags := modelanalyzer.Convert("config.yaml", []byte(config))
		all := []string{out.Text}
		lines := strings.Split(config, "\n")
		for _, d := range diags {
			all = append(all, d.Summary, d.Detail)
			if !d.Hidden {
				all = append(all, lines[d.Pos.Line-1])
			}
		}
		shown := strings.Join(all, "\n")
		if strings.Contains(shown, hush) || !strings.Contains(out.Text, want) {
			t.Errorf("%s: %v\n%s", config, diags, shown)
		}
		if !slices.ContainsFunc(out.Secrets, func(s secret.Secret) bool {
			return s.Value == hush || s.Value == base64.StdEncoding.EncodeToString([]byte("me:"+hush))
		}) {
			t.Errorf("%s: %v", config, out.Secrets)
		}
	}
}

// valid compiles a plan, as validate does.
func valid(t *testing.T, text string, secrets ...secret.Secret) {
	t.Helper()
	env := func(name string) (string, bool) {
		at := slices.IndexFunc(secrets, func(s secret.Secret) bool { return s.Env == name })
		return "a secret", at >= 0
	}
	plan, diags := scenario.Parse("plan.yaml", []byte(text), scenario.Overrides{Env: env})
	if plan != nil && !diags.HasErrors() {
		_, more := program.Compile(plan, all.Kinds())
		diags = append(diags, more...)
	}
	if diags.HasErrors() {
		t.Errorf("%v\n%s", diags, text)
	}
}
