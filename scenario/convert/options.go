package convert

import (
	"fmt"
	"strings"
)

// section is a titled part of the table of options.
type section struct {
	title string
	rows  []row
}

// row defines an option of perf_analyzer.
type row struct {
	synopsis string // its names and its value: "-p, --measurement-interval MS"
	plan     string // the plan's equal, for the usage text
	take     func(given)
}

// option is a row with the parts of its synopsis.
type option struct {
	row
	names []string // the long names without dashes
	short byte     // 0: it has none
	value string   // the name of its value; "": a flag
	many  bool     // it takes all values up to the next option, one by one
	maybe bool     // it takes true or false, or is a flag
}

// optionsOf returns the options of a table.
func optionsOf(table []section) (all []option) {
	for _, s := range table {
		for _, r := range s.rows {
			all = append(all, newOption(r))
		}
	}
	return all
}

func newOption(r row) option {
	o := option{row: r}
	for word := range strings.FieldsSeq(r.synopsis) {
		word, _ = strings.CutSuffix(word, ",")
		if name, long := strings.CutPrefix(word, "--"); long {
			o.names = append(o.names, name)
		} else if word[0] == '-' {
			o.short = word[1]
		} else {
			o.value, o.many = strings.CutSuffix(word, "...")
			o.maybe = word[0] == '['
		}
	}
	return o
}

// String returns the option's name in messages: --percentile, or -m where it has no long name.
func (o *option) String() string {
	if len(o.names) == 0 {
		return "-" + string(o.short)
	}
	return "--" + o.names[0]
}

