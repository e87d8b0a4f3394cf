package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// foreignKey is a key as other load generators name it.
type foreignKey struct {
	theirs string // separated by spaces, in lower case with _ between words
	ours   string // the key that says it
	line   string // a line to write; %s is the value of their key
	sample string // in place of a value that is no scalar
}

// foreignKeys are the words of k6, locust, vegeta, wrk, JMeter, perf_analyzer and GenAI-Perf.
func foreignKeys() []foreignKey {
	return []foreignKey{
		{"duration time run_time runtime seconds time_limit measurement_interval", "for", "for: %s", "60s"},
		{
			"iterations request_count num_requests max_requests total_requests number_of_requests " +
				"amount loops",
			"for", "for: %s requests", "1000",
		},
		{
			"vus users user_count clients num_clients threads num_threads workers concurrent parallelism " +
				"num_users concurrency_range virtual_users in_flight",
			"concurrency", "load: {concurrency: %s}", "8",
		},
		{
			"qps rps tps request_rate requests_per_second arrival_rate spawn_rate hatch_rate throughput " +
				"target_rate request_rate_range frequency",
			"rate", "load: {rate: %s}", "100/s",
		},
		{
			"threshold thresholds slo sla slas check checks assertions asserts criteria expectations " +
				"pass_criteria",
			"assert", "assert: [latency.p99 < 50ms]", "",
		},
		{
			"warm_up warmup_time warmup_duration warmup_requests warmup_request_count ramp_up_time", "warmup",
			"warmup: %s", "5s",
		},
		{
			"scenarios jobs tests steps runs experiments", "stages",
			"stages: [{id: steady, load: {concurrency: 8}, for: 60s}]", "",
		},
		{"rampup ramp_up ramping", "ramp", "load: {concurrency: {ramp: [{to: 64, over: 30s}]}}", ""},
		{"min start begin initial", "from", "from: %s", "1"},
		{"max end stop limit final", "to", "to: %s", "64"},
		{"increment by stride", "step", "step: %s", "1"},
		{
			"endpoint_url base_url host hosts server address uri addr", "url", "target: {url: %s}",
			"http://localhost:8000",
		},
		{"model_name", "model", "model: %s", "resnet50"},
		{"service_kind service_type server_type", "backend", "target: {backend: triton}", ""},
		{"batch_size b batches", "batch", "batch: %s", "8"},
		{"body payload input inputs input_data dataset", "data", "data: {file: rows.json}", ""},
		{"think_time wait_time sleep pause", "think", "load: {concurrency: 8, think: %s}", "1s"},
		{"request_timeout timeout_ms client_timeout deadline", "timeout", "timeout: %s", "2s"},
		{"variables parameters_file env environment", "vars", "vars: {limit: 50ms}", ""},
		{"format report reports reporters outputs", "formats", "output: {formats: [json, junit]}", ""},
		{"environments", "profiles", "profiles: {ci: {vars: {limit: 80ms}}}", ""},
		{"depends_on after_stage requires", "needs", "needs: [warm]", ""},
		{"repeats trials num_runs", "repeat", "repeat: %s", "3"},
		{"distribution request_distribution", "arrivals", "arrivals: poisson", ""},
		{"percentile", "percentiles", "output: {percentiles: [50, 99]}", ""},
	}
}

// foreign finds a key of other tools.
func foreign(key string) (foreignKey, bool) {
	word := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	for _, f := range foreignKeys() {
		if slices.Contains(strings.Fields(f.theirs), word) ||
			slices.Contains(strings.Fields(strings.ReplaceAll(f.theirs, "_", "")), word) {
			return f, true
		}
	}
	return foreignKey{}, false
}

// local reports whether the word means something in some maps only.
func (f foreignKey) local() bool { return slices.Contains([]string{"from", "to", "step"}, f.ours) }

// translate says in d what a key of another tool is called here. all are the keys of the map in which
// it is.
func (f foreignKey) translate(d *source.Diagnostic, e source.Entry, all []string) {
	value := f.sample
	if v := e.Value; v != nil && v.Kind == source.Scalar && v.Text != "" &&
		!strings.ContainsAny(v.Text, "{}[],#\n") {
		value = v.Text
	}
	line := f.line
	if strings.Contains(line, "%s") {
		if f.ours == "rate" && language.IsDecimal(value) {
			value += "/s"
		}
		if f.ours == "for" && language.IsDecimal(value) && strings.HasSuffix(line, "%s") {
			value += "s"
		}
		line = fmt.Sprintf(line, value)
	}
	d.Nearest, d.Allowed = "", nil
	if slices.Contains(all, f.ours) {
		if d.Nearest = f.ours; strings.HasPrefix(line, "target: ") || strings.HasPrefix(line, "load: ") ||
			strings.HasPrefix(line, "output: ") { // it is in that map already
			return
		}
	}
	d.Detail = fmt.Sprintf("`%s` is called `%s` here: %s", e.Key, f.ours, line)
}

// Foreign returns the key that another tool's key is called here, and a line to write; "": it is none.
func Foreign(key string) (ours, line string) {
	f, ok := foreign(key)
	if !ok || f.local() {
		return "", ""
	}
	if strings.Contains(f.line, "%s") {
		return f.ours, fmt.Sprintf(f.line, f.sample)
	}
	return f.ours, f.line
}
