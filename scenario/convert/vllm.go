package convert

import (
	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// vllm holds the options of `vllm bench serve` that its rules work on.
type vllm struct {
	*llm
	backend, baseURL, host, endpoint             string
	port                                         int64
	served, assignment                           string
	lora                                         []string
	dataset, path                                string
	tokenizer                                    string
	prompts_, inputLen, outputLen                float64
	randomIn, randomOut, randomRange, randomPref float64
	sonnetIn, sonnetOut, sonnetPrefix            float64
	sharegptOut, customOut, hfOut                float64
	prefixLen, suffixLen, numPrefixes, prefixOut float64
	itemsPerRequest                              float64
	buckets                                      string
	rate                                         string
	burstiness, probeRate                        float64
	maxConcurrency                               float64
	strategy                                     string
	startRPS, endRPS                             float64
	ignoreEOS, noShuffle, selfTimed, noSelfTimed bool
	percentileList                               []float64
	save, profile, beam, noTokenizer             bool
	dir, file                                    string
	sampling                                     []pair
}

// field returns the taker of a sampling parameter.
func (c *vllm) field(name string) func(given) {
	return func(g given) {
		if v, ok := g.number(g.value, -1e9); ok {
			set(&c.sampling, pair{name, plantext.Decimal(v)}, func(a, b string) bool { return a == b })
		}
	}
}

// table lists every option of `vllm bench serve`, and of benchmark_serving.py before it. Building it sets
// vLLM's defaults.
func (c *vllm) table() []section {
	return append(c.serverTable(), c.workTable()...)
}

func (c *vllm) serverTable() []section {
	s, p := &c.server, &c.prompts
	return []section{
		{"Server", []row{
			{"--backend, --endpoint-type NAME", "target.backend and endpoint", text(&c.backend)},
			{"--base-url URL", "target.url", text(&c.baseURL)},
			{"--host HOST", "target.url", text(&c.host)},
			{"--port N", "target.url", whole(&c.port, 8000, 1)},
			{"--endpoint PATH", "target.endpoint and path", text(&c.endpoint)},
			{"--header NAME=VALUE...", "target.headers", s.header("=")},
			{"--model NAME", "target.model", more(&s.models)},
			{"--served-model-name NAME", "target.model", text(&c.served)},
			{"--lora-modules NAME...", "mix", more(&c.lora)},
			{"--lora-assignment random|round-robin", "mix: with weights, or in turn", word(&c.assignment, "random")},
			{"--insecure", "target.tls.verify", flag(&s.insecure)},
			{"--ready-check-timeout-sec S", "target.ready", real(&s.ready, 0, 0)},
			{"--profile", "before and after: [{call: …}]", flag(&c.profile)},
			{
				"--tokenizer NAME|PATH", "target.tokenizer: a tokenizer.json, here or in the cache of Hugging Face",
				text(&c.tokenizer),
			},
			{"--tokenizer-mode MODE", "nothing: the file says what it is", ignore},
			{"--trust-remote-code", "nothing: a plan runs no code of a tokenizer", ignore},
			{"--skip-tokenizer-init", "nothing: the server's usage counts", flag(&c.noTokenizer)},
			{"--request-id-prefix TEXT", "no equal: requests have no ids of the client", ignore},
		}},
		{"Requests", []row{
			{"--extra-body, --extra-request-body JSON", "target.parameters", c.extra},
			{
				"--chat-template-kwargs JSON",
				"no equal: prompts are not rendered by the client; in rows: chat_template_kwargs",
				ignore,
			},
			{"--temperature V", "target.parameters.temperature", c.field("temperature")},
			{"--top-p V", "target.parameters.top_p", c.field("top_p")},
			{"--top-k V", "target.parameters.top_k", c.field("top_k")},
			{"--min-p V", "target.parameters.min_p", c.field("min_p")},
			{"--frequency-penalty V", "target.parameters.frequency_penalty", c.field("frequency_penalty")},
			{"--presence-penalty V", "target.parameters.presence_penalty", c.field("presence_penalty")},
			{"--repetition-penalty V", "target.parameters.repetition_penalty", c.field("repetition_penalty")},
			{"--logprobs N", "target.parameters.logprobs", c.field("logprobs")},
			{"--best-of N", "target.parameters.best_of", c.field("best_of")},
			{"--use-beam-search", "target.parameters.use_beam_search", flag(&c.beam)},
			{"--ignore-eos", "data.prompts.exact_output", flag(&c.ignoreEOS)},
			{"--seed N", "seed", whole(&p.seed, 0, 0)},
		}},
		{"Data", []row{
			{"--dataset-name NAME", "data", text(&c.dataset)},
			{"--dataset-path, --dataset PATH", "data.file", text(&c.path)},
			{"--num-prompts N", "for: N requests", integral(&c.prompts_, 1000, 1)},
			{"--input-len N", "data.prompts.input_tokens", integral(&c.inputLen, 0, 1)},
			{"--output-len N", "data.prompts.output_tokens", integral(&c.outputLen, 0, 1)},
			{"--random-input-len N", "data.prompts.input_tokens", integral(&c.randomIn, 1024, 1)},
			{"--random-output-len N", "data.prompts.output_tokens", integral(&c.randomOut, 128, 1)},
			{
				"--random-range-ratio R", "data.prompts.input_tokens and output_tokens: min, max",
				real(&c.randomRange, 0, 0),
			},
			{"--random-prefix-len N", "data.prompts.prefixes", integral(&c.randomPref, 0, 0)},
			{"--random-batch-size N", "batch", whole(&p.batch, 1, 1)},
			{"--no-reranker", "no equal: rankings are asked for by their own endpoint", ignore},
			{"--random-mm-base-items-per-request N", "data.prompts.images.count", integral(&c.itemsPerRequest, 1, 0)},
			{"--random-mm-num-mm-items-range-ratio R", "no equal: each prompt has as many images", ignore},
			{"--random-mm-limit-mm-per-prompt JSON", "no equal: each prompt has as many images", ignore},
			{"--random-mm-bucket-config BUCKETS", "data.prompts.images: the largest share", text(&c.buckets)},
			{"--sonnet-input-len N", "data.prompts.input_tokens", integral(&c.sonnetIn, 550, 1)},
			{"--sonnet-output-len N", "data.prompts.output_tokens", integral(&c.sonnetOut, 150, 1)},
			{"--sonnet-prefix-len N", "data.prompts.prefixes", integral(&c.sonnetPrefix, 200, 0)},
			{"--sharegpt-output-len N", "target.parameters.max_tokens", integral(&c.sharegptOut, 0, 1)},
			{"--custom-output-len N", "target.parameters.max_tokens", integral(&c.customOut, 256, -1)},
			{"--custom-skip-chat-template, --skip-chat-template", "nothing: the server has the template", ignore},
			{"--hf-subset NAME", "no equal: nothing is downloaded", ignore},
			{"--hf-split NAME", "no equal: nothing is downloaded", ignore},
			{"--hf-name NAME", "no equal: nothing is downloaded", ignore},
			{"--hf-output-len N", "target.parameters.max_tokens", integral(&c.hfOut, 0, 1)},
			{"--spec-bench-output-len N", "no equal: the data set is not downloaded", ignore},
			{"--spec-bench-category NAME", "no equal: the data set is not downloaded", ignore},
			{"--blazedit-min-distance R", "no equal: the data set is not downloaded", ignore},
			{"--blazedit-max-distance R", "no equal: the data set is not downloaded", ignore},
			{"--asr-max-audio-len-sec S", "no equal: the data set is not downloaded", ignore},
			{"--asr-min-audio-len-sec S", "no equal: the data set is not downloaded", ignore},
			{"--prefix-repetition-prefix-len N", "data.prompts.prefixes.tokens", integral(&c.prefixLen, 256, 1)},
			{"--prefix-repetition-suffix-len N", "data.prompts.input_tokens", integral(&c.suffixLen, 256, 0)},
			{"--prefix-repetition-num-prefixes N", "data.prompts.prefixes.count", integral(&c.numPrefixes, 10, 1)},
			{"--prefix-repetition-output-len N", "data.prompts.output_tokens", integral(&c.prefixOut, 128, 1)},
			{"--no-oversample", "nothing: rows are sent in turn, and again from the first", ignore},
			{"--disable-shuffle", "data.order", flag(&c.noShuffle)},
			{"--random-ids", "nothing: prompts are texts", ignore},
			{"--no-stream", "nothing: nothing is downloaded", ignore},
		}},
	}
}

func (c *vllm) workTable() []section {
	return []section{
		{"Load", []row{
			{"--request-rate R|inf", "load.rate; inf: load.concurrency", text(&c.rate)},
			{"--burstiness B", "load.arrivals: poisson, or cv: 1 / √B", real(&c.burstiness, 1, 0)},
			{
				"--max-concurrency N", "load.concurrency, or load.max_in_flight of a rate",
				integral(&c.maxConcurrency, 0, 1),
			},
			{"--ramp-up-strategy linear|exponential", "load.rate.ramp", word(&c.strategy, "")},
			{"--ramp-up-start-rps R", "load.rate.ramp", real(&c.startRPS, 0, 0)},
			{"--ramp-up-end-rps R", "load.rate.ramp", real(&c.endRPS, 0, 0)},
			{
				"--probe-request-rate R", "no equal: write a stage of short requests beside, under `parallel`",
				real(&c.probeRate, 0, 0),
			},
			{"--num-warmups N", "warmup: N requests", integral(&c.extent.warmup, 0, 0)},
			{"--self-timed", "load.schedule", flag(&c.selfTimed)},
			{"--no-self-timed", "another load", flag(&c.noSelfTimed)},
			{"--goodput METRIC:VALUE...", "goodput", c.goal(map[string]string{
				"ttft": metric.TTFT, "tpot": metric.ITL, "e2el": metric.Latency,
			})},
		}},
		{"Output", []row{
			{"--percentile-metrics NAME[,NAME...]", "nothing: every metric has its percentiles", ignore},
			{"--metric-percentiles P[,P...]", "output.percentiles", list(&c.percentileList, 0)},
			{"--save-result", "--run writes a file as vLLM's", flag(&c.save)},
			{"--save-detailed", "nothing: the file has the figures of every request", ignore},
			{"--append-result", "--run adds a line to the file", ignore},
			{"--metadata NAME=VALUE...", "labels", c.metadata},
			{"--result-dir DIR", "--run writes its file there", text(&c.dir)},
			{"--result-filename FILE", "--run writes its file there", text(&c.file)},
			{"--label TEXT", "nothing: the plan has a name", ignore},
			{"--disable-tqdm", "nothing: the progress is shown on a terminal alone", ignore},
			{"--plot-timeline", "nothing: `sluice compare` draws the plots of one run or of several", ignore},
			{"--timeline-itl-thresholds MS,MS", "nothing: see --plot-timeline", ignore},
			{"--plot-dataset-stats", "nothing: `sluice compare` draws input against output lengths", ignore},
			{"--config FILE", "nothing: each of its settings is an option", ignore},
			{"-h, --help", "this text", flag(&c.help.usage)},
			{"--version", "the version of sluice", flag(&c.help.version)},
		}},
	}
}
