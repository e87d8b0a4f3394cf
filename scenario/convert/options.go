package convert

import (
	"fmt"
	"strings"
)

// option is one of perf_analyzer's options.
type option struct {
	name  string // without dashes; "": it has none
	short byte   // 0: it has none
	value string // the name of its value; "": a flag
	plan  string // the plan's equal, for the usage text
	take  func(*settings, given)
}

// String returns the option's name with its dashes.
func (o *option) String() string {
	if o.name == "" {
		return "-" + string(o.short)
	}
	return "--" + o.name
}

// synopsis spells the option with its value.
func (o *option) synopsis() string {
	text := o.String()
	if o.name != "" && o.short != 0 {
		text = "-" + string(o.short) + ", " + text
	}
	if o.value != "" {
		text += " " + o.value
	}
	return text
}

// table lists every option of perf_analyzer 2.60, with the hidden and the deprecated ones.
func table() []option {
	t := append(measuring(), loads()...)
	t = append(t, sequencing()...)
	t = append(t, feeding()...)
	t = append(t, requesting()...)
	t = append(t, serving()...)
	t = append(t, securing()...)
	return append(t, reporting()...)
}

func measuring() []option {
	return []option{
		{
			name: "measurement-mode", value: "time_windows|count_windows",
			plan: "until.stable.window: a duration or a count", take: (*settings).takeMode,
		},
		{
			name: "measurement-interval", short: 'p', value: "MS", plan: "until.stable.window",
			take: whole(func(s *settings) *int64 { return &s.interval }, 1),
		},
		{
			name: "measurement-request-count", value: "N", plan: "until.stable.window: N requests",
			take: whole(func(s *settings) *int64 { return &s.windowCount }, 1),
		},
		{
			name: "stability-percentage", short: 's', value: "PERCENT", plan: "until.stable.within",
			take: real(func(s *settings) *float64 { return &s.stability }, 0),
		},
		{
			name: "percentile", value: "N", plan: "until.stable.metrics, output.percentiles",
			take: (*settings).takePercentile,
		},
		{
			name: "max-trials", short: 'r', value: "N", plan: "until.stable.max_windows",
			take: whole(func(s *settings) *int64 { return &s.trials }, 1),
		},
		{
			name: "request-count", value: "N", plan: "for: N requests",
			take: first(whole(func(s *settings) *int64 { return &s.requests }, 1)),
		},
		{
			name: "warmup-request-count", value: "N", plan: "warmup: N requests",
			take: whole(func(s *settings) *int64 { return &s.warmup }, 0),
		},
		{
			name: "latency-threshold", short: 'l', value: "MS",
			plan: "while, or an assertion at a single level",
			take: whole(func(s *settings) *int64 { return &s.threshold }, 0),
		},
		{name: "binary-search", plan: "load: search", take: func(s *settings, _ given) { s.binary = true }},
	}
}

