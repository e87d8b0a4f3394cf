package convert

import (
	"cmp"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/shell"

	"github.com/sluice-bench/sluice/scenario/source"
)

// AIPerf converts a command line of `aiperf profile`. With an error among the diagnostics there is no plan.
// Warnings name what the plan cannot express.
func AIPerf(o Options) (Converted, source.Diagnostics) {
	args := withSettings(shell.DropProgram(o.Args, []string{"aiperf"}))
	c := newAIPerf(newReader(o, "aiperf", args))
	if sub := c.subcommand("profile"); sub != "profile" {
		c.fail(0, codeArgument, "aiperf %s measures nothing: there is no plan of it", sub)
		return Converted{Line: c.text}, c.mistakes()
	}
	return c.convert("aiperf", aiperfSettings, c.finish)
}

// AIPerfUsage lists every option with the plan's equal.
func AIPerfUsage() string { return usageOf(newAIPerf(newReader(Options{}, "", nil)).table()) }

func newAIPerf(r *reader) *aiperf {
	c := &aiperf{llm: newLLM(r)}
	r.joined = true
	r.asked = strings.Fields("--model --endpoint-type --input-file --concurrency --request-rate " +
		"--fixed-schedule --num-users --user-centric-rate --num-sessions --custom-dataset-type --url")
	r.options = optionsOf(c.table())
	return c
}

// finish applies AIPerf's rules and defaults.
func (c *aiperf) finish() {
	s, p := &c.server, &c.prompts
	if len(s.models) == 0 {
		c.fail(-1, codeNeeds, "the model, --model NAME, is missing")
	}
	s.drawn = c.mode != "round_robin"
	if c.mode == "weighted" {
		c.remark("--model-selection-strategy", "weights are those of the entries of the mix: all are 1")
	}
	c.kinds()
	c.addresses()
	c.lengths()
	c.media()
	c.source()
	c.loads()
	c.extents()
	c.control()
	p.timing = map[bool]string{true: "strict"}[c.strict]
	if c.closed {
		p.timing = "closed"
	}
	p.idleCap = cmp.Or(c.idleGap, c.turnGap)
	p.delay.mean, p.delay.std = p.delay.mean*c.delayRatio, p.delay.std*c.delayRatio
	if c.tokenizer == "builtin" {
		c.remark("--tokenizer", "no tokenizer is built in: target.tokenizer names the file of one")
	} else {
		c.readTokenizer(c.tokenizer, c.revision)
	}
	c.readMetrics()
	c.asksLength()
	c.artifacts()
}

// kinds finds the shape of requests.
func (c *aiperf) kinds() {
	s := &c.server
	kind := cmp.Or(c.kind, "chat")
	s.backend, s.endpoint = "openai", kind
	switch kind {
	case "chat", "completions", "responses", "messages", "embeddings":
	case "multimodal":
		s.endpoint = "chat"
	case "nim_embeddings":
		s.endpoint = "embeddings"
	case "rankings", "nim_rankings":
		s.endpoint, s.path = "rankings", "/v1/ranking"
	case "cohere_rankings":
		s.endpoint, s.path = "rankings", "/v2/rerank"
	case "hf_tei_rankings":
		s.endpoint, s.path = "rankings", "/rerank"
	case "image_generation":
		s.endpoint = "images"
	case "kserve_v2_infer":
		s.backend, s.endpoint = "triton", "tensorrtllm"
	default:
		all := strings.Fields("chat completions responses messages embeddings nim_embeddings rankings " +
			"nim_rankings cohere_rankings hf_tei_rankings image_generation kserve_v2_infer")
		c.fail(c.arg("--endpoint-type"), codeNoEqual, "requests of kind %s have no equal in a plan", kind).
			Among(source.Nearest(kind, all), all)
	}
	if !slices.Contains([]string{"chat", "completions", "responses", "messages", "tensorrtllm"}, s.endpoint) {
		s.streaming = false
	}
	if c.key != "" {
		set(&s.headers, pair{"Authorization", "Bearer " + c.key}, strings.EqualFold)
	}
	if c.sent("stream") == "true" {
		c.drop("stream")
		s.streaming = true
	}
}

