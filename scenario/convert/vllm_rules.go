package convert

import (
	"cmp"
	"math"
	"net"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/shell"

	"github.com/sluice-bench/sluice/scenario/source"
)

// VLLM converts a command line of `vllm bench serve`, or of benchmark_serving.py. With an error among the
// diagnostics there is no plan. Warnings name what the plan cannot express.
func VLLM(o Options) (Converted, source.Diagnostics) {
	names := []string{"vllm", "benchmark_serving.py", "vllm.benchmarks.benchmark_serving", "vllm-bench"}
	args := shell.DropProgram(o.Args, names)
	if len(args) > 0 && args[0] == "bench" {
		args = args[1:]
	}
	c := newVLLM(newReader(o, "vllm bench serve", withSettings(dropWord(args, "serve"))))
	if sub := c.subcommand("serve"); sub != "serve" {
		c.fail(0, codeArgument, "vllm bench %s sends nothing to a server: there is no plan of it", sub)
		return Converted{Line: c.text}, c.mistakes()
	}
	return c.convert("vllm", vllmSettings, c.finish)
}

// dropWord leaves out the first argument if it is this word.
func dropWord(args []string, word string) []string {
	if len(args) > 0 && args[0] == word {
		return args[1:]
	}
	return args
}

// VLLMUsage lists every option with the plan's equal.
func VLLMUsage() string { return usageOf(newVLLM(newReader(Options{}, "", nil)).table()) }

func newVLLM(r *reader) *vllm {
	c := &vllm{llm: newLLM(r)}
	r.joined, r.secrets.Reserved = true, keyVariable
	r.asked = strings.Fields("--backend --endpoint --dataset-name --dataset-path --request-rate " +
		"--max-concurrency --model --ramp-up-strategy --base-url")
	r.options = optionsOf(c.table())
	return c
}

// vllmSettings returns the settings of a file: options by their names.
func vllmSettings(root *source.Node) (all []setting) {
	for _, e := range root.Entries {
		all = append(all, setting{e.Key, "--" + strings.ReplaceAll(e.Key, "_", "-"), e.Value})
	}
	return all
}

// finish applies vLLM's rules and defaults.
func (c *vllm) finish() {
	s := &c.server
	c.kinds()
	c.address()
	switch {
	case len(c.lora) > 0:
		s.models, s.drawn = c.lora, c.assignment == "random"
	case c.served != "":
		s.models = []string{c.served}
	}
	if len(s.models) == 0 {
		c.fail(-1, codeNeeds, "the model, --model NAME, is missing").
			Help("vLLM asks the server for its first one; a plan names it")
	}
	isKey := func(h pair) bool { return strings.EqualFold(h.name, "Authorization") }
	if !slices.ContainsFunc(s.headers, isKey) {
		s.keyFrom = "OPENAI_API_KEY"
	}
	s.parameters = append(c.sampling, s.parameters...)
	if c.beam {
		s.parameters = append(s.parameters, pair{"use_beam_search", "true"})
	}
	c.data()
	c.loads()
	c.extent.percentiles = c.percentileList
	if c.profile {
		s.profiler, s.profilerStop = "/start_profile", "/stop_profile"
	}
	if name := cmp.Or(c.tokenizer, c.seen["--model"].value); name != "" && !c.noTokenizer {
		c.readTokenizer(name, "main")
	}
	c.artifacts()
}

// artifacts finds the file that vLLM writes. Its usual name has the time, which is added when it is written.
func (c *vllm) artifacts() {
	if !c.save && !c.has("--append-result") {
		c.needless("--result-dir", "without --save-result no file is written")
		c.needless("--result-filename", "without --save-result no file is written")
		return
	}
	limit := ""
	if c.maxConcurrency > 0 {
		limit = "-concurrency" + plantext.Decimal(c.maxConcurrency)
	}
	model := path.Base(c.firstModel())
	usual := cmp.Or(c.backend, "openai") + "-" + cmp.Or(c.rate, "inf") + "qps" + limit + "-" + model + ".json"
	c.out.Folder, c.out.Formats = cmp.Or(c.dir, "."), []string{"vllm_bench"}
	c.out.Files = []File{{"vllm_bench.json", cmp.Or(c.file, usual)}}
	c.out.Append, c.out.Dated = c.has("--append-result"), c.file == ""
}