func loads() []option {
	return []option{
		{
			name: "concurrency-range", value: "START[:END[:STEP]]", plan: "load.concurrency",
			take: mode(modeConcurrency, (*settings).takeConcurrency),
		},
		{
			name: "request-rate-range", value: "START[:END[:STEP]]", plan: "load.rate",
			take: mode(modeRate, (*settings).takeRate),
		},
		{
			name: "request-distribution", value: "constant|poisson", plan: "load.arrivals",
			take: word(func(s *settings) *string { return &s.arrivals }, exactly, "constant", "poisson"),
		},
		{
			name: "request-intervals", value: "FILE", plan: "load.intervals",
			take: mode(modeIntervals, file(func(s *settings) *string { return &s.intervals })),
		},
		{name: "fixed-schedule", plan: "load.schedule", take: mode(modeSchedule, func(*settings, given) {})},
		{
			name: "periodic-concurrency-range", value: "START:END[:STEP]",
			plan: "load.concurrency.periodic", take: mode(modePeriodic, (*settings).takePeriodic),
		},
		{
			name: "request-period", value: "N", plan: "periodic.responses",
			take: whole(func(s *settings) *int64 { return &s.period }, 1),
		},
		{
			name: "session-concurrency", value: "N", plan: "load.concurrency of sessions",
			take: mode(modeSessions, whole(func(s *settings) *int64 { return &s.sessions }, 1)),
		},
		{
			name: "max-threads", value: "N",
			plan: "target.connections with --streaming; load.max_in_flight, " +
				"in the one case where it held requests back",
			take: whole(func(s *settings) *int64 { return &s.threads }, 1),
		},
		{
			name: "async", short: 'a', plan: "nothing: no request here waits for another",
			take: func(s *settings, _ given) { s.async = true },
		},
		{name: "sync", plan: "nothing, as --async", take: func(s *settings, _ given) { s.sync = true }},
		{
			short: 't', value: "N", plan: "load.concurrency (old)",
			take: mode(modeOld, whole(func(s *settings) *int64 { return &s.concurrency.from }, 1)),
		},
		{
			short: 'c', value: "N", plan: "the last level of load.concurrency (old)",
			take: mode(modeOld, whole(func(s *settings) *int64 { return &s.concurrency.to }, 0)),
		},
		{
			short: 'd', plan: "levels of load.concurrency (old)",
			take: mode(modeOld, func(*settings, given) {}),
		},
		{
			name: "enable-mpi", plan: "no equal: stages under `parallel` in one plan",
			take: func(s *settings, _ given) { s.mpi = true },
		},
	}
}

func sequencing() []option {
	return []option{
		{
			name: "num-of-sequences", value: "N", plan: "sequences.live",
			take: whole(func(s *settings) *int64 { return &s.sequences }, 1),
		},
		{name: "sequence-length", value: "N", plan: "sequences.length", take: (*settings).takeLength},
		{
			name: "sequence-length-variation", value: "PERCENT", plan: "sequences.length",
			take: real(func(s *settings) *float64 { return &s.variation }, 0),
		},
		{name: "sequence-id-range", value: "START[:END]", plan: "sequences.ids", take: (*settings).takeIDs},
		{
			name: "serial-sequences", plan: "sequences.serial",
			take: func(s *settings, _ given) { s.serial = true },
		},
	}
}

func feeding() []option {
	return []option{
		{name: "input-data", value: "zero|random|PATH", plan: "data", take: (*settings).takeData},
		{name: "data-directory", value: "PATH", plan: "data.dir (old)", take: (*settings).takeData},
		{
			short: 'z', plan: "data: {generate: zero} (old)",
			take: func(s *settings, g given) { s.generate, s.generated = "zero", g },
		},
		{short: 'b', value: "N", plan: "batch", take: whole(func(s *settings) *int64 { return &s.batch }, 1)},
		{name: "shape", value: "NAME:D[,D...]", plan: "shapes", take: (*settings).takeShape},
		{
			name: "string-data", value: "TEXT", plan: "no equal without the names of the inputs",
			take: text(func(s *settings) *string { return &s.stringData }),
		},
		{
			name: "string-length", value: "N", plan: "data.string_length",
			take: whole(func(s *settings) *int64 { return &s.stringLength }, 1),
		},
		{
			name: "shared-memory", value: "none|system|cuda", plan: "shared_memory",
			take: word(func(s *settings) *string { return &s.memory }, exactly, "none", "system", "cuda"),
		},
		{
			name: "output-shared-memory-size", value: "BYTES", plan: "shared_memory.output_size",
			take: whole(func(s *settings) *int64 { return &s.outputSize }, 0),
		},
		{
			name: "input-tensor-format", value: "binary|json", plan: "target.tensors.input",
			take: word(func(s *settings) *string { return &s.inputFormat }, anyCase, "binary", "json"),
		},
		{
			name: "output-tensor-format", value: "binary|json", plan: "target.tensors.output",
			take: word(func(s *settings) *string { return &s.outputFormat }, anyCase, "binary", "json"),
		},
	}
}