// addresses completes the URLs and the path. A URL may end with the endpoint's path.
func (c *aiperf) addresses() {
	s := &c.server
	if len(s.urls) == 0 {
		s.urls = []string{"localhost:8000"}
	}
	for i, address := range s.urls {
		if !strings.Contains(address, "://") {
			address = "http://" + address
		}
		s.urls[i] = address
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		path := strings.Trim(u.Path, "/")
		word, _ := endpointOf(path)
		whole := path != "" && word == s.endpoint && c.endpoint == ""
		if whole || strings.HasSuffix(path, "v1") {
			at := max(strings.Index(path, "v1"), 0)
			if !strings.HasSuffix(path, "v1") {
				c.endpoint = path[at:]
			}
			s.urls[i] = u.Scheme + "://" + u.Host
			if before := strings.Trim(path[:at], "/"); before != "" {
				s.urls[i] += "/" + before
			}
		}
	}
	if path := strings.Trim(c.endpoint, " /"); path != "" {
		s.path = ""
		if word, usual := endpointOf(path); !usual || word != s.endpoint {
			s.path = "/" + path
		}
	}
	if len(s.urls) > 1 && len(s.models) > 1 {
		c.remark("--url", "several models and several servers: the first server is taken")
		s.urls = s.urls[:1]
	}
	s.freshConnections = c.reuse == "never"
	if c.reuse == "sticky-user-sessions" {
		c.remark("--connection-reuse-strategy", "connections belong to slots, not to sessions")
	}
	s.ready = c.waitFor
}

// loads finds the load.
func (c *aiperf) loads() {
	l, p := &c.load, &c.prompts
	l.sessions = p.turns.mean > 1 || firstRow(p.file)["session_id"] != nil
	if c.noSchedule && c.has("--no-fixed-schedule") {
		l.schedule = false
	}
	c.needs(l.schedule && p.file == "", "--fixed-schedule", "--input-file", "its rows have the times")
	l.from, l.to = c.startOffset, c.endOffset
	if l.to > 0 && l.from >= l.to {
		c.wrongValue("--fixed-schedule-end-offset", "it is above the start of "+plantext.Decimal(l.from)+" ms")
	}
	l.speed = cmp.Or(c.speedup, c.replaySpeedup, 1)
	if c.smoothness > 0 && (l.arrivals == "gamma" || !c.has("--arrival-pattern")) {
		l.cv = 1 / math.Sqrt(c.smoothness)
	} else if l.arrivals == "gamma" {
		l.arrivals = "poisson"
	}
	if len(l.rates) == 0 {
		c.needless("--arrival-pattern", "there is no request rate")
	}
	switch {
	case l.userRate > 0:
		c.needs(len(c.users) == 0, "--user-centric-rate", "--num-users", "")
		c.clash(len(l.rates) > 0, "--user-centric-rate", "--request-rate", "")
		if len(c.users) > 0 {
			l.users = c.users[0]
		}
		if c.has("--concurrency") {
			c.remark("--concurrency", "users have one request in flight each, and no limit of all")
		}
	case l.schedule:
		c.needless("--concurrency", "each row is sent at its time")
		c.needless("--request-rate", "each row is sent at its time")
	case len(l.rates) > 0 && len(l.concurrency) > 0:
		l.inFlight = most(l.concurrency)
		if len(l.concurrency) > 1 {
			c.remark("--concurrency", "beside a rate it is one limit: the largest is taken")
		}
	case len(l.rates) == 0 && len(l.concurrency) == 0:
		l.concurrency = []float64{1}
	}
	if l.ramp = c.rateRamp; len(l.rates) == 0 {
		l.ramp = c.ramp
	} else if c.ramp > 0 {
		c.remark("--concurrency-ramp-duration", "beside a rate the limit is the same from the start")
	}
	if c.ramp > 0 && (l.schedule || l.users > 0) {
		c.needless("--concurrency-ramp-duration", "the load is no concurrency")
	}
	if l.ramp > 0 && max(len(l.rates), len(l.concurrency)) > 1 {
		c.remark(c.firstOf("--concurrency-ramp-duration", "--request-rate-ramp-duration"), "levels begin at once")
		l.ramp = 0
	}
	if len(c.users) > 1 {
		c.remark("--num-users", "one number of users: the first is taken")
	}
	c.needs(c.has("--request-cancellation-delay") && l.cancelled == 0, "--request-cancellation-delay",
		"--request-cancellation-rate", "")
}

