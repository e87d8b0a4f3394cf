package convert

import "maps"

// reasons holds, for the options of a tool that are not always a line of the plan, why they are none where
// they were given and no other part of the plan names them. A sentence covers every such case: a value that
// is the tool's own without the option, and options beside it that leave it without effect. What matters
// and has no equal is named before, with its own words.
func reasons(program string) map[string]string {
	switch program {
	case "perf_analyzer":
		return perfAnalyzerReasons
	case "genai-perf":
		return with(llmReasons, genaiReasons)
	case "aiperf":
		return with(llmReasons, aiperfReasons)
	}
	return with(llmReasons, vllmReasons)
}

func with(shared, own map[string]string) map[string]string {
	all := maps.Clone(shared)
	maps.Copy(all, own)
	return all
}

var perfAnalyzerReasons = map[string]string{
	"-b":                                  "one row is in a request without it too",
	"--latency-threshold":                 "0 is no limit",
	"--measurement-mode":                  "windows have a duration without it too",
	"--measurement-interval":              "the windows are counts of requests",
	"--measurement-request-count":         "the windows have a duration",
	"--warmup-request-count":              "0 is no warm-up",
	"--shared-memory":                     "none is used without it too",
	"--input-tensor-format":               "tensors are binary without it too",
	"--output-tensor-format":              "tensors are binary without it too",
	"--grpc-compression-algorithm":        "nothing is compressed without it too",
	"--request-distribution":              "gaps are constant without it too",
	"--model-repository":                  "it is for --service-kind triton_c_api",
	"--triton-server-directory":           "it is for --service-kind triton_c_api",
	"--proto":                             "it is for --service-kind dynamic_grpc",
	"--metrics-url":                       "it is for --collect-metrics",
	"--metrics-interval":                  "it is for --collect-metrics",
	"--ssl-grpc-use-ssl":                  "the scheme of -u says it",
	"--ssl-https-verify-peer":             "servers are verified without it too, and only over https",
	"--ssl-https-verify-host":             "servers are verified without it too, and only over https",
	"--ssl-https-private-key-file":        "the protocol is gRPC",
	"--ssl-grpc-private-key-file":         "the protocol is HTTP",
	"--ssl-https-ca-certificates-file":    "the protocol is gRPC",
	"--ssl-https-client-certificate-file": "the protocol is gRPC",
	"--ssl-grpc-root-certifications-file": "the protocol is HTTP",
	"--ssl-grpc-certificate-chain-file":   "the protocol is HTTP",
}

// llmReasons are those of options that several tools have.
var llmReasons = map[string]string{
	"--batch-size-text":           "one text is in a request without it too",
	"--model-selection-strategy":  "there is one model",
	"--num-dataset-entries":       "the data comes from a file",
	"--num-prefix-prompts":        "without a number and a length there are no prefixes",
	"--prefix-prompt-length":      "without a number and a length there are no prefixes",
	"--num-profile-runs":          "one run is usual",
	"--num-sessions":              "0 is no number of sessions",
	"--output-tokens-mean":        "0 leaves the length of answers to the server",
	"--output-tokens-stddev":      "answers have one length without it too",
	"--session-turns-mean":        "a session has one turn without it too",
	"--session-turns-stddev":      "a session has as many turns without it too",
	"--session-turn-delay-mean":   "there is no delay between turns",
	"--session-turn-delay-stddev": "there is no delay between turns",
	"--session-delay-ratio":       "there is no delay between turns",
	"--warmup-request-count":      "0 is no warm-up",
	"--streaming":                 "answers are no streams without it too",
	"--tokenizer":                 "the server's usage counts the tokens",
	"--stability-percentage":      "a number of requests is measured, without windows",
}

var genaiReasons = map[string]string{
	"--fixed-schedule":       "no schedule is replayed without it too",
	"--session-concurrency":  "each row is sent at its time",
	"--session-request-rate": "0 is no rate",
	"--request-rate":         "0 is no rate",
	"--request-count":        "every session is played once",
}