func requesting() []option {
	return []option{
		{
			short: 'm', value: "NAME", plan: "target.model",
			take: text(func(s *settings) *string { return &s.model }),
		},
		{
			short: 'x', value: "VERSION", plan: "target.model_version",
			take: text(func(s *settings) *string { return &s.modelVersion }),
		},
		{
			name: "model-signature-name", value: "NAME", plan: "target.signature",
			take: text(func(s *settings) *string { return &s.signature }),
		},
		{
			name: "bls-composing-models", value: "NAME[:VERSION],...",
			plan: "target.composing_models", take: (*settings).takeComposing,
		},
		{
			name: "request-parameter", value: "NAME:VALUE:TYPE", plan: "target.parameters",
			take: (*settings).takeParameter,
		},
		{
			name: "streaming", plan: "target.streaming",
			take: func(s *settings, _ given) { s.streaming = true },
		},
		{short: 'H', value: "NAME:VALUE", plan: "target.headers", take: (*settings).takeHeader},
		{
			name: "grpc-compression-algorithm", value: "none|gzip|deflate",
			plan: "target.compression",
			take: word(func(s *settings) *string { return &s.compression }, exactly,
				"none", "gzip", "deflate"),
		},
		{
			name: "grpc-method", value: "PACKAGE.SERVICE/METHOD", plan: "target.method",
			take: (*settings).takeMethod,
		},
		{
			name: "proto", value: "FILE", plan: "target.protos",
			take: file(func(s *settings) *string { return &s.proto }),
		},
		{
			name: "endpoint", value: "PATH", plan: "target.endpoint and path",
			take: text(func(s *settings) *string { return &s.endpoint }),
		},
	}
}

func serving() []option {
	kinds := []string{"triton", "triton_c_api", "tfserving", "torchserve", "openai", "dynamic_grpc"}
	return []option{
		{
			name: "service-kind", value: strings.Join(kinds, "|"), plan: "target.backend",
			take: word(func(s *settings) *string { return &s.kind }, exactly, kinds...),
		},
		{
			short: 'i', value: "http|grpc", plan: "the scheme of target.url",
			take: word(func(s *settings) *string { return &s.protocol }, anyCase, "http", "grpc"),
		},
		{
			short: 'u', value: "URL", plan: "target.url",
			take: text(func(s *settings) *string { return &s.url }),
		},
		{
			name: "triton-server-directory", value: "DIR", plan: "target.inprocess.server_dir",
			take: folder(func(s *settings) *string { return &s.serverDir }),
		},
		{
			name: "model-repository", value: "DIR", plan: "target.inprocess.repository",
			take: folder(func(s *settings) *string { return &s.repository }),
		},
		{
			name: "collect-metrics", plan: "target.metrics",
			take: func(s *settings, _ given) { s.metrics = true },
		},
		{
			name: "metrics-url", value: "URL", plan: "target.metrics.url",
			take: text(func(s *settings) *string { return &s.metricsURL }),
		},
		{
			name: "metrics-interval", value: "MS", plan: "target.metrics.every",
			take: whole(func(s *settings) *int64 { return &s.metricsEvery }, 1),
		},
		{
			name: "trace-level", value: "OFF|TIMESTAMPS|TENSORS", plan: "target.trace.level",
			take: (*settings).takeTrace,
		},
		{
			name: "trace-rate", value: "N", plan: "target.trace.rate",
			take: whole(func(s *settings) *int64 { return &s.traceRate }, 1),
		},
		{
			name: "trace-count", value: "N", plan: "target.trace.count",
			take: whole(func(s *settings) *int64 { return &s.traceCount }, -1),
		},
		{
			name: "log-frequency", value: "N", plan: "target.trace.log_frequency",
			take: whole(func(s *settings) *int64 { return &s.logFrequency }, 0),
		},
	}
}