// extents finds the length of the measurement.
func (c *aiperf) extents() {
	l, e, p := &c.load, &c.extent, &c.prompts
	first := func(option string, values []float64) float64 {
		if len(values) > 1 {
			c.remark(option, "one length is measured: the largest is taken; write a stage for each")
		}
		return most(values)
	}
	e.sessions = first("--num-sessions", c.sessionCounts)
	e.duration = first("--benchmark-duration", c.durations)
	e.requests = first("--request-count", c.requests)
	c.clash(e.requests > 0 && e.sessions > 0, "--request-count", "--num-sessions", "")
	if e.sessions > 0 {
		p.count = int64(e.sessions)
		if !l.sessions { // each is one request
			e.requests = e.sessions
		}
	}
	c.warmUp()
	if c.has("--request-timeout-seconds") && c.server.timeout == 0 {
		c.remark("--request-timeout-seconds", "requests without a limit have target.timeout, 30 s unless it is set")
	}
	if e.requests > 0 && e.duration > 0 {
		c.remark("--request-count", "a duration is measured; the first of two ends is none of a plan")
	}
	if e.requests > 0 {
		p.once = false
	}
	if e.requests == 0 {
		e.requests = max(10, 2*most(l.concurrency))
	}
	switch {
	case c.grace == "" || e.duration == 0:
	case strings.EqualFold(c.grace, "inf"):
		e.grace = 86400
	default:
		v, err := strconv.ParseFloat(c.grace, 64)
		if err != nil || v < 0 {
			c.wrongValue("--benchmark-grace-period", "write seconds, or inf")
		}
		e.grace = v
	}
	if c.level == "raw" {
		c.remark("--export-level", "output.samples: jsonl writes a row for each request, without its body")
	}
	c.remarkCooldown()
}

// warmUp names the ends of the warm-up that a plan has none for: it has one.
func (c *aiperf) warmUp() {
	e := &c.extent
	const why = "the warm-up has one end: %s"
	switch {
	case e.warmupTime > 0 && e.warmup > 0:
		c.remark("--warmup-request-count", why, c.spoken("--warmup-duration"))
	case e.warmup > 0 && e.warmupSessions > 0:
		c.remark("--num-warmup-sessions", why, c.spoken("--warmup-request-count"))
	}
	if e.warmupTime > 0 && e.warmupSessions > 0 {
		c.remark("--num-warmup-sessions", why, c.spoken("--warmup-duration"))
	}
}

func (c *aiperf) remarkCooldown() {
	if c.extent.cooldown == 0 {
		c.needless("--profile-run-cooldown-seconds", "there is no pause")
	}
}

// control takes the requests to the server around the measurement.
func (c *aiperf) control() {
	s := &c.server
	if c.reset {
		s.reset = "/" + strings.TrimLeft(cmp.Or(c.resetPath, "reset_prefix_cache"), "/")
	}
	if c.profiler {
		s.profiler = "/" + strings.TrimLeft(cmp.Or(c.profilerStart, "start_profile"), "/")
		s.profilerStop = "/" + strings.TrimLeft(cmp.Or(s.profilerStop, "stop_profile"), "/")
	}
}

// readMetrics completes the URLs of metrics.
func (c *aiperf) readMetrics() {
	s := &c.server
	complete := func(list []string) {
		for _, u := range list {
			switch {
			case strings.HasSuffix(u, ".csv") || slices.Contains([]string{"pynvml", "amdsmi", "dashboard"}, u):
				c.remark("--gpu-telemetry", "%s: metrics are read from URLs", u)
				continue
			case !strings.Contains(u, "://"):
				u = "http://" + u
			}
			if parsed, err := url.Parse(u); err == nil && strings.Trim(parsed.Path, "/") == "" {
				u = strings.TrimRight(u, "/") + "/metrics"
			}
			s.metrics = append(s.metrics, u)
		}
	}
	complete(c.serverMetrics)
	complete(c.gpuMetrics)
}

// artifacts finds the folder that AIPerf writes to, and its files.
func (c *aiperf) artifacts() {
	records, summary := "profile_export.jsonl", "profile_export_aiperf.json"
	if c.prefix != "" {
		stem := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(c.prefix), ".json"), ".jsonl")
		records, summary = stem+".jsonl", stem+".json"
	}
	c.out.Folder, c.out.Formats = c.folderName(), []string{"aiperf"}
	c.out.Files = []File{{"profile_export.jsonl", records}, {"profile_export_aiperf.json", summary}}
}

// folderName returns the name of AIPerf's folder.
func (c *aiperf) folderName() string {
	name := strings.ReplaceAll(c.firstModel(), "/", "_")
	if len(c.server.models) > 1 {
		name += "_multi"
	}
	name += "-openai-" + cmp.Or(c.kind, "chat")
	return cmp.Or(c.dir, filepath.Join("artifacts", name+c.load.stimulus()))
}
