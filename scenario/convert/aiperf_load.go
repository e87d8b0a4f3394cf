package convert

func (c *aiperf) loadTable() []section {
	l, e := &c.load, &c.extent
	const warm = "no equal: the load of the warm-up is the stage's"
	const agents = "no equal: it is for replays of agents"
	return []section{
		{"Load", []row{
			{
				"--concurrency N[,N...]", "load.concurrency: a level each; with a rate, max_in_flight",
				wholes(&l.concurrency, 1),
			},
			{"--request-rate R[,R...]", "load.rate: a level each", list(&l.rates, 0)},
			{
				"--arrival-pattern, --request-rate-mode constant|poisson|gamma|concurrency_burst", "load.arrivals",
				word(&l.arrivals, "poisson"),
			},
			{"--arrival-smoothness, --vllm-burstiness K", "load.arrivals.cv: 1 / √K", real(&c.smoothness, 0, 0)},
			{
				"--prefill-concurrency N", "no equal: requests are not held back until others have their first token",
				ignore,
			},
			{"--concurrency-ramp-duration S", "load.concurrency.ramp", real(&c.ramp, 0, 0)},
			{"--prefill-concurrency-ramp-duration S", "no equal: see --prefill-concurrency", ignore},
			{"--request-rate-ramp-duration S", "load.rate.ramp", real(&c.rateRamp, 0, 0)},
			{"--request-rate-series FILE", "no equal: write its points as steps of load.rate.ramp", ignore},
			{"--user-centric-rate R", "load: {rate: R / users, of: users}", real(&l.userRate, 0, 0)},
			{"--num-users N[,N...]", "sequences.live", wholes(&c.users, 1)},
			{"--request-cancellation-rate PERCENT", "cancel.ratio", real(&l.cancelled, 0, 0)},
			{"--request-cancellation-delay S", "cancel.after", real(&l.after, 0, 0)},
			{"--request-count, --num-requests N[,N...]", "for: N requests", wholes(&c.requests, 1)},
			{"--benchmark-duration S[,S...]", "for: a duration", list(&c.durations, 0)},
			{"--benchmark-grace-period S|inf", "drain", text(&c.grace)},
			{"--warmup-request-count, --num-warmup-requests N", "warmup: N requests", integral(&e.warmup, 0, 0)},
			{"--warmup-duration S", "warmup: a duration", real(&e.warmupTime, 0, 0)},
			{"--num-warmup-sessions N", "warmup: N sessions", integral(&e.warmupSessions, 0, 0)},
			{"--warmup-concurrency N", warm, ignore},
			{"--warmup-prefill-concurrency N", warm, ignore},
			{"--warmup-request-rate R", warm, ignore},
			{"--warmup-arrival-pattern KIND", warm, ignore},
			{"--warmup-grace-period S", "nothing: the warm-up runs on into the measurement", ignore},
			{"--warmup-concurrency-ramp-duration S", warm, ignore},
			{"--warmup-prefill-concurrency-ramp-duration S", warm, ignore},
			{"--warmup-request-rate-ramp-duration S", warm, ignore},
			{"--agentic-cache-warmup-duration S", agents, ignore},
			{"--agentic-warmup-grace-period S", agents, ignore},
			{"--trajectory-start-min-ratio R", agents, ignore},
			{"--trajectory-start-max-ratio R", agents, ignore},
			{"--burst-phase-starts", agents, ignore},
			{"--scenario NAME", "no equal: a plan is compared with another by its fingerprint", ignore},
			{"--unsafe-override", "no equal: see --scenario", ignore},
		}},
		{"Several runs", []row{
			{"--num-profile-runs N", "repeat", whole(&e.repeat, 1, 1)},
			{"--profile-run-cooldown-seconds S", "no equal: repeats follow one another", real(&e.cooldown, 0, 0)},
			{"--confidence-level R", "no equal: `confidence` of an assertion", ignore},
			{"--profile-run-disable-warmup-after-first [true|false]", "no equal: each repeat has its warm-up", ignore},
			{"--no-profile-run-disable-warmup-after-first", "nothing: each repeat has its warm-up", ignore},
			{"--set-consistent-seed [true|false]", "nothing: a seed fixes each repeat", ignore},
			{"--no-set-consistent-seed", "nothing: a seed fixes each repeat", ignore},
			{"--vary-seed-per-trial [true|false]", "nothing: repeats have draws of their own", ignore},
			{"--no-vary-seed-per-trial", "no equal: repeats have draws of their own", ignore},
			{
				"--convergence-metric METRIC", "no equal: until: {precise: …} goes on until a metric is known well",
				ignore,
			},
			{"--convergence-stat STAT", "no equal: see --convergence-metric", ignore},
			{"--convergence-threshold R", "no equal: see --convergence-metric", ignore},
			{"--convergence-mode MODE", "no equal: see --convergence-metric", ignore},
			{"--parameter-sweep-cooldown-seconds S", "no equal: levels follow one another", ignore},
			{"--parameter-sweep-same-seed [true|false]", "nothing: levels have draws of their own", ignore},
			{"--no-parameter-sweep-same-seed", "nothing: levels have draws of their own", ignore},
			{"--parameter-sweep-mode repeated|independent", "nothing: repeats are rounds over the levels", ignore},
			{
				"--sweep-type grid|zip",
				"no equal: a plan's points are all combinations; matrix.include adds single ones",
				ignore,
			},
			{"--no-sweep-table", "nothing: stages.csv has a row for each level", ignore},
			{"--variant, --sweep-variant TEXT...", "no equal: write a stage for each", ignore},
		}},
		{"Search", searchRows()},
	}
}