func securing() []option {
	types := []string{"PEM", "DER"}
	return []option{
		{
			name: "ssl-grpc-use-ssl", plan: "grpcs:// in target.url",
			take: func(s *settings, _ given) { s.grpcTLS = true },
		},
		{
			name: "ssl-grpc-root-certifications-file", value: "FILE", plan: "target.tls.ca",
			take: file(func(s *settings) *string { return &s.grpc.ca }),
		},
		{
			name: "ssl-grpc-private-key-file", value: "FILE", plan: "target.tls.key",
			take: file(func(s *settings) *string { return &s.grpc.key }),
		},
		{
			name: "ssl-grpc-certificate-chain-file", value: "FILE", plan: "target.tls.cert",
			take: file(func(s *settings) *string { return &s.grpc.cert }),
		},
		{
			name: "ssl-https-verify-peer", value: "0|1", plan: "target.tls.verify",
			take: word(func(s *settings) *string { return &s.verifyPeer }, exactly, "0", "1"),
		},
		{
			name: "ssl-https-verify-host", value: "0|1|2", plan: "target.tls.verify",
			take: word(func(s *settings) *string { return &s.verifyHost }, exactly, "0", "1", "2"),
		},
		{
			name: "ssl-https-ca-certificates-file", value: "FILE", plan: "target.tls.ca",
			take: file(func(s *settings) *string { return &s.https.ca }),
		},
		{
			name: "ssl-https-client-certificate-file", value: "FILE", plan: "target.tls.cert",
			take: file(func(s *settings) *string { return &s.https.cert }),
		},
		{
			name: "ssl-https-client-certificate-type", value: "PEM|DER", plan: "no equal for DER",
			take: word(func(s *settings) *string { return &s.certType }, exactly, types...),
		},
		{
			name: "ssl-https-private-key-file", value: "FILE", plan: "target.tls.key",
			take: file(func(s *settings) *string { return &s.https.key }),
		},
		{
			name: "ssl-https-private-key-type", value: "PEM|DER", plan: "no equal for DER",
			take: word(func(s *settings) *string { return &s.keyType }, exactly, types...),
		},
	}
}

func reporting() []option {
	return []option{
		{
			short: 'f', value: "FILE", plan: "output.formats: perf_analyzer_csv; --run writes FILE",
			take: text(func(s *settings) *string { return &s.csv }),
		},
		{
			name: "verbose-csv", plan: "nothing: both tables are written",
			take: func(s *settings, _ given) { s.verboseCSV = true },
		},
		{
			name: "profile-export-file", value: "FILE",
			plan: "output.formats: profile_export; --run writes FILE",
			take: text(func(s *settings) *string { return &s.export }),
		},
		{short: 'v', plan: "nothing: every window is in result.json", take: func(*settings, given) {}},
		{name: "help", short: 'h', plan: "this text", take: func(s *settings, _ given) { s.usage = true }},
		{short: '?', plan: "this text", take: func(s *settings, _ given) { s.usage = true }},
		{
			name: "version", plan: "the version of sluice",
			take: func(s *settings, _ given) { s.version = true },
		},
	}
}

// PerfAnalyzerUsage lists every option with the plan's equal.
func PerfAnalyzerUsage() string {
	var b strings.Builder
	for _, part := range []struct {
		title string
		list  []option
	}{
		{"Measurement", measuring()},
		{"Load", loads()},
		{"Sequences", sequencing()},
		{"Data", feeding()},
		{"Requests", requesting()},
		{"Server", serving()},
		{"TLS", securing()},
		{"Output", reporting()},
	} {
		fmt.Fprintf(&b, "%s\n", part.title)
		for i := range part.list {
			fmt.Fprintf(&b, "  %-52s %s\n", part.list[i].synopsis(), part.list[i].plan)
		}
	}
	return b.String()
}
