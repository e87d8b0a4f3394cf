package convert

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// loadMode is the origin of a command line's load.
type loadMode string

// The load modes, by their names in messages. A command line has one.
const (
	modeConcurrency loadMode = "--concurrency-range"
	modeRate        loadMode = "--request-rate-range"
	modeIntervals   loadMode = "--request-intervals"
	modeSchedule    loadMode = "--fixed-schedule"
	modePeriodic    loadMode = "--periodic-concurrency-range"
	modeSessions    loadMode = "--session-concurrency"
	modeOld         loadMode = "-t, -c or -d"
)

// span is a range from:to:step.
type span[T int64 | float64] struct{ from, to, step T }

type (
	shape     struct{ input, dims string }
	parameter struct{ name, value, kind string }
	header    struct{ name, value string }
	tlsFiles  struct{ ca, cert, key string }
	ids       struct{ from, to int64 } // to: the first one that is not used; 0: without end
)

// settings holds the options of a command line, with the defaults of perf_analyzer for the others.
type settings struct {
	*line
	o    Options
	seen map[string]given // by option.String, the last time
	// doubtful: an option that rules ask for has a mistake, so that a rule could report an option
	// that was meant well.
	doubtful bool
	modes    []given // load modes, each once

	usage, version, mpi bool

	counting                       bool // count windows
	interval, windowCount          int64
	stability, variation           float64
	percentile, trials             int64
	requests, warmup, threshold    int64
	binary, async, sync, serial    bool
	concurrency                    span[int64]
	rate                           span[float64]
	periodic                       span[int64]
	period, sessions, threads      int64
	arrivals, intervals            string
	sequences, length              int64
	lengthSaid                     bool
	ids                            ids
	generate                       string // zero, random; "": not given
	generated                      given
	paths                          []string
	dirs                           int // of paths, are folders
	batch                          int64
	shapes                         []shape
	stringData                     string
	stringLength                   int64
	memory                         string
	outputSize                     int64
	inputFormat, outputFormat      string
	model, modelVersion, signature string
	composing                      []string
	parameters                     []parameter
	headers                        []header
	streaming                      bool
	compression, method, proto     string
	endpoint, kind, protocol, url  string
	serverDir, repository          string
	metrics                        bool
	metricsURL                     string
	metricsEvery                   int64
	traceLevels                    []string
	traceOff                       bool
	traceRate, traceCount          int64
	logFrequency                   int64
	grpcTLS                        bool
	grpc, https                    tlsFiles
	verifyPeer, verifyHost         string
	certType, keyType              string
	csv                            string
	verboseCSV                     bool
	export                         string
	notes                          []note // what the plan cannot express
	asides                         []note // what needs no key in a plan
	literal                        []note // variables of a shell, kept as they are written
}

// note is an option without a key of the plan, and the reason.
type note struct{ option, text string }

var shellVariable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)[^}]*\}|([A-Za-z_][A-Za-z0-9_]*))`)

// variable warns of a variable that no shell has expanded.
func (s *settings) variable(g given) {
	found := shellVariable.FindStringSubmatch(g.value)
	if found == nil {
		return
	}
	name := cmp.Or(found[1], found[2])
	const outside = "%s; for a value from outside: vars: {%s: {env: %s}}, and ${%[2]s} in its place"
	text := fmt.Sprintf(outside, found[0], strings.ToLower(name), name)
	s.literal = append(s.literal, note{g.String(), text})
	d := s.warn(g.at, codeVariable, "%s: no shell has expanded %s", g, found[0])
	d.Detail = "a command line in single quotes keeps its variables as they are; " +
		"--var and `env` of the plan's `vars` set their values"
}

func newSettings(l *line, o Options) *settings {
	return &settings{
		line: l, o: o, seen: make(map[string]given),
		interval: 5000, windowCount: 50, stability: 10, variation: 20, percentile: -1, trials: 10,
		concurrency: span[int64]{1, 1, 1}, rate: span[float64]{1, 1, 1},
		periodic: span[int64]{1, 1, 1}, period: 10,
		arrivals: "constant", sequences: 4, length: 20, ids: ids{from: 1}, batch: 1,
		stringLength: 128, memory: "none",
		outputSize: 100 << 10, inputFormat: "binary", outputFormat: "binary", compression: "none",
		kind: "triton", protocol: "http",
		serverDir: "/opt/tritonserver", metricsEvery: 1000, traceRate: 1000, traceCount: -1,
		verifyPeer: "1", verifyHost: "2", certType: "PEM", keyType: "PEM",
	}
}

// take applies an option.
func (s *settings) take(g given) {
	before := len(s.diags)
	g.take(s, g)
	s.seen[g.String()] = g
	s.doubtful = s.doubtful || s.diags[before:].HasErrors() && asked(g.String())
}

// asked reports whether rules ask for an option.
func asked(option string) bool {
	return slices.Contains([]string{
		"-m", "-i", "-b", "-t", "-c", "--service-kind", "--input-data", "--latency-threshold",
		"--concurrency-range", "--request-rate-range",
		"--periodic-concurrency-range", "--session-concurrency", "--request-count",
		"--warmup-request-count", "--sequence-id-range",
		"--grpc-method", "--endpoint", "--model-repository", "--profile-export-file", "--async",
		"--streaming", "--collect-metrics",
	}, option)
}

// has reports whether an option was given, by its name with dashes.
func (s *settings) has(name string) bool {
	_, ok := s.seen[name]
	return ok
}

// arg returns the argument that a message about an option points to; -1 where it was not given.
func (s *settings) arg(name string) int {
	if g, ok := s.seen[name]; ok {
		return g.at
	}
	return -1
}

// mode makes a taker record the origin of the load.
func mode(m loadMode, take func(*settings, given)) func(*settings, given) {
	return func(s *settings, g given) {
		take(s, g)
		if !slices.ContainsFunc(s.modes, func(o given) bool { return modeOf(o) == m }) {
			s.modes = append(s.modes, g)
		}
	}
}

func modeOf(g given) loadMode {
	if g.name == "" {
		return modeOld
	}
	return loadMode(g.String())
}

// load returns the mode of the command line: the first one given.
func (s *settings) load() loadMode {
	if len(s.modes) == 0 {
		return modeConcurrency
	}
	return modeOf(s.modes[0])
}

// closed reports whether the load is a number of requests in flight.
func (s *settings) closed() bool {
	m := s.load()
	return m == modeConcurrency || m == modeOld
}

// grpcSpoken reports whether requests go over gRPC.
func (s *settings) grpcSpoken() bool { return s.protocol == "grpc" }