// searchRows lists the options of AIPerf's searches, which a plan has in one form.
func searchRows() (rows []row) {
	for _, synopsis := range []string{
		"--search-space DIM...", "--search-metric METRIC", "--search-stat STAT", "--search-direction WORD",
		"--search-max-iterations N", "--search-initial-points N", "--search-random-seed N", "--search-planner NAME",
		"--optuna-sampler NAME", "--optuna-acquisition NAME", "--optuna-terminator NAME",
		"--search-percentile-pooling WORD", "--bo-constraint-mode WORD", "--search-sla SLA...",
		"--search-sla-tier TIER...", "--search-recipe NAME", "--ttft-sla-ms MS", "--itl-sla-ms MS",
		"--tpot-sla-ms MS",
		"--e2e-sla-ms MS", "--isl-osl-pairs PAIRS", "--improvement-patience N", "--plateau-cv R",
		"--error-rate-sla R",
	} {
		rows = append(rows, row{
			synopsis,
			"no equal: load: {concurrency: {search: {from, to, while}}} finds the largest " +
				"load under a limit", ignore,
		})
	}
	return rows
}

func (c *aiperf) outputTable() []section {
	const exported = "no equal: `output.formats` names the files; result.json has every number"
	rows := []row{
		{"--artifact-dir, --output-artifact-dir DIR", "--run writes its files there", text(&c.dir)},
		{"--profile-export-file, --profile-export-prefix NAME", "--run writes these names", text(&c.prefix)},
		{
			"--export-level, --profile-export-level summary|records|raw",
			"nothing: profile_export.jsonl has a row for each request",
			word(&c.level, "records"),
		},
		{"--slice-duration S", "no equal: an assertion has windows, `every`", ignore},
		{"--auto-plot [true|false]", "nothing: `sluice compare` draws the plots of one run or of several", ignore},
		{"--no-auto-plot", "nothing: nothing is drawn", ignore},
		{"--plot-required", "nothing: nothing is drawn", ignore},
		{"--server-metrics URL...", "target.metrics", more(&c.serverMetrics)},
		{"--no-server-metrics", "nothing: without target.metrics none are read", ignore},
		{"--server-metrics-formats KIND...", "nothing: they are in result.json", ignore},
		{"--gpu-telemetry URL...", "target.metrics of a DCGM exporter", more(&c.gpuMetrics)},
		{"--no-gpu-telemetry", "nothing: without target.metrics none is read", ignore},
		{"--network-latency-automatic", "nothing: the time to connect is shown apart", ignore},
		{"--network-latency-mean MS", "no equal: nothing is subtracted from a latency", ignore},
		{"--network-latency-ping-interval S", "no equal: nothing is subtracted from a latency", ignore},
		{"--export-http-trace", "nothing: the times inside requests are in result.json", ignore},
		{"--show-trace-timing", "nothing: the times inside requests are in result.json", ignore},
		{"--ui, --ui-type dashboard|simple|none", "nothing: the progress is shown on a terminal", ignore},
		{"-v, --verbose", "nothing: every number is in result.json", ignore},
		{"--extra-verbose", "nothing: every number is in result.json", ignore},
		{"--log-level LEVEL", "nothing: there is no log", ignore},
		{"-h, --help", "this text", flag(&c.help.usage)},
		{"--version", "the version of sluice", flag(&c.help.version)},
	}
	for _, synopsis := range []string{
		"--export-outputs-json", "--otel-url URL", "--stream DOMAIN...", "--otel-resource-attributes KEY=VALUE...",
		"--gen-ai-provider NAME", "--mlflow-tracking-uri URI", "--mlflow-experiment NAME", "--mlflow-run-name NAME",
		"--mlflow-tag KEY:VALUE...", "--mlflow-parent-run-id ID", "--mlflow-artifact-glob GLOB...",
		"--wandb-project NAME",
		"--wandb-entity NAME", "--wandb-run-name NAME", "--wandb-tag TAG...",
	} {
		rows = append(rows, row{synopsis, exported, ignore})
	}
	var inside []row
	for _, synopsis := range []string{
		"--workers-max, --max-workers N", "--workers-min N",
		"--record-processors, --record-processor-service-count N",
		"--zmq-host HOST", "--zmq-ipc-path PATH", "--show-internal-metrics", "--service-config FILE",
		"--dataset-configuration-timeout S", "--export-buffer-size N", "--reuse-port",
	} {
		inside = append(inside, row{synopsis, "nothing: one process sends, with all its cores", ignore})
	}
	for _, synopsis := range []string{
		"--accuracy-benchmark NAME", "--accuracy-tasks TASK...", "--accuracy-n-shots N", "--accuracy-enable-cot",
		"--accuracy-grader NAME", "--accuracy-system-prompt TEXT", "--accuracy-verbose",
	} {
		inside = append(inside, row{synopsis, "no equal: answers are not graded; expect compares them", ignore})
	}
	return []section{{"Output", rows}, {"Inside AIPerf", inside}}
}
