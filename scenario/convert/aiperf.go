package convert

// aiperf holds the options of AIPerf that its rules work on.
type aiperf struct {
	*llm
	kind, endpoint, key       string
	mode, reuse               string
	input, dataset, public    string
	noSchedule, autoOffset    bool
	closed, strict            bool
	idleGap, turnGap          float64
	startOffset, endOffset    float64
	smoothness                float64
	cacheBust                 string
	prefixLength              int64
	imageBatch, audioBatch    int64
	rates, depths             []float64
	channels                  int64
	audioFormat               string
	tokenizer, revision       string
	delayRatio                float64
	requests, durations       []float64
	sessionCounts, users      []float64
	ramp, rateRamp            float64
	reset, profiler           bool
	resetPath                 string
	profilerStart             string
	grace                     string
	dir, prefix               string
	serverMetrics, gpuMetrics []string
	speedup, replaySpeedup    float64
	serverCounts              bool
	legacyTokens              bool
	level                     string
	waitFor                   float64
}

// table lists every option of `aiperf profile`. Building it sets AIPerf's defaults.
func (c *aiperf) table() []section {
	sections := c.requestTable()
	sections = append(sections, c.dataTable()...)
	sections = append(sections, c.loadTable()...)
	return append(sections, c.outputTable()...)
}

func (c *aiperf) requestTable() []section {
	s := &c.server
	return []section{
		{"Endpoint", []row{
			{"-m, --model, --model-names NAME...", "target.model; of several, a mix", more(&s.models)},
			{
				"--model-selection-strategy round_robin|random|weighted", "mix: in turn, or drawn with weights",
				word(&c.mode, "round_robin"),
			},
			{"--endpoint-type KIND", "target.backend and endpoint", text(&c.kind)},
			{"--endpoint, --custom-endpoint PATH", "target.path", text(&c.endpoint)},
			{"--streaming [true|false]", "target.streaming", boolean(&s.streaming)},
			{"-u, --url URL...", "target.url; of several, targets and a mix", more(&s.urls)},
			{"--url-strategy round_robin", "nothing: several servers are asked in turn", ignore},
			{"--request-timeout-seconds S", "target.timeout", real(&s.timeout, 0, 0)},
			{"--wait-for-model-timeout S", "target.ready", real(&c.waitFor, 0, 0)},
			{
				"--wait-for-model-mode MODE",
				"nothing: health endpoints are asked, and one request is sent before the clock starts",
				ignore,
			},
			{"--wait-for-model-interval S", "nothing: readiness is asked for again at once", ignore},
			{"--reset-kv-cache", "before: [{call: …}]", flag(&c.reset)},
			{"--reset-kv-cache-path PATH", "the path of that call", text(&c.resetPath)},
			{"--reset-kv-cache-timeout-seconds S", "no equal: a call of `before` has the target's timeout", ignore},
			{"--server-profiler", "before and after: [{call: …}]", flag(&c.profiler)},
			{"--server-profiler-start-path PATH", "the path of that call", text(&c.profilerStart)},
			{"--server-profiler-stop-path PATH", "the path of that call", text(&s.profilerStop)},
			{"--server-profiler-timeout-seconds S", "no equal: a call of `before` has the target's timeout", ignore},
			{"--api-key KEY", "target.headers: Authorization", text(&c.key)},
			{"--transport, --transport-type KIND", "nothing: the scheme of target.url says it", ignore},
			{"--use-legacy-max-tokens", "nothing: the limit is named as the server takes it", flag(&c.legacyTokens)},
			{"--use-server-token-count", "nothing: the server's usage counts", flag(&c.serverCounts)},
			{
				"--connection-reuse-strategy pooled|never|sticky-user-sessions", "target.connections",
				word(&c.reuse, "pooled"),
			},
			{"--download-video-content", "no equal: there are no videos", ignore},
			{"--request-content-type TYPE", "no equal: bodies are JSON", ignore},
			{"--session-header NAME", "no equal: no header names a session", ignore},
			{"--uuid-and-strip", "no equal: images are sent whole", ignore},
			{"--extra-inputs NAME:VALUE...", "target.parameters", c.extra},
			{"-H, --header NAME:VALUE...", "target.headers", s.header(":")},
		}},
		{"Tokenizer", []row{
			{
				"--tokenizer NAME|PATH|builtin",
				"target.tokenizer: a tokenizer.json, here or in the cache of Hugging Face",
				text(&c.tokenizer),
			},
			{"--tokenizer-revision NAME", "which of the cache's revisions", text(&c.revision)},
			{"--tokenizer-trust-remote-code", "nothing: a plan runs no code of a tokenizer", ignore},
			{"--apply-chat-template", "no equal: prompts are as long as asked for without the template", ignore},
			{"--tokenize-output", "nothing: the server's usage counts the tokens of answers", ignore},
		}},
	}
}

