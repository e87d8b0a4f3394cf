package convert

import (
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// aiperfSettings returns the settings of a file of AIPerf: an envelope, and the benchmark in it.
func aiperfSettings(root *source.Node) (all []setting) {
	for _, e := range root.Entries {
		switch snake(e.Key) {
		case "benchmark":
			all = append(all, benchmarkSettings(e.Value)...)
		case "sweep": // goes over the benchmark: see below
		case "schema_version", "variables", "no_sweep_table", "plot":
		default:
			one := &source.Node{Kind: source.Map, Entries: []source.Entry{e}}
			all = append(all, pathsOf(one, map[string]string{
				"random_seed": "--random-seed", "multi_run.num_runs": "--num-profile-runs",
				"multi_run.cooldown_seconds":             "--profile-run-cooldown-seconds",
				"multi_run.confidence_level":             "--confidence-level",
				"multi_run.convergence_metric":           "--convergence-metric",
				"multi_run.disable_warmup_after_first":   "--profile-run-disable-warmup-after-first",
				"multi_run.profile_run_cooldown_seconds": "--profile-run-cooldown-seconds",
			})...)
		}
	}
	if sweep := root.Get("sweep"); sweep != nil {
		all = append(all, sweepSettings(sweep)...)
	}
	return all
}

// benchmarkSettings returns the settings of a benchmark.
func benchmarkSettings(body *source.Node) (all []setting) {
	for _, e := range body.Entries {
		switch snake(e.Key) {
		case "phases", "warmup", "profiling":
			all = append(all, phases(snake(e.Key), e.Value)...)
		case "dataset", "datasets":
			data := e.Value
			if data.Kind == source.List && len(data.Items) > 0 {
				data = data.Items[0]
			}
			all = append(all, datasetSettings(data)...)
		case "models":
			all = append(all, modelSettings(e.Value)...)
		default:
			one := &source.Node{Kind: source.Map, Entries: []source.Entry{e}}
			all = append(all, pathsOf(one, map[string]string{
				"model": "--model", "endpoint.url": "--url", "endpoint.urls": "--url", "endpoint.type": "--endpoint-type",
				"endpoint.streaming": "--streaming", "endpoint.api_key": "--api-key", "endpoint.path": "--endpoint",
				"endpoint.custom_endpoint": "--endpoint", "endpoint.timeout": "--request-timeout-seconds",
				"endpoint.headers": "--header*", "endpoint.extra": "--extra-inputs*",
				"endpoint.extra_inputs": "--extra-inputs*", "endpoint.url_strategy": "--url-strategy",
				"endpoint.connection_reuse":       "--connection-reuse-strategy",
				"endpoint.use_legacy_max_tokens":  "--use-legacy-max-tokens",
				"endpoint.use_server_token_count": "--use-server-token-count", "random_seed": "--random-seed",
				"endpoint.wait_for_model_timeout": "--wait-for-model-timeout",
				"endpoint.ready_check_timeout":    "--wait-for-model-timeout",
				"tokenizer.name":                  "--tokenizer", "tokenizer.revision": "--tokenizer-revision",
				"tokenizer.trust_remote_code": "--tokenizer-trust-remote-code", "tokenizer": "--tokenizer",
				"artifacts.dir": "--artifact-dir", "artifacts.prefix": "--profile-export-file",
				"artifacts.export_level": "--export-level", "artifacts.records": "-", "artifacts.raw": "-",
				"artifacts.slice_duration": "--slice-duration", "slos": "--goodput*", "goodput": "--goodput*",
				"server_metrics.urls": "--server-metrics", "server_metrics.enabled": "-", "gpu_telemetry.enabled": "-",
				"gpu_telemetry.urls": "--gpu-telemetry", "runtime.workers": "--workers-max",
				"runtime.workers_max": "--workers-max", "runtime.ui": "--ui", "logging.level": "--log-level",
			})...)
		}
	}
	return all
}

// modelSettings returns the models: names, or a map with items and a strategy.
func modelSettings(n *source.Node) (all []setting) {
	items := n
	if n.Kind == source.Map {
		items = n.Get("items")
		if strategy := n.Get("strategy"); strategy != nil {
			all = append(all, setting{"models.strategy", "--model-selection-strategy", strategy})
		}
	}
	if items == nil {
		return all
	}
	names := &source.Node{Kind: source.List, Pos: items.Pos}
	for _, item := range items.Items {
		if name := item.Get("name"); item.Kind == source.Map && name != nil {
			item = name
		}
		names.Items = append(names.Items, item)
	}
	return append(all, setting{"models", "--model", names})
}

// datasetSettings returns the settings of a dataset.
func datasetSettings(n *source.Node) (all []setting) {
	kind := n.Get("type")
	wanted := map[string]string{
		"type": "-", "name": "-", "entries": "--num-dataset-entries", "random_seed": "--random-seed",
		"sampling": "--dataset-sampling-strategy", "prompts.isl": "--synthetic-input-tokens-mean",
		"prompts.isl.mean":   "--synthetic-input-tokens-mean",
		"prompts.isl.stddev": "--synthetic-input-tokens-stddev", "prompts.osl": "--output-tokens-mean",
		"prompts.osl.mean": "--output-tokens-mean", "prompts.osl.stddev": "--output-tokens-stddev",
		"prompts.batch_size": "--batch-size-text", "prompts.corpus": "--prompt-corpus",
		"prompts.sequence_distribution": "--sequence-distribution",
		"prefix_prompts.pool_size":      "--num-prefix-prompts", "prefix_prompts.length": "--prefix-prompt-length",
		"prefix_prompts.shared_system_length": "--shared-system-prompt-length",
		"prefix_prompts.user_context_length":  "--user-context-prompt-length",
		"turns":                               "--session-turns-mean", "turns.mean": "--session-turns-mean",
		"turns.stddev": "--session-turns-stddev", "turn_delay": "--session-turn-delay-mean",
		"turn_delay.mean": "--session-turn-delay-mean", "turn_delay.stddev": "--session-turn-delay-stddev",
		"turn_delay_ratio": "--session-delay-ratio", "images.batch_size": "--image-batch-size",
		"images.width": "--image-width-mean", "images.width.mean": "--image-width-mean",
		"images.width.stddev": "--image-width-stddev", "images.height": "--image-height-mean",
		"images.height.mean": "--image-height-mean", "images.height.stddev": "--image-height-stddev",
		"images.format": "--image-format", "audio.length": "--audio-length-mean",
		"audio.length.mean":   "--audio-length-mean",
		"audio.length.stddev": "--audio-length-stddev", "audio.format": "--audio-format",
		"audio.batch_size": "--audio-batch-size", "audio.sample_rates": "--audio-sample-rates",
		"path":   "--input-file",
		"format": "--custom-dataset-type", "synthesis.speedup_ratio": "--synthesis-speedup-ratio",
		"replay_speedup":               "--replay-speedup",
		"inter_turn_delay_cap_seconds": "--inter-turn-delay-cap-seconds",
		"max_idle_gap_cap_seconds":     "--max-idle-gap-cap-seconds",
	}
	if kind != nil && kind.Text == "public" {
		wanted["name"] = "--public-dataset"
	}
	for _, s := range pathsOf(n, wanted) {
		s.path = "dataset." + s.path
		all = append(all, s)
	}
	return all
}

// phases returns the settings of the phases: a list, one by itself, or one by its name.
func phases(name string, n *source.Node) (all []setting) {
	list := []*source.Node{n}
	if n.Kind == source.List {
		list = n.Items
	}
	measured := false
	for _, phase := range list {
		kind := name
		for _, key := range []string{"name", "kind"} {
			if v := phase.Get(key); v != nil {
				kind = v.Text
			}
		}
		switch {
		case kind == "warmup":
			all = append(all, warmupPhase(phase)...)
		case measured:
			if v := phase.Get("name"); v != nil {
				kind = v.Text
			}
			all = append(all, setting{path: "phase " + kind, node: phase})
		default:
			measured = true
			all = append(all, measuredPhase(phase)...)
		}
	}
	return all
}

func warmupPhase(n *source.Node) []setting {
	return pathsOf(n, map[string]string{
		"name": "-", "kind": "-", "type": "-", "exclude_from_results": "-", "requests": "--warmup-request-count",
		"duration": "--warmup-duration", "sessions": "--num-warmup-sessions", "concurrency": "--warmup-concurrency",
		"rate": "--warmup-request-rate", "grace_period": "--warmup-grace-period",
		"prefill_concurrency": "--warmup-prefill-concurrency",
		"concurrency_ramp":    "--warmup-concurrency-ramp-duration",
		"rate_ramp":           "--warmup-request-rate-ramp-duration",
	})
}

func measuredPhase(n *source.Node) (all []setting) {
	wanted := phaseOptions()
	kind := "concurrency"
	if t := n.Get("type"); t != nil {
		kind = t.Text
		flag := *t
		flag.Text, flag.Tag = "true", "!!bool"
		switch kind {
		case "constant", "poisson", "gamma":
			all = append(all, setting{"phases.type", "--arrival-pattern", t})
		case "fixed_schedule":
			all = append(all, setting{"phases.type", "--fixed-schedule", &flag})
		}
	}
	if kind == "user_centric" {
		wanted["rate"] = "--user-centric-rate"
	}
	return append(all, pathsOf(n, wanted)...)
}

// phaseOptions returns the options of a measured phase by its keys.
func phaseOptions() map[string]string {
	return map[string]string{
		"name": "-", "kind": "-", "type": "-", "exclude_from_results": "-", "concurrency": "--concurrency",
		"rate": "--request-rate", "requests": "--request-count", "sessions": "--num-sessions",
		"duration": "--benchmark-duration", "grace_period": "--benchmark-grace-period", "users": "--num-users",
		"smoothness": "--arrival-smoothness", "concurrency_ramp": "--concurrency-ramp-duration",
		"rate_ramp": "--request-rate-ramp-duration", "prefill_concurrency": "--prefill-concurrency",
		"prefill_ramp": "--prefill-concurrency-ramp-duration", "cancellation.rate": "--request-cancellation-rate",
		"cancellation.delay": "--request-cancellation-delay", "auto_offset": "--fixed-schedule-auto-offset",
		"start_offset": "--fixed-schedule-start-offset", "end_offset": "--fixed-schedule-end-offset",
		"failed_request_threshold": "--failed-request-threshold",
	}
}

// sweepSettings returns the lists of a grid.
func sweepSettings(n *source.Node) (all []setting) {
	kind, parameters := n.Get("type"), n.Get("parameters")
	if parameters == nil || kind != nil && kind.Text != "grid" {
		return []setting{{path: "sweep", node: n}}
	}
	options := phaseOptions()
	for _, e := range parameters.Entries {
		key := snake(e.Key)
		if at := strings.LastIndex(key, "."); strings.HasPrefix(key, "phases.") {
			key = key[at+1:]
		}
		option := options[key]
		switch {
		case strings.Contains(key, "prompts.isl"):
			option = "--synthetic-input-tokens-mean"
		case strings.Contains(key, "prompts.osl"):
			option = "--output-tokens-mean"
		}
		var text []string
		for _, item := range e.Value.Items {
			text = append(text, item.Text)
		}
		list := &source.Node{Kind: source.Scalar, Pos: e.Value.Pos, Text: strings.Join(text, ",")}
		all = append(all, setting{"sweep.parameters." + e.Key, option, list})
	}
	return all
}
