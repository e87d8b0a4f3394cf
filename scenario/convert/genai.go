package convert

import "github.com/sluice-bench/sluice/scenario/metric"

// genai holds the options of GenAI-Perf that its rules work on.
type genai struct {
	*llm
	passed *command // the options after --, which are perf_analyzer's

	kind, service, backend string // --endpoint-type, --service-kind, --backend
	endpoint               string
	analyze                bool // the subcommand
	sweep, sweepRange      string
	sweepList              []float64
	axes                   []sweptAxis
	interval               float64
	prefixLength           int64
	imageBatch, audioBatch int64
	rates, depths          []float64 // of audio: kHz, bits
	channels               int64
	audioFormat            string
	revision, tokenizer    string
	delayRatio             float64
	dir, export            string
	input                  string
	sessionRate            float64
	mode                   string
}

// goals are the names of GenAI-Perf's and AIPerf's metrics of single requests, with those that GenAI-Perf
// had before, and a plan's; "" where it has none.
func goals() map[string]string {
	return map[string]string{
		"time_to_first_token": metric.TTFT, "time_to_first_tokens": metric.TTFT, "ttft": metric.TTFT,
		"time_to_second_token": metric.TTST, "time_to_second_tokens": metric.TTST,
		"request_latency": metric.Latency, "request_latencies": metric.Latency,
		"inter_token_latency": metric.ITL, "inter_token_latencies": metric.ITL, "itl": metric.ITL,
		"output_token_throughput_per_user":     metric.TokensPerUser,
		"output_token_throughputs_per_user":    metric.TokensPerUser,
		"output_token_throughputs_per_request": metric.TokensPerUser,
		"time_to_first_output_token":           metric.TTFTAnswer,
		// no equal
		"output_sequence_length": "", "input_sequence_length": "", "output_token_count": "",
		"reasoning_token_count": "",
		"inter_chunk_latency":   "", "e2e_output_token_throughput": "", "prefill_throughput_per_user": "",
	}
}