func (c *aiperf) dataTable() []section {
	p, e, l := &c.prompts, &c.extent, &c.load
	return []section{
		{"Input", []row{
			{"--input-file PATH", "data.file", text(&c.input)},
			{"--custom-dataset-type KIND", "data.format", text(&c.dataset)},
			{"--public-dataset NAME", "no equal: download it, and name its file with --input-file", text(&c.public)},
			{"--hf-subset NAME", "no equal: nothing is downloaded", ignore},
			{"--hf-weka-dataset NAME", "no equal: nothing is downloaded", ignore},
			{"--dataset-filter KEY=VALUE...", "no equal: filter the rows before", ignore},
			{"--dataset-sampling-strategy sequential|random|shuffle", "data.order", word(&p.order, "")},
			{"--allow-dataset-wrap [true|false]", "nothing: data begins again at its end", ignore},
			{"--no-allow-dataset-wrap", "no equal: data begins again at its end", ignore},
			{"--random-seed N", "seed", whole(&p.seed, 0, 0)},
			{
				"--ignore-trace-delays", "nothing: a load other than `schedule` does not read the times",
				flag(&c.noSchedule),
			},
			{"--use-think-time-only", "no equal: it is for traces of Weka", ignore},
			{"--max-context-length N", "no equal: it is for traces of Weka", ignore},
			{"--trace-session-sample-ratio R", "data.sample", real(&p.sample, 0, 0)},
			{"--inter-turn-delay-cap-seconds S", "data.idle_cap", real(&c.turnGap, 0, 0)},
			{"--max-idle-gap-cap-seconds S", "data.idle_cap", real(&c.idleGap, 0, 0)},
			{"--trace-idle-gap-cap-seconds S", "no equal: data.idle_cap cuts long gaps between turns", ignore},
			{"--system-idle-gap-cap-seconds S", "no equal: data.idle_cap cuts long gaps between turns", ignore},
			{"--open-loop-replay [true|false]", "nothing: turns are due at their recorded times", ignore},
			{"--no-open-loop-replay", "data.timing: closed", flag(&c.closed)},
			{"--open-loop-strict", "data.timing: strict", flag(&c.strict)},
			{"--omit-kv-hints", "nothing: hashes of blocks are not sent", ignore},
			{"--force-min-tokens [true|false]", "no equal: of recorded lengths the largest is asked for", ignore},
			{"--no-force-min-tokens", "nothing: no smallest length is asked for", ignore},
			{"-f, --config, --config-file FILE", "nothing: each of its settings is an option", ignore},
		}},
		{"Fixed schedule", []row{
			{"--fixed-schedule [true|false]", "load.schedule", boolean(&l.schedule)},
			{"--no-fixed-schedule", "another load", flag(&c.noSchedule)},
			{"--fixed-schedule-auto-offset", "nothing: the first row is sent at once", flag(&c.autoOffset)},
			{"--fixed-schedule-start-offset MS", "load.schedule.from", real(&c.startOffset, 0, 0)},
			{"--fixed-schedule-end-offset MS", "load.schedule.to", real(&c.endOffset, 0, 0)},
			{"--synthesis-speedup-ratio R", "load.schedule.speed", real(&c.speedup, 0, 0)},
			{"--replay-speedup R", "load.schedule.speed", real(&c.replaySpeedup, 0, 0)},
			{"--synthesis-prefix-len-multiplier R", "no equal: lengths of a trace are as recorded", ignore},
			{"--synthesis-prefix-root-multiplier N", "no equal: prefixes of a trace are as recorded", ignore},
			{"--synthesis-prompt-len-multiplier R", "no equal: lengths of a trace are as recorded", ignore},
			{"--synthesis-output-len-multiplier R", "no equal: lengths of a trace are as recorded", ignore},
			{"--synthesis-max-isl N", "no equal: leave the longer rows out of the file", ignore},
			{"--synthesis-max-osl N", "no equal: lengths of a trace are as recorded", ignore},
		}},
		{"Prompts", []row{
			{"--num-dataset-entries, --num-prompts N", "data.prompts.count", whole(&p.count, 100, 1)},
			{
				"--synthetic-input-tokens-mean, --prompt-input-tokens-mean, --isl N[,N...]", "data.prompts.input_tokens",
				wholes(&p.inputs, 0),
			},
			{
				"--synthetic-input-tokens-stddev, --prompt-input-tokens-stddev, --isl-stddev N",
				"data.prompts.input_tokens.std", integral(&p.input.std, 0, 0),
			},
			{
				"--synthetic-input-tokens-block-size, --prompt-input-tokens-block-size, --isl-block-size N",
				"no equal: blocks have the size of the trace's format", ignore,
			},
			{"--sequence-distribution, --seq-dist PAIRS", "data.prompts.lengths", c.takePairs},
			{
				"--output-tokens-mean, --prompt-output-tokens-mean, --osl N[,N...]", "data.prompts.output_tokens",
				wholes(&p.outputs, 0),
			},
			{
				"--output-tokens-stddev, --prompt-output-tokens-stddev, --osl-stddev N", "data.prompts.output_tokens.std",
				integral(&p.output.std, 0, 0),
			},
			{"-b, --batch-size-text, --prompt-batch-size, --batch-size N", "batch", whole(&p.batch, 1, 0)},
			{"--prompt-corpus sonnet|coding", "no equal: data.prompts.corpus names a file", ignore},
			{
				"--cache-bust none|system_prefix|system_suffix|first_turn_prefix|first_turn_suffix",
				"nothing: written prompts differ between stages, levels, repeats and warm-up; rows of files are sent as they are",
				text(&c.cacheBust),
			},
			{
				"--num-prefix-prompts, --prompt-prefix-pool-size, --prefix-prompt-pool-size N",
				"data.prompts.prefixes.count", whole(&p.prefixes, 0, 0),
			},
			{
				"--prefix-prompt-length, --prompt-prefix-length N", "data.prompts.prefixes.tokens",
				whole(&c.prefixLength, 0, 0),
			},
			{"--shared-system-prompt-length N", "data.prompts.system", whole(&p.system, 0, 1)},
			{"--user-context-prompt-length N", "data.prompts.context", whole(&p.context, 0, 1)},
			{"--image-batch-size, --batch-size-image N", "data.prompts.images.count", whole(&c.imageBatch, 1, 0)},
			{"--image-width-mean N", "data.prompts.images.width", integral(&p.width.mean, 0, 0)},
			{"--image-width-stddev N", "data.prompts.images.width.std", integral(&p.width.std, 0, 0)},
			{"--image-height-mean N", "data.prompts.images.height", integral(&p.height.mean, 0, 0)},
			{"--image-height-stddev N", "data.prompts.images.height.std", integral(&p.height.std, 0, 0)},
			{"--image-format png|jpeg|random", "data.prompts.images.format", fold(word(&p.imageFormat, ""))},
			{"--image-source KIND", "no equal: images are noise", ignore},
			{"--image-source-sampling KIND", "no equal: images are noise", ignore},
			{
				"--audio-batch-size, --batch-size-audio N", "no equal: each prompt has one audio",
				whole(&c.audioBatch, 1, 0),
			},
			{"--audio-length-mean S", "data.prompts.audio.seconds", real(&p.seconds.mean, 0, 0)},
			{"--audio-length-stddev S", "data.prompts.audio.seconds.std", real(&p.seconds.std, 0, 0)},
			{"--audio-format wav|mp3", "data.prompts.audio.format: wav alone", fold(word(&c.audioFormat, "wav"))},
			{"--audio-depths BITS...", "no equal: audio has 16 bits", list(&c.depths, 1)},
			{"--audio-sample-rates KHZ...", "data.prompts.audio.sample_rate: one", list(&c.rates, 0.001)},
			{"--audio-num-channels 1|2", "no equal: audio has one channel", whole(&c.channels, 1, 1)},
			{"--video-batch-size, --batch-size-video N", "no equal: there are no videos", ignore},
			{"--video-duration S", "no equal: there are no videos", ignore},
			{"--video-fps N", "no equal: there are no videos", ignore},
			{"--video-width N", "no equal: there are no videos", ignore},
			{"--video-height N", "no equal: there are no videos", ignore},
			{"--video-synth-type KIND", "no equal: there are no videos", ignore},
			{"--video-format KIND", "no equal: there are no videos", ignore},
			{"--video-codec KIND", "no equal: there are no videos", ignore},
			{"--video-audio-sample-rate N", "no equal: there are no videos", ignore},
			{"--video-audio-num-channels N", "no equal: there are no videos", ignore},
			{"--video-audio-codec KIND", "no equal: there are no videos", ignore},
			{"--video-audio-depth N", "no equal: there are no videos", ignore},
			{"--rankings-passages-mean N", "no equal: rows of a file have the passages of each query", ignore},
			{"--rankings-passages-stddev N", "no equal: rows of a file have the passages of each query", ignore},
			{
				"--rankings-passages-prompt-token-mean N", "no equal: rows of a file have the passages of each query",
				ignore,
			},
			{
				"--rankings-passages-prompt-token-stddev N", "no equal: rows of a file have the passages of each query",
				ignore,
			},
			{"--rankings-query-prompt-token-mean N", "no equal: rows of a file have the queries", ignore},
			{"--rankings-query-prompt-token-stddev N", "no equal: rows of a file have the queries", ignore},
		}},
		{"Sessions", []row{
			{
				"--num-sessions, --conversation-num, --num-conversations N[,N...]",
				"data.prompts.count, and for: N sessions",
				wholes(&c.sessionCounts, 1),
			},
			{"--session-turns-mean, --conversation-turn-mean N", "data.prompts.turns", integral(&p.turns.mean, 1, 0)},
			{
				"--session-turns-stddev, --conversation-turn-stddev N", "data.prompts.turns.std",
				integral(&p.turns.std, 0, 0),
			},
			{
				"--session-turn-delay-mean, --conversation-turn-delay-mean MS", "data.prompts.delay",
				real(&p.delay.mean, 0, 0),
			},
			{
				"--session-turn-delay-stddev, --conversation-turn-delay-stddev MS", "data.prompts.delay.std",
				real(&p.delay.std, 0, 0),
			},
			{
				"--session-delay-ratio, --conversation-turn-delay-ratio R", "data.prompts.delay, times this",
				real(&c.delayRatio, 1, 0),
			},
			{"--goodput METRIC:VALUE...", "goodput", c.goal(goals())},
			{"--failed-request-threshold R", "assert: errors.ratio", real(&e.failures, 0, 0)},
		}},
	}
}
