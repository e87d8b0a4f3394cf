package convert

import (
	"fmt"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
)

// command holds the options of a command line by subject, with perf_analyzer's defaults for those
// that are not given.
type command struct {
	*reader
	measure   measuring
	load      loading
	sequences sequencing
	data      feeding
	target    serving
	request   requesting
	watch     watching
	out       Converted
}

func newCommand(o Options) *command {
	return commandOf(newReader(o, "perf_analyzer", shell.DropProgram(o.Args, perfAnalyzerNames)))
}

// commandOf returns a command without options whose options r reads.
func commandOf(r *reader) *command {
	c := &command{reader: r}
	c.load.concurrency, c.load.rate = span[int64]{1, 1, 1}, span[float64]{1, 1, 1}
	c.sequences = sequencing{length: 20, ids: span[int64]{from: 1}}
	r.asked = strings.Fields("-m -i -b -t -c --service-kind --input-data --latency-threshold " +
		"--concurrency-range --request-rate-range --periodic-concurrency-range --session-concurrency " +
		"--request-count --warmup-request-count --sequence-id-range --grpc-method --endpoint " +
		"--model-repository --profile-export-file --async --streaming --collect-metrics")
	r.options = optionsOf(c.table())
	return c
}

// span is a range from:to:step.
type span[T int64 | float64] struct{ from, to, step T }

// measuring holds the options of windows, warm-up and limits.
type measuring struct {
	mode                  string // time_windows, count_windows
	interval, windowCount int64  // of a window, in ms or requests
	stability             float64
	percentile, trials    int64 // percentile: 0 or -1 for the mean
	requests, warmup      int64
	threshold             int64 // ms
}

// limit returns the latency threshold as a condition; "": there is none.
func (m *measuring) limit() string {
	if m.threshold == 0 {
		return ""
	}
	return m.latency() + " < " + plantext.Milliseconds(m.threshold)
}

// latency returns the statistic that decides: the mean, or a percentile.
func (m *measuring) latency() string {
	if m.percentile > 0 {
		return fmt.Sprintf("latency.p%d", m.percentile)
	}
	return "latency.mean"
}

// window returns the length of one window, and the option that sets it.
func (m *measuring) window() (length, option string) {
	if m.mode == "count_windows" {
		return plantext.Count(m.windowCount) + " requests", "--measurement-request-count"
	}
	return plantext.Milliseconds(m.interval), "--measurement-interval"
}

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

// loading holds the options that say when requests are sent.
type loading struct {
	modes                     []given // load modes, each once
	concurrency, periodic     span[int64]
	rate                      span[float64]
	period, sessions, threads int64
	arrivals, intervals       string
	binary, async, sync, mpi  bool
}

func modeOf(g given) loadMode {
	if len(g.names) == 0 {
		return modeOld
	}
	return loadMode(g.String())
}

// mode returns the mode of the command line: the first one given.
func (l *loading) mode() loadMode {
	if len(l.modes) == 0 {
		return modeConcurrency
	}
	return modeOf(l.modes[0])
}

// closed reports whether the load is a number of requests in flight.
func (l *loading) closed() bool { return l.mode() == modeConcurrency || l.mode() == modeOld }

// ranged returns the option of the levels, and their range.
func (l *loading) ranged() (option string, r span[float64], ok bool) {
	switch mode := l.mode(); mode {
	case modeRate:
		return string(mode), l.rate, true
	case modeOld:
		option = "-c"
	case modeConcurrency:
		option = string(mode)
	default:
		return "", r, false
	}
	c := l.concurrency
	return option, span[float64]{float64(c.from), float64(c.to), float64(c.step)}, true
}

// many reports whether the load has several levels.
func (l *loading) many() bool {
	_, r, ok := l.ranged()
	return ok && (r.from < r.to || r.to == 0)
}

// searching reports whether the load is searched between two values.
func (l *loading) searching() bool { return l.binary && l.many() }

// sequencing holds the options of sequences.
type sequencing struct {
	live, length int64
	variation    float64     // of length, in percent
	ids          span[int64] // to: the first one that is not used; 0: without end
	serial       bool
}

// lengths returns the length of sequences: one, or the range of a variation.
func (s *sequencing) lengths() string {
	off := int64(math.Trunc(s.variation / 100 * float64(s.length)))
	if off == 0 {
		return plantext.Count(s.length)
	}
	return fmt.Sprintf("{min: %d, max: %d}", max(1, s.length-off), s.length+off)
}

// feeding holds the options of what is sent.
type feeding struct {
	generated  given // whose value is zero or random, if it was given
	paths      []string
	dir        string // the first of paths that is a folder
	batch      int64
	shapes     []pair // input and dimensions
	text       string // of --string-data
	textLength int64
	memory     string // none, system, cuda
	outputSize int64  // bytes
}

// pair is a name and its value.
type pair struct{ name, value string }

// requesting holds the options of each request.
type requesting struct {
	model, version, signature string
	composing                 []string
	parameters, headers       []pair
	streaming                 bool
	compression               string
	method, proto, endpoint   string
	inputFormat, outputFormat string // binary, json
}

// serving holds the options of the server's kind, address and certificates.
type serving struct {
	kind, protocol, url    string
	serverDir, repository  string
	grpcTLS                bool
	grpc, https            tlsFiles
	verifyPeer, verifyHost string
	certType, keyType      string
}

type tlsFiles struct{ ca, cert, key string }

// overGRPC reports whether requests go over gRPC.
func (s *serving) overGRPC() bool { return s.protocol == "grpc" }

// inProcess reports whether the server is a library that the client loads: there is no network.
func (s *serving) inProcess() bool { return s.kind == "triton_c_api" }

// watching holds the options of the server's metrics and its trace.
type watching struct {
	metrics                             bool
	metricsURL                          string
	metricsEvery                        int64 // ms
	traceLevels                         []string
	traceOff                            bool
	traceRate, traceCount, logFrequency int64
}