// table lists every option of GenAI-Perf's subcommands profile and analyze, up to its last version, with
// those that earlier versions had. Building it sets GenAI-Perf's defaults.
func (c *genai) table() []section {
	s, p, l, e := &c.server, &c.prompts, &c.load, &c.extent
	const chosen = "chat|completions|embeddings|rankings|multimodal|vision|image_retrieval|nvclip|generate|" +
		"kserve|huggingface_generate|template|tensorrtllm_engine|dynamic_grpc"
	return []section{
		{"Endpoint", []row{
			{"-m, --model NAME...", "target.model; of several, a mix", more(&s.models)},
			{
				"--model-selection-strategy round_robin|random", "mix: in turn, or drawn with weights",
				word(&c.mode, "round_robin"),
			},
			{"--endpoint-type " + chosen, "target.backend and endpoint", word(&c.kind, "")},
			{
				"--service-kind triton|openai|tensorrtllm_engine|dynamic_grpc", "target.backend (old)",
				word(&c.service, ""),
			},
			{"--backend tensorrtllm|vllm", "target.endpoint, for Triton", word(&c.backend, "")},
			{"--endpoint PATH", "target.path", text(&c.endpoint)},
			{"--streaming [true|false]", "target.streaming", boolean(&s.streaming)},
			{"-u, --url URL", "target.url", more(&s.urls)},
			{"-H, --header NAME:VALUE", "target.headers", s.header(":")},
			{"--grpc-method PACKAGE.SERVICE/METHOD", "target.method", text(&s.method)},
			{
				"--server-metrics-url, --server-metrics-urls URL...", "target.metrics of a DCGM exporter",
				more(&s.metrics),
			},
		}},
		{"Input", []row{
			{"-b, --batch-size-text, --batch-size N", "batch", whole(&p.batch, 1, 1)},
			{"--batch-size-image N", "data.prompts.images.count", whole(&c.imageBatch, 1, 0)},
			{"--batch-size-audio N", "no equal: each prompt has one audio", whole(&c.audioBatch, 1, 0)},
			{"--extra-inputs NAME:VALUE...", "target.parameters", c.extra},
			{"-g, --goodput METRIC:VALUE...", "goodput", c.goal(goals())},
			{"--input-file PATH", "data.file", text(&c.input)},
			{
				"--input-dataset openorca|cnn_dailymail",
				"no equal: download the texts and name their file with --input-file",
				ignore,
			},
			{"--num-dataset-entries, --num-prompts N", "data.prompts.count", whole(&p.count, 100, 1)},
			{"--num-prefix-prompts N", "data.prompts.prefixes.count", whole(&p.prefixes, 0, 0)},
			{"--prefix-prompt-length N", "data.prompts.prefixes.tokens", whole(&c.prefixLength, 100, 0)},
			{"--synthetic-input-tokens-mean, --isl N", "data.prompts.input_tokens", integral(&p.input.mean, 550, 0)},
			{"--synthetic-input-tokens-stddev N", "data.prompts.input_tokens.std", integral(&p.input.std, 0, 0)},
			{"--output-tokens-mean, --osl N", "data.prompts.output_tokens", integral(&p.output.mean, -1, -1)},
			{"--output-tokens-stddev N", "data.prompts.output_tokens.std", integral(&p.output.std, 0, 0)},
			{"--output-tokens-mean-deterministic", "data.prompts.exact_output", flag(&p.exact)},
			{"--random-seed N", "seed", whole(&p.seed, 0, 0)},
			{"--image-width-mean N", "data.prompts.images.width", integral(&p.width.mean, 0, 0)},
			{"--image-width-stddev N", "data.prompts.images.width.std", integral(&p.width.std, 0, 0)},
			{"--image-height-mean N", "data.prompts.images.height", integral(&p.height.mean, 0, 0)},
			{"--image-height-stddev N", "data.prompts.images.height.std", integral(&p.height.std, 0, 0)},
			{"--image-format png|jpeg", "data.prompts.images.format", fold(word(&p.imageFormat, ""))},
			{"--audio-length-mean S", "data.prompts.audio.seconds", real(&p.seconds.mean, 0, 0)},
			{"--audio-length-stddev S", "data.prompts.audio.seconds.std", real(&p.seconds.std, 0, 0)},
			{"--audio-format wav|mp3", "data.prompts.audio.format: wav alone", fold(word(&c.audioFormat, "wav"))},
			{"--audio-depths BITS...", "no equal: audio has 16 bits", list(&c.depths, 1)},
			{"--audio-sample-rates KHZ...", "data.prompts.audio.sample_rate: one", list(&c.rates, 0.001)},
			{"--audio-num-channels 1|2", "no equal: audio has one channel", whole(&c.channels, 1, 1)},
		}},
		{"Sessions", []row{
			{"--num-sessions N", "data.prompts.count, and for: N sessions", integral(&e.sessions, 0, 0)},
			{"--session-concurrency N", "load.concurrency", list(&l.concurrency, 1)},
			{"--session-request-rate R", "load.rate of sessions", real(&c.sessionRate, 0, 0)},
			{"--session-turns-mean N", "data.prompts.turns", integral(&p.turns.mean, 1, 0)},
			{"--session-turns-stddev N", "data.prompts.turns.std", integral(&p.turns.std, 0, 0)},
			{"--session-turn-delay-mean MS", "data.prompts.delay", real(&p.delay.mean, 0, 0)},
			{"--session-turn-delay-stddev MS", "data.prompts.delay.std", real(&p.delay.std, 0, 0)},
			{"--session-delay-ratio R", "data.prompts.delay, times this", real(&c.delayRatio, 1, 0)},
		}},
		{"Profiling", []row{
			{"--concurrency N", "load.concurrency", list(&l.concurrency, 1)},
			{"--request-rate R", "load.rate", list(&l.rates, 0)},
			{"--fixed-schedule [true|false]", "load.schedule", boolean(&l.schedule)},
			{"-p, --measurement-interval MS", "until.stable.window", real(&c.interval, 10000, 1)},
			{"-s, --stability-percentage PERCENT", "until.stable.within", real(&e.stability, 999, 1)},
			{"--request-count, --num-requests N", "for: N requests", integral(&e.requests, 0, 1)},
			{"--warmup-request-count, --num-warmup-requests N", "warmup: N requests", integral(&e.warmup, 0, 0)},
		}},
		{"Analyze", []row{
			{
				"--sweep-type concurrency|request_rate|input_sequence_length|batch_size|num_dataset_entries",
				"levels of the load, or a matrix over datasets", word(&c.sweep, "concurrency"),
			},
			{"--sweep-range MIN:MAX[:STEP]", "its values", c.takeRange},
			{"--sweep-list N[,N...]", "its values", wholes(&c.sweepList, 1)},
		}},
		{"Output", []row{
			{"--artifact-dir DIR", "--run writes its files there", text(&c.dir)},
			{
				"--profile-export-file FILE", "output.formats: profile_export, genai_perf; --run writes FILE",
				text(&c.export),
			},
			{"--generate-plots", "no equal: `sluice compare` draws the plots of one run or of several afterwards", ignore},
			{"--checkpoint-dir DIR", "nothing: a run has one folder for all that it measures", ignore},
			{"--enable-checkpointing", "no equal: a run that was interrupted begins anew", ignore},
			{"-v, --verbose", "nothing: every number is in result.json", ignore},
			{"-h, --help", "this text", flag(&c.help.usage)},
			{"--version", "the version of sluice", flag(&c.help.version)},
		}},
		{"Tokenizer", []row{
			{
				"--tokenizer NAME|PATH", "target.tokenizer: a tokenizer.json, here or in the cache of Hugging Face",
				text(&c.tokenizer),
			},
			{"--tokenizer-revision NAME", "which of the cache's revisions", text(&c.revision)},
			{"--tokenizer-trust-remote-code", "nothing: a plan runs no code of a tokenizer", ignore},
		}},
		{"Settings", []row{
			{"-f, --file, --config FILE", "nothing: each of its settings is an option", ignore},
			{"--override-config", "nothing: options go before those of the file", ignore},
		}},
	}
}