// kinds finds the shape of requests.
func (c *vllm) kinds() {
	s := &c.server
	backend := cmp.Or(c.backend, "openai")
	s.backend, s.streaming = "openai", true
	switch backend {
	case "openai", "openai-comp", "vllm", "lmdeploy", "scalellm", "sglang", "llama.cpp":
		s.endpoint = "completions"
	case "openai-chat", "vllm-chat", "sglang-oai-chat":
		s.endpoint = "chat"
	case "openai-embeddings", "openai-embeddings-chat", "infinity-embeddings", "vllm-pooling":
		s.endpoint, s.streaming = "embeddings", false
	case "vllm-rerank":
		s.endpoint, s.streaming = "rankings", false
	case "tensorrt-llm":
		s.backend, s.endpoint = "triton", "generate"
	default:
		all := strings.Fields("openai openai-chat vllm openai-embeddings vllm-pooling vllm-rerank " +
			"tensorrt-llm lmdeploy sglang")
		c.fail(c.arg("--backend"), codeNoEqual, "requests of kind %s have no equal in a plan", backend).
			Among(source.Nearest(backend, all), all)
	}
}

// address finds the URL and the path.
func (c *vllm) address() {
	s := &c.server
	local := "http://" + net.JoinHostPort(cmp.Or(c.host, "127.0.0.1"), plantext.Count(c.port))
	s.urls = []string{cmp.Or(c.baseURL, local)}
	if !strings.Contains(s.urls[0], "://") {
		s.urls[0] = "http://" + s.urls[0]
	}
	s.urls[0] = strings.TrimRight(s.urls[0], "/")
	path := strings.Trim(c.endpoint, "/")
	if path == "" {
		return
	}
	word, usual := endpointOf(path)
	if s.endpoint == "completions" && word == "chat" {
		s.endpoint = "chat"
	}
	if word != s.endpoint || !usual {
		s.path = "/" + path
	}
}

// data finds what is sent.
func (c *vllm) data() {
	p := &c.prompts
	p.count = int64(c.prompts_)
	in, out := cmp.Or(c.inputLen, c.randomIn), cmp.Or(c.outputLen, c.randomOut)
	name := c.dataset
	if name == "" {
		name = "random"
		if c.path != "" {
			name = "sharegpt"
		}
	}
	p.exact = c.ignoreEOS
	switch name {
	case "random", "random-mm", "random-rerank", "txt-slices":
		c.clash(c.path != "" && name != "txt-slices", "--dataset-path", name, "its prompts are generated")
		p.input, p.output = around(in, c.randomRange), around(out, c.randomRange)
		p.exact = p.exact || name != "txt-slices" && c.server.endpoint != "embeddings"
		if c.randomPref > 0 {
			p.prefixes, p.prefixTokens = 1, int64(c.randomPref)
		}
		if c.randomRange >= 1 {
			c.wrongValue("--random-range-ratio", "it is below 1")
		}
		if name == "txt-slices" {
			c.fileOf("--dataset-path", c.path)
			p.corpus, p.file = c.path, ""
		}
		if name == "random-mm" {
			c.images()
		}
	case "prefix_repetition":
		p.input, p.output = fixed(max(1, c.suffixLen)), fixed(cmp.Or(c.outputLen, c.prefixOut))
		p.prefixes, p.prefixTokens = int64(c.numPrefixes), int64(c.prefixLen)
	case "sonnet":
		p.prefixes, p.prefixTokens = 1, int64(c.sonnetPrefix)
		p.input, p.output = fixed(max(1, c.sonnetIn-c.sonnetPrefix)), fixed(cmp.Or(c.outputLen, c.sonnetOut))
		if c.path != "" {
			c.fileOf("--dataset-path", c.path)
			p.corpus, p.file = c.path, ""
		}
	case "sharegpt":
		c.rows("sharegpt", cmp.Or(c.sharegptOut, c.outputLen))
	case "custom":
		c.rows("jsonl", cmp.Or(c.outputLen, c.customOut))
	case "timed_trace":
		c.rows("mooncake", 0)
		c.load.schedule, p.once = !c.noSelfTimed, true
	default:
		c.remark(c.alsoGiven("--dataset-name", "--dataset-path"),
			"%s is not downloaded: the plan has generated prompts in its place", name)
		p.input, p.output = fixed(in), fixed(cmp.Or(c.hfOut, out))
	}
	if c.server.endpoint == "embeddings" || c.server.endpoint == "rankings" {
		p.output, p.exact = drawn{mean: -1}, false
	}
}

