package convert

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/shell"

	"github.com/sluice-bench/sluice/scenario/source"
)

// GenAIPerf converts a command line of GenAI-Perf. With an error among the diagnostics there is no plan.
// Warnings name what the plan cannot express.
func GenAIPerf(o Options) (Converted, source.Diagnostics) {
	args := shell.DropProgram(o.Args, []string{"genai-perf", "genai_perf"})
	c := newGenAI(newReader(o, "genai-perf", args))
	sub := c.subcommand("profile")
	if c.analyze = sub == "analyze"; !slices.Contains([]string{"profile", "analyze", "config"}, sub) {
		d := c.fail(0, codeArgument, "genai-perf %s measures nothing: there is no plan of it", sub)
		if sub == "compare" {
			d.Help("`sluice compare` takes GenAI-Perf's files")
		}
		return Converted{Line: c.text}, c.mistakes()
	}
	return c.convert("genai-perf", genaiSettings, c.finish)
}

// GenAIPerfUsage lists every option with the plan's equal.
func GenAIPerfUsage() string { return usageOf(newGenAI(newReader(Options{}, "", nil)).table()) }

func newGenAI(r *reader) *genai {
	c := &genai{llm: newLLM(r)}
	tail := &reader{line: r.line, o: r.o, seen: make(map[string]given)}
	c.passed = commandOf(tail)
	r.tail, r.rest = tail, r.options
	r.asked = strings.Fields("--model --endpoint-type --service-kind --backend --input-file --concurrency " +
		"--request-rate --fixed-schedule --output-tokens-mean --session-concurrency --num-sessions --grpc-method")
	r.options = optionsOf(c.table())
	return c
}

// finish applies GenAI-Perf's rules and defaults.
func (c *genai) finish() {
	if len(c.server.models) == 0 && c.kind != "dynamic_grpc" {
		c.fail(-1, codeNeeds, "the model, -m NAME, is missing")
	}
	c.kinds()
	c.lengths()
	c.media()
	c.source()
	c.loads()
	c.swept()
	c.tailed()
	c.readTokenizer(c.tokenizer, c.revision)
	if len(c.server.metrics) > 0 {
		c.server.match = "DCGM_*"
	}
	c.server.drawn = c.mode == "random"
	c.asksLength()
	c.artifacts()
}

// kinds finds the server's kind and the shape of requests.
func (c *genai) kinds() {
	kind := c.kind
	if c.service == "dynamic_grpc" || c.service == "tensorrtllm_engine" {
		kind = c.service
	}
	if kind == "" {
		kind = "kserve" // the usual one, which --service-kind triton is too
		c.needs(c.service == "openai", "--service-kind", "--endpoint-type", "such as chat")
	}
	c.clash(c.backend != "" && kind != "kserve", "--backend", kind, "it is for Triton's own protocol")
	c.kind = kind
	s := &c.server
	s.backend, s.endpoint = "openai", kind
	switch kind {
	case "chat", "completions", "embeddings", "rankings":
	case "multimodal", "vision":
		s.endpoint = "chat"
	case "nvclip":
		s.endpoint = "embeddings"
	case "generate":
		s.backend = "triton"
	case "kserve":
		s.backend, s.endpoint = "triton", cmp.Or(c.backend, "tensorrtllm")
	case "dynamic_grpc":
		s.backend, s.endpoint = "grpc", ""
		c.needs(s.method == "", "--endpoint-type", "--grpc-method", "package.Service/Method")
		c.needs(c.input == "", "--endpoint-type", "--input-file",
			"its rows are the messages: no prompts are generated")
	default:
		c.fail(c.arg(c.firstOf("--endpoint-type", "--service-kind")), codeNoEqual,
			"requests of kind %s have no equal in a plan", kind).Help(map[string]string{
			"huggingface_generate": "Text Embeddings and Text Generation Inference speak chat and completions too",
			"tensorrtllm_engine":   "serve the engine with Triton or trtllm-serve, or use backend triton_inprocess",
			"image_retrieval":      "backend http sends such bodies from a file",
			"template":             "write the rows that the template makes into a file of JSON lines",
		}[kind])
	}
	if s.endpoint == "embeddings" || s.endpoint == "rankings" || s.endpoint == "infer" {
		c.clash(s.streaming, "--streaming", kind, "such answers are no streams")
	} else {
		c.clash(c.prompts.batch > 1, "--batch-size-text", kind, "batches are for embeddings and rankings")
	}
	c.address(s.backend == "openai" || kind == "generate")
}

// firstOf returns the first of the options that was given.
func (r *reader) firstOf(options ...string) string {
	for _, o := range options {
		if r.has(o) {
			return o
		}
	}
	return options[0]
}

