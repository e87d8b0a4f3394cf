package convert

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// llm holds what a command line of a load generator for language models asks for. The tools differ in
// their options and what they do without them; the plan is made of this alone.
type llm struct {
	*reader
	server  modelServer
	prompts prompting
	labels  []pair
	load    llmLoad
	extent  llmExtent
	out     Converted
	help    struct{ usage, version bool }
	notes   []note // what the tool itself has no equal for
	moot    []note // what a plan has no need of
}

// modelServer holds the options of the server and of every request.
type modelServer struct {
	backend, endpoint, path string // as in a plan; path "": the endpoint's
	method                  string // of gRPC
	urls                    []string
	models                  []string
	drawn                   bool // each request's model is drawn; else they come in turn
	streaming               bool
	headers, parameters     []pair  // a parameter's value is YAML
	keyFrom                 string  // the environment variable of the API key, if it is set
	timeout, ready          float64 // s; 0: the plan's
	freshConnections        bool
	insecure                bool
	metrics                 []string // URLs
	match                   string   // metrics to keep
	tokenizer               string
	reset, profiler         string // paths to POST to: before, and before and after with start and stop
	profilerStop            string
}

// drawn is a number: its mean and standard deviation, or its bounds.
type drawn struct{ mean, std, low, high float64 }

// fixed returns a number that is always the same.
func fixed(v float64) drawn { return drawn{mean: v} }

// around returns a number that is uniform within a share of v, whole.
func around(v, share float64) drawn {
	if share == 0 {
		return fixed(v)
	}
	return drawn{low: max(1, math.Floor(v*(1-share))), high: math.Ceil(v * (1 + share))}
}

// write returns the number as a plan has it; least is the smallest value of a normal distribution.
func (n drawn) write(least float64, unit string) string {
	switch {
	case n.high > 0 && n.low == n.high:
		return plantext.Decimal(n.low) + unit
	case n.high > 0:
		return fmt.Sprintf("{min: %s%s, max: %s%s}", plantext.Decimal(n.low), unit, plantext.Decimal(n.high), unit)
	case n.std == 0:
		return plantext.Decimal(n.mean) + unit
	case least == 0:
		return fmt.Sprintf("{mean: %s%s, std: %s%s}", plantext.Decimal(n.mean), unit, plantext.Decimal(n.std), unit)
	}
	return fmt.Sprintf("{mean: %s%s, std: %s%s, min: %s%s}", plantext.Decimal(n.mean), unit,
		plantext.Decimal(n.std), unit, plantext.Decimal(least), unit)
}

// prompting holds the options of what is sent.
type prompting struct {
	file, format, order string
	columns             []pair   // field and column of the file
	rows                []string // of queries and passages, as YAML, in place of a file
	passages            string   // the member of rows that has the passages
	timing              string
	idleCap, sample     float64 // s, share
	once                bool    // each row once
	count               int64
	input, output       drawn // output.mean < 0: the server decides
	inputs, outputs     []float64
	counts, batches     []float64 // in place of count and batch: an axis of the stage's matrix
	exact               bool
	limited             bool      // output is a field of the requests
	pairs               []lengths // in place of input and output
	prefixes            int64
	prefixTokens        int64
	system, context     int64
	corpus              string
	turns, delay        drawn // delay in ms
	images              int64
	width, height       drawn
	imageFormat         string
	seconds             drawn
	audios              int64
	sampleRate          int64
	batch               int64
	seed                int64
}

// lengths is one kind of prompt of a mixture.
type lengths struct {
	input, output drawn
	weight        float64
}

// llmLoad holds the options that say when requests are sent.
type llmLoad struct {
	concurrency, rates []float64  // of several a level each
	inFlight           float64    // with a rate; 0: no limit
	arrivals           string     // constant, poisson
	cv                 float64    // in place of arrivals, if above 0
	ramp               float64    // s up to the first value
	steps              []rampStep // of the rate, in place of ramp
	schedule           bool
	from, to           float64 // ms of the schedule; to 0: its end
	speed              float64
	users, userRate    float64
	sessions           bool    // concurrency counts sessions
	ofSessions         bool    // the rate counts sessions
	cancelled, after   float64 // percent, s
}

// rampStep is a step of a rate that rises: to a rate, in s.
type rampStep struct{ to, over float64 }

// llmExtent holds the options that say how long is measured.
type llmExtent struct {
	requests, sessions float64
	duration, grace    float64 // s; grace < 0: the plan's
	window             float64 // ms
	stability          float64 // percent; with window
	warmup             float64 // requests
	warmupTime         float64 // s
	warmupSessions     float64
	repeat             int64
	cooldown           float64 // s
	failures           float64 // the largest share; 0: not given
	goodput            []goal
	percentiles        []float64
}

// goal is a limit of single requests: the tool's name of the metric, the plan's, and the limit in ms.
type goal struct {
	name, metric string
	limit        float64
}

// strictest returns the limits of a plan's metrics: of several that the tool names apart, the smallest.
func strictest(goals []goal) (all []pair) {
	for i, g := range goals {
		same := func(o goal) bool { return o.metric == g.metric }
		if slices.ContainsFunc(goals[:i], same) {
			continue
		}
		for _, o := range goals[i+1:] {
			if same(o) {
				g.limit = min(g.limit, o.limit)
			}
		}
		all = append(all, pair{g.metric, plantext.Decimal(math.Round(g.limit*1e6)/1e6) + "ms"}) // to the nanosecond
	}
	return all
}