// rows takes the data from a file.
func (c *vllm) rows(format string, output float64) {
	p := &c.prompts
	if c.path == "" {
		c.needs(true, "--dataset-name", "--dataset-path", "")
		return
	}
	c.fileOf("--dataset-path", c.path)
	p.format = format
	if !c.noShuffle && format != "mooncake" {
		p.order = "shuffle"
	}
	c.limit(output)
	if c.ignoreEOS {
		c.server.parameters = append(c.server.parameters, pair{"ignore_eos", "true"})
	}
}

var bucket = regexp.MustCompile(`\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)\s*:\s*([0-9.]+)`)

// images takes the size of the images of the largest share.
func (c *vllm) images() {
	p := &c.prompts
	p.images = int64(math.Max(1, c.itemsPerRequest))
	p.width, p.height = fixed(256), fixed(256)
	best := 0.0
	all := bucket.FindAllStringSubmatch(c.buckets, -1)
	for _, m := range all {
		share, _ := strconv.ParseFloat(m[4], 64)
		height, _ := strconv.ParseFloat(m[1], 64)
		width, _ := strconv.ParseFloat(m[2], 64)
		if share > best && m[3] == "1" {
			best, p.width, p.height = share, fixed(width), fixed(height)
		}
	}
	if len(all) > 1 {
		c.remark("--random-mm-bucket-config", "images have one size: that of the largest share")
	}
}

// loads finds the load and its length.
func (c *vllm) loads() {
	l, e := &c.load, &c.extent
	e.requests = c.prompts_
	rate, infinite := 0.0, true
	if c.rate != "" && !strings.EqualFold(c.rate, "inf") {
		v, err := strconv.ParseFloat(c.rate, 64)
		if err != nil || v <= 0 || math.IsNaN(v) {
			c.wrongValue("--request-rate", "it is a number above 0, or inf")
			return
		}
		rate, infinite = v, math.IsInf(v, 0)
	}
	switch {
	case c.strategy != "":
		c.rampUp()
	case l.schedule:
		l.inFlight = c.maxConcurrency
	case infinite:
		l.concurrency = []float64{min(cmp.Or(c.maxConcurrency, c.prompts_), c.prompts_)}
		c.needless("--burstiness", "there is no request rate")
	default:
		l.rates, l.inFlight = []float64{rate}, c.maxConcurrency
		c.burst()
	}
	if l.schedule || c.strategy != "" {
		c.needless("--request-rate", "the ramp, or the times of the rows, say when requests are sent")
	}
	if c.probeRate == 0 {
		c.needless("--probe-request-rate", "there are no probes")
	}
}

// rampUp takes a rate that rises with each request: from one to the next by as much, or by the same factor. A
// plan's ramp rises with time, so it has steps of the same factor, each as long as the tool takes to get
// there: the whole takes as long, and sends as many.
func (c *vllm) rampUp() {
	const pieces = 16
	l := &c.load
	c.clash(c.rate != "" && c.rate != "inf", "--ramp-up-strategy", "--request-rate", "")
	c.needs(!c.has("--ramp-up-start-rps") || !c.has("--ramp-up-end-rps"), "--ramp-up-strategy",
		"--ramp-up-start-rps and --ramp-up-end-rps", "")
	from, to := c.startRPS, c.endRPS
	if to <= 0 || from > to {
		c.wrongValue("--ramp-up-end-rps", "it is above 0, and not below the start")
		return
	}
	if from == 0 {
		c.wrongValue("--ramp-up-start-rps", "vLLM's ramps begin above 0")
		return
	}
	rounded := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	l.steps = append(l.steps, rampStep{to: rounded(from)})
	for i := range pieces {
		begin := rounded(from * math.Pow(to/from, float64(i)/pieces))
		end := rounded(from * math.Pow(to/from, float64(i+1)/pieces))
		requests := c.prompts_ / pieces
		if c.strategy == "linear" && to > from {
			requests = c.prompts_ * (end - begin) / (to - from)
		}
		l.steps = append(l.steps, rampStep{end, rounded(2 * requests / (begin + end))})
	}
	l.rates, l.inFlight = []float64{to}, c.maxConcurrency
	c.burst()
}

// burst takes the distribution of the gaps between requests.
func (c *vllm) burst() {
	c.load.arrivals = "poisson"
	if c.burstiness != 1 && c.burstiness > 0 {
		c.load.cv = 1 / math.Sqrt(c.burstiness)
	}
}