// address completes the URLs and the path.
func (c *genai) address(http bool) {
	s := &c.server
	scheme, usual := "http://", "localhost:8000"
	if !http {
		scheme, usual = "grpc://", "localhost:8001"
	}
	if len(s.urls) == 0 {
		s.urls = []string{usual}
	}
	for i, u := range s.urls {
		if before, after, found := strings.Cut(u, "://"); !found {
			s.urls[i] = scheme + u
		} else if !http && before != "builtin" && !strings.HasPrefix(before, "grpc") {
			s.urls[i] = scheme + after
		}
	}
	if path := strings.TrimLeft(c.endpoint, " /"); path != "" && s.backend == "openai" {
		if word, usual := endpointOf(path); !usual || word != s.endpoint {
			s.path = "/" + path
		}
	}
	if s.backend == "openai" && c.drop("rankings") == `"tei"` {
		c.needless("--extra-inputs", "rankings:tei is the shape of rows with `texts`")
		c.prompts.passages = "texts"
	}
}

// tailed applies the options after --, which perf_analyzer takes.
func (c *genai) tailed() {
	t := c.passed
	applied := map[string]bool{}
	use := func(name string, apply func()) {
		if !t.has(name) {
			return
		}
		apply()
		applied[name] = true
		c.seen[name] = t.seen[name]
	}
	use("-H", func() {
		for _, h := range t.request.headers {
			set(&c.server.headers, h, strings.EqualFold)
		}
	})
	use("--request-distribution", func() { c.load.arrivals = t.load.arrivals })
	use("--request-parameter", func() {
		for _, p := range t.request.parameters {
			c.parameter(t.seen["--request-parameter"], p.name, p.value)
		}
	})
	use("--ssl-https-verify-peer", func() { c.server.insecure = t.target.verifyPeer == "0" })
	use("--warmup-request-count", func() { c.extent.warmup = float64(t.measure.warmup) })
	use("--request-count", func() { c.extent.requests = float64(t.measure.requests) })
	use("--streaming", func() { c.server.streaming = true })
	for name, g := range t.seen {
		switch {
		case applied[name]:
		case slices.Contains([]string{"--max-threads", "--async", "--sync", "-v", "-i", "--verbose-csv"}, name):
			c.moot = append(c.moot, note{g.String(), "perf_analyzer needs it, a plan does not"})
		default:
			c.notes = append(c.notes, note{g.String(), "it is perf_analyzer's own: see " +
				"`sluice convert perf-analyzer -- --help` for its key, and add that to the plan"})
		}
	}
	byName := func(a, b note) int { return strings.Compare(a.option, b.option) }
	slices.SortStableFunc(c.moot, byName)
	slices.SortStableFunc(c.notes, byName)
}

// readTokenizer finds the tokenizer's file, else names the option.
func (l *llm) readTokenizer(name, revision string) {
	option := "--tokenizer"
	if name == "" && len(l.server.models) > 0 {
		name, option = l.server.models[0], "--model"
	}
	l.needless("--tokenizer-revision", "the tokenizer is looked for in the cache of Hugging Face, or here")
	if name == "" {
		return
	}
	l.server.tokenizer = tokenizerFile(name, cmp.Or(revision, "main"))
	if l.server.tokenizer == "" && l.has("--tokenizer") {
		l.remark(option, "%q is not in the cache of Hugging Face here: download its tokenizer.json, "+
			"and name it as target.tokenizer", name)
	}
}

// artifacts finds the folder that GenAI-Perf writes to, and its files.
func (c *genai) artifacts() {
	if c.export != "" && filepath.Base(c.export) != c.export {
		c.wrongValue("--profile-export-file", "the folder is given with --artifact-dir")
	}
	if c.out.Folder = filepath.Clean(cmp.Or(c.dir, "artifacts")); c.out.Folder == "artifacts" {
		c.out.Folder = filepath.Join("artifacts", c.folderName())
	}
	stem := strings.TrimSuffix(cmp.Or(c.export, "profile_export.json"), ".json")
	c.out.Formats = []string{"profile_export", "genai_perf"}
	c.out.Files = []File{
		{"inputs.json", "inputs.json"},
		{"profile_export.json", stem + ".json"},
		{"profile_export_genai_perf.json", stem + "_genai_perf.json"},
		{"profile_export_genai_perf.csv", stem + "_genai_perf.csv"},
	}
}

// folderName returns the name of a run's folder: MODEL-SERVICE-KIND-STIMULUS.
func (c *genai) folderName() string {
	name := strings.ReplaceAll(cmp.Or(c.firstModel(), "grpc"), "/", "_")
	if len(c.server.models) > 1 {
		name += "_multi"
	}
	switch c.kind {
	case "kserve":
		name += "-triton-" + c.server.endpoint
	case "dynamic_grpc":
		name += "-dynamic_grpc"
	default:
		name += "-openai-" + c.kind
	}
	return name + c.load.stimulus()
}