var aiperfReasons = map[string]string{
	"--arrival-pattern":              "gaps are constant without it, or there is no request rate",
	"--arrival-smoothness":           "it is for a request rate with gamma arrivals",
	"--benchmark-duration":           "0 is no duration",
	"--benchmark-grace-period":       "it is for --benchmark-duration: else the run ends with its last request",
	"--concurrency-ramp-duration":    "0 is no ramp",
	"--request-rate-ramp-duration":   "there is no request rate, or no ramp of it",
	"--request-rate":                 "0 is no rate",
	"--fixed-schedule":               "--no-fixed-schedule goes before it, and without it there is none too",
	"--no-fixed-schedule":            "nothing else says a schedule",
	"--fixed-schedule-start-offset":  "there is no schedule, or it begins with its first row",
	"--fixed-schedule-end-offset":    "there is no schedule, or it ends with its last row",
	"--synthesis-speedup-ratio":      "there is no schedule, or it is replayed as it was recorded",
	"--replay-speedup":               "there is no schedule, or it is replayed as it was recorded",
	"--inter-turn-delay-cap-seconds": "there is no file with recorded times, or no gap is cut",
	"--max-idle-gap-cap-seconds":     "there is no file with recorded times, or no gap is cut",
	"--no-open-loop-replay":          "there is no file with recorded times",
	"--open-loop-strict":             "there is no file with recorded times",
	"--trace-session-sample-ratio":   "there is no file, or all of its sessions are played",
	"--dataset-sampling-strategy":    "prompts are generated, each once",
	"--num-users":                    "it is for --user-centric-rate",
	"--user-centric-rate":            "0 is no rate",
	"--num-warmup-sessions":          "0 is no warm-up",
	"--warmup-duration":              "0 is no warm-up",
	"--request-cancellation-rate":    "0 cancels no request",
	"--request-cancellation-delay":   "no request is cancelled",
	"--connection-reuse-strategy":    "connections are kept without it too",
	"--reset-kv-cache-path":          "it is for --reset-kv-cache",
	"--server-profiler-start-path":   "it is for --server-profiler",
	"--server-profiler-stop-path":    "it is for --server-profiler",
	"--wait-for-model-timeout":       "0 does not wait: one request is sent before the clock starts",
	"--sequence-distribution":        "the data comes from a file",
}

var vllmReasons = map[string]string{
	"--burstiness":                       "there is no request rate",
	"--custom-output-len":                "it is for --dataset-name custom; -1 leaves lengths to the rows",
	"--sharegpt-output-len":              "it is for --dataset-name sharegpt",
	"--hf-output-len":                    "it is for --dataset-name hf",
	"--sonnet-input-len":                 "it is for --dataset-name sonnet",
	"--sonnet-output-len":                "it is for --dataset-name sonnet",
	"--sonnet-prefix-len":                "it is for --dataset-name sonnet, and 0 is no prefix",
	"--random-input-len":                 "it is for --dataset-name random",
	"--random-output-len":                "it is for --dataset-name random",
	"--random-range-ratio":               "it is for --dataset-name random",
	"--random-prefix-len":                "it is for --dataset-name random, and 0 is no prefix",
	"--random-batch-size":                "one text is in a request without it too",
	"--random-mm-bucket-config":          "it is for --dataset-name random-mm",
	"--random-mm-base-items-per-request": "it is for --dataset-name random-mm",
	"--prefix-repetition-prefix-len":     "it is for --dataset-name prefix_repetition",
	"--prefix-repetition-suffix-len":     "it is for --dataset-name prefix_repetition",
	"--prefix-repetition-num-prefixes":   "it is for --dataset-name prefix_repetition",
	"--prefix-repetition-output-len":     "it is for --dataset-name prefix_repetition",
	"--input-len":                        "rows of a file are as long as they are",
	"--output-len":                       "answers have no length, or rows have their own",
	"--dataset-path":                     "prompts are generated",
	"--disable-shuffle":                  "prompts are generated, or sent in their order without it too",
	"--ignore-eos":                       "there are no answers that could go on",
	"--lora-assignment":                  "it is for --lora-modules",
	"--max-concurrency":                  "there is no limit without it too",
	"--num-warmups":                      "0 is no warm-up",
	"--no-self-timed":                    "it is for --dataset-name timed_trace",
	"--self-timed":                       "it is for --dataset-name timed_trace, without --no-self-timed",
	"--ramp-up-start-rps":                "it is for --ramp-up-strategy",
	"--ramp-up-end-rps":                  "it is for --ramp-up-strategy",
	"--ready-check-timeout-sec":          "0 does not wait: one request is sent before the clock starts",
	"--request-rate":                     "the ramp, or the times of the rows, say when requests are sent",
	"--metric-percentiles":               "the usual percentiles are written",
	"--insecure":                         "it is for https",
}