// newLLM returns what a command line asks for without options.
func newLLM(r *reader) *llm {
	l := &llm{reader: r}
	l.prompts.output.mean = -1
	l.prompts.turns = fixed(1)
	l.extent.grace = -1
	l.load.speed = 1
	return l
}

// firstModel returns the first model; "": there is none.
func (l *llm) firstModel() string {
	if len(l.server.models) == 0 {
		return ""
	}
	return l.server.models[0]
}

// remark names an option without an equal in a plan.
func (l *llm) remark(option, format string, args ...any) {
	l.notes = append(l.notes, note{l.spoken(option), fmt.Sprintf(format, args...)})
}

// needless names an option that a plan has no need of.
func (l *llm) needless(option, text string) {
	if l.has(option) {
		l.moot = append(l.moot, note{l.spoken(option), text})
	}
}

// list takes numbers with commas between them; of an option with several values also one after the other.
func list(to *[]float64, least float64) func(given) {
	*to = nil
	return func(g given) {
		var all []float64
		if g.many {
			all = *to
		}
		for _, part := range strings.Split(g.value, ",") {
			v, ok := g.number(part, least)
			if !ok {
				return
			}
			all = append(all, v)
		}
		*to = all
	}
}

// integral takes a whole number of at least least.
func integral(to *float64, usual, least float64) func(given) {
	*to = usual
	return func(g given) {
		if n, ok := g.integer(g.value, int64(least)); ok {
			*to = float64(n)
		}
	}
}

// wholes takes whole numbers as list does.
func wholes(to *[]float64, least float64) func(given) {
	take := list(to, least)
	return func(g given) {
		for _, part := range strings.Split(g.value, ",") {
			if _, ok := g.integer(part, int64(least)); !ok {
				return
			}
		}
		take(g)
	}
}

// more takes words with commas between them; of an option with several values also one after the other. Given
// again, it replaces them, but for AIPerf, where it adds to them.
func more(to *[]string) func(given) {
	*to = nil
	last := -1
	return func(g given) {
		if !g.many || g.nameAt != last && g.line.program != "aiperf" {
			*to = nil
		}
		last = g.nameAt
		for _, part := range strings.Split(g.value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*to = append(*to, part)
			}
		}
	}
}

// boolean takes true or false; nothing is true.
func boolean(to *bool) func(given) {
	return func(g given) { *to = !strings.EqualFold(g.value, "false") }
}

// header takes NAME:VALUE.
func (s *modelServer) header(separator string) func(given) {
	return func(g given) {
		name, value, ok := strings.Cut(g.value, separator)
		if name = strings.TrimSpace(name); !ok || name == "" {
			g.malformed("%s wants a %q between a header's name and its value, %q has none", g, separator, g.value)
			return
		}
		set(&s.headers, pair{name, strings.TrimSpace(value)}, strings.EqualFold)
	}
}

// goal takes METRIC:VALUE, several with blanks between them. names has the plan's metric for each of the
// tool's; "": there is none.
func (l *llm) goal(names map[string]string) func(given) {
	l.extent.goodput = nil
	return func(g given) {
		for one := range strings.FieldsSeq(g.value) {
			name, value, ok := strings.Cut(one, ":")
			if !ok {
				g.malformed("%s wants METRIC:VALUE, %q is none", g, one)
				return
			}
			v, ok := g.number(value, 0)
			if !ok {
				return
			}
			row, known := names[name]
			switch {
			case !known:
				g.notAllowed(name, slices.Sorted(maps.Keys(names)))
				return
			case row == metric.TokensPerUser && v > 0: // a rate of tokens is the time of one
				row, v = metric.ITL, 1000/v
			case row == "" || row == metric.TokensPerUser:
				l.remark(g.String(), "a plan cannot judge single requests by %s", name)
				continue
			}
			list := &l.extent.goodput
			*list = append(slices.DeleteFunc(*list, func(o goal) bool { return o.name == name }), goal{name, row, v})
		}
	}
}

// tokenizerFile returns the file of a tokenizer: one that is named, in a folder that is named, or in the
// cache of Hugging Face. "": there is none here.
func tokenizerFile(name, revision string) string {
	const file = "tokenizer.json"
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return name
	}
	if there := filepath.Join(name, file); isFile(there) {
		return there
	}
	cache := os.Getenv("HF_HUB_CACHE")
	if home := os.Getenv("HF_HOME"); cache == "" && home != "" {
		cache = filepath.Join(home, "hub")
	} else if home, err := os.UserHomeDir(); cache == "" && err == nil {
		cache = filepath.Join(home, ".cache", "huggingface", "hub")
	}
	if cache == "" || strings.Count(name, "/") > 1 || strings.Contains(name, "..") {
		return ""
	}
	model := filepath.Join(cache, "models--"+strings.ReplaceAll(name, "/", "--"))
	if commit, err := os.ReadFile(filepath.Join(model, "refs", revision)); err == nil && len(commit) < 100 {
		revision = strings.TrimSpace(string(commit))
	}
	if there := filepath.Join(model, "snapshots", revision, file); isFile(there) {
		return there
	}
	return ""
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// typed returns a text as YAML has it: true, 5, 0.5, or a quoted text; as GenAI-Perf and AIPerf read
// the values of --extra-inputs.
func typed(value string) string {
	if lower := strings.ToLower(value); lower == "true" || lower == "false" {
		return lower
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return plantext.Count(n)
	}
	if v, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
		return plantext.Decimal(v)
	}
	return strconv.Quote(plantext.Escaped(value))
}