// table lists every option of perf_analyzer 2.60, with the hidden and the deprecated ones. Building
// it sets perf_analyzer's defaults in c.
func (c *command) table() []section {
	m, l, s, d, t, r, w := &c.measure, &c.load, &c.sequences, &c.data, &c.target, &c.request, &c.watch
	return []section{
		{"Measurement", []row{
			{
				"--measurement-mode time_windows|count_windows", "until.stable.window: a duration or a count",
				word(&m.mode, "time_windows"),
			},
			{"-p, --measurement-interval MS", "until.stable.window", whole(&m.interval, 5000, 1)},
			{
				"--measurement-request-count N", "until.stable.window: N requests",
				whole(&m.windowCount, 50, 1),
			},
			{"-s, --stability-percentage PERCENT", "until.stable.within", real(&m.stability, 10, 0)},
			{"--percentile N", "until.stable.metrics, output.percentiles", m.takePercentile},
			{"-r, --max-trials N", "until.stable.max_windows", whole(&m.trials, 10, 1)},
			{"--request-count N", "for: N requests", c.first(whole(&m.requests, 0, 1))},
			{"--warmup-request-count N", "warmup: N requests", whole(&m.warmup, 0, 0)},
			{
				"-l, --latency-threshold MS", "while, or an assertion at a single level",
				whole(&m.threshold, 0, 0),
			},
			{"--binary-search", "load: search", flag(&l.binary)},
		}},
		{"Load", []row{
			{"--concurrency-range START[:END[:STEP]]", "load.concurrency", l.origin(l.takeConcurrency)},
			{"--request-rate-range START[:END[:STEP]]", "load.rate", l.origin(l.takeRate)},
			{"--request-distribution constant|poisson", "load.arrivals", word(&l.arrivals, "constant")},
			{"--request-intervals FILE", "load.intervals", l.origin(c.file(&l.intervals))},
			{"--fixed-schedule", "load.schedule", l.origin(ignore)},
			{
				"--periodic-concurrency-range START:END[:STEP]", "load.concurrency.periodic",
				l.origin(l.takePeriodic),
			},
			{"--request-period N", "periodic.responses", whole(&l.period, 10, 1)},
			{"--session-concurrency N", "load.concurrency of sessions", l.origin(whole(&l.sessions, 0, 1))},
			{
				"--max-threads N", "target.connections with --streaming; load.max_in_flight, " +
					"in the one case where it held requests back",
				whole(&l.threads, 0, 1),
			},
			{"-a, --async", "nothing: no request here waits for another", flag(&l.async)},
			{"--sync", "nothing, as --async", flag(&l.sync)},
			{"-t N", "load.concurrency (old)", l.origin(whole(&l.concurrency.from, 1, 1))},
			{"-c N", "the last level of load.concurrency (old)", l.origin(whole(&l.concurrency.to, 1, 0))},
			{"-d", "levels of load.concurrency (old)", l.origin(ignore)},
			{"--enable-mpi", "no equal: stages under `parallel` in one plan", flag(&l.mpi)},
		}},
		{"Sequences", []row{
			{"--num-of-sequences N", "sequences.live", whole(&s.live, 4, 1)},
			{"--sequence-length N", "sequences.length", s.takeLength},
			{"--sequence-length-variation PERCENT", "sequences.length", real(&s.variation, 20, 0)},
			{"--sequence-id-range START[:END]", "sequences.ids", s.takeIDs},
			{"--serial-sequences", "sequences.serial", flag(&s.serial)},
		}},
		{"Data", []row{
			{"--input-data zero|random|PATH", "data", c.takeData},
			{"--data-directory PATH", "data.dir (old)", c.takeData},
			{"-z", "data: {generate: zero} (old)", as("zero", c.takeData)},
			{"-b N", "batch", whole(&d.batch, 1, 1)},
			{"--shape NAME:D[,D...]", "shapes", d.takeShape},
			{"--string-data TEXT", "no equal without the names of the inputs", text(&d.text)},
			{"--string-length N", "data.string_length", whole(&d.textLength, 128, 1)},
			{"--shared-memory none|system|cuda", "shared_memory", word(&d.memory, "none")},
			{
				"--output-shared-memory-size BYTES", "shared_memory.output_size",
				whole(&d.outputSize, 100<<10, 0),
			},
			{
				"--input-tensor-format binary|json", "target.tensors.input",
				fold(word(&r.inputFormat, "binary")),
			},
			{
				"--output-tensor-format binary|json", "target.tensors.output",
				fold(word(&r.outputFormat, "binary")),
			},
		}},
		{"Requests", []row{
			{"-m NAME", "target.model", text(&r.model)},
			{"-x VERSION", "target.model_version", text(&r.version)},
			{"--model-signature-name NAME", "target.signature", text(&r.signature)},
			{"--bls-composing-models NAME[:VERSION],...", "target.composing_models", r.takeComposing},
			{"--request-parameter NAME:VALUE:TYPE", "target.parameters", r.takeParameter},
			{"--streaming", "target.streaming", flag(&r.streaming)},
			{"-H NAME:VALUE", "target.headers", r.takeHeader},
			{
				"--grpc-compression-algorithm none|gzip|deflate", "target.compression",
				word(&r.compression, "none"),
			},
			{"--grpc-method PACKAGE.SERVICE/METHOD", "target.method", r.takeMethod},
			{"--proto FILE", "target.protos", c.file(&r.proto)},
			{"--endpoint PATH", "target.endpoint and path", text(&r.endpoint)},
		}},
		{"Server", []row{
			{
				"--service-kind triton|triton_c_api|tfserving|torchserve|openai|dynamic_grpc",
				"target.backend", word(&t.kind, "triton"),
			},
			{"-i http|grpc", "the scheme of target.url", fold(word(&t.protocol, "http"))},
			{"-u URL", "target.url", text(&t.url)},
			{
				"--triton-server-directory DIR", "target.inprocess.server_dir",
				c.folder(&t.serverDir, "/opt/tritonserver"),
			},
			{"--model-repository DIR", "target.inprocess.repository", c.folder(&t.repository, "")},
			{"--collect-metrics", "target.metrics", flag(&w.metrics)},
			{"--metrics-url URL", "target.metrics.url", text(&w.metricsURL)},
			{"--metrics-interval MS", "target.metrics.every", whole(&w.metricsEvery, 1000, 1)},
			{"--trace-level OFF|TIMESTAMPS|TENSORS", "target.trace.level", w.takeTrace},
			{"--trace-rate N", "target.trace.rate", whole(&w.traceRate, 1000, 1)},
			{"--trace-count N", "target.trace.count", whole(&w.traceCount, -1, -1)},
			{"--log-frequency N", "target.trace.log_frequency", whole(&w.logFrequency, 0, 0)},
		}},
		{"TLS", []row{
			{"--ssl-grpc-use-ssl", "grpcs:// in target.url", flag(&t.grpcTLS)},
			{"--ssl-grpc-root-certifications-file FILE", "target.tls.ca", c.file(&t.grpc.ca)},
			{"--ssl-grpc-private-key-file FILE", "target.tls.key", c.file(&t.grpc.key)},
			{"--ssl-grpc-certificate-chain-file FILE", "target.tls.cert", c.file(&t.grpc.cert)},
			{"--ssl-https-verify-peer 0|1", "target.tls.verify", word(&t.verifyPeer, "1")},
			{"--ssl-https-verify-host 0|1|2", "target.tls.verify", word(&t.verifyHost, "2")},
			{"--ssl-https-ca-certificates-file FILE", "target.tls.ca", c.file(&t.https.ca)},
			{"--ssl-https-client-certificate-file FILE", "target.tls.cert", c.file(&t.https.cert)},
			{"--ssl-https-client-certificate-type PEM|DER", "no equal for DER", word(&t.certType, "PEM")},
			{"--ssl-https-private-key-file FILE", "target.tls.key", c.file(&t.https.key)},
			{"--ssl-https-private-key-type PEM|DER", "no equal for DER", word(&t.keyType, "PEM")},
		}},
		{"Output", []row{
			{"-f FILE", "output.formats: perf_analyzer_csv; --run writes FILE", text(&c.out.CSV)},
			{"--verbose-csv", "nothing: both tables are written", flag(&c.out.Wide)},
			{
				"--profile-export-file FILE", "output.formats: profile_export; --run writes FILE",
				text(&c.out.Export),
			},
			{"-v", "nothing: every window is in result.json", ignore},
			{"-h, --help", "this text", flag(&c.out.Usage)},
			{"-?", "this text", flag(&c.out.Usage)},
			{"--version", "the version of sluice", flag(&c.out.Version)},
		}},
	}
}

// PerfAnalyzerUsage lists every option with the plan's equal.
func PerfAnalyzerUsage() string { return usageOf(new(command).table()) }

// usageOf lists the options of a table with the plan's equal.
func usageOf(table []section) string {
	var b strings.Builder
	for _, s := range table {
		fmt.Fprintf(&b, "%s\n", s.title)
		for _, r := range s.rows {
			fmt.Fprintf(&b, "  %-52s %s\n", r.synopsis, r.plan)
		}
	}
	return b.String()
}
