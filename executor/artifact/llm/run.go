// Package llm reads and writes the result files of other tools that measure servers of text: GenAI-Perf, AIPerf
// and vLLM's bench. What a file says becomes a Run, in one meaning, and figures are drawn of runs.
package llm

import (
	"math"
	"slices"
)

// Unknown is a number that a file does not have.
const Unknown = -1

// Request is one request for text. Times are in ns, lengths in tokens.
type Request struct {
	Sent     int64   `json:"sent"`           // since 1970; 0: unknown
	Due      int64   `json:"due"`            // since 1970, or as Sent
	Latency  int64   `json:"latency"`        // from sending to the last content
	End      int64   `json:"end"`            // from sending to the end of the reply
	First    int64   `json:"first"`          // from sending to the first content; Unknown for a reply in one piece
	Answer   int64   `json:"answer"`         // to the first content that is no reasoning
	Gaps     []int64 `json:"gaps,omitempty"` // between contents
	Input    int64   `json:"input"`
	Output   int64   `json:"output"`
	ITL      float64 `json:"itl"` // as the file says; Unknown: from the other numbers
	Cached   int64   `json:"cached"`
	Thought  int64   `json:"thought"` // tokens of reasoning
	Session  uint64  `json:"session,omitempty"`
	ID       uint64  `json:"id,omitempty"`
	Warmup   bool    `json:"warmup,omitempty"`
	Class    string  `json:"class,omitempty"` // of a failure; "": it was answered
	Code     int32   `json:"code,omitempty"`
	Text     string  `json:"text,omitempty"` // of the failure
	Canceled bool    `json:"canceled,omitempty"`
}

// NewRequest returns a request of which nothing is known.
func NewRequest() Request {
	return Request{
		Latency: Unknown, End: Unknown, First: Unknown, Answer: Unknown,
		Input: Unknown, Output: Unknown, ITL: Unknown, Cached: Unknown, Thought: Unknown,
	}
}

// second returns the time between the first two contents.
func (r *Request) second() int64 {
	if r.First < 0 || len(r.Gaps) == 0 {
		return Unknown
	}
	return r.Gaps[0]
}

// itl returns the mean time between tokens, ns: that of the file, else (latency − TTFT) ÷ (tokens − 1).
func (r *Request) itl() float64 {
	switch {
	case r.ITL >= 0:
		return r.ITL
	case r.First < 0 || r.Output < 2 || r.Latency <= r.First: // text in one event says nothing of its tokens
		return Unknown
	}
	return float64(r.Latency-r.First) / float64(r.Output-1)
}

// Metric is a number of each request, under the name that GenAI-Perf and AIPerf share.
type Metric struct {
	Tag, Title, Unit string
	of               func(*Request) float64 // Unknown: it has none
}

// The tags of metrics that figures and tables name.
const (
	TTFT    = "time_to_first_token"
	TTST    = "time_to_second_token"
	Latency = "request_latency"
	ITL     = "inter_token_latency"
	PerUser = "output_token_throughput_per_user"
	OSL     = "output_sequence_length"
	ISL     = "input_sequence_length"
	Gap     = "inter_chunk_latency"

	RequestRate  = "request_throughput"
	RequestCount = "request_count"
	OutputRate   = "output_token_throughput"
	GoodputRate  = "request_goodput"
	duration     = "benchmark_duration"

	// AIPerf's.
	goodCount = "good_request_count"
	answered  = "output_token_count" // OSL without reasoning
	reasoning = "reasoning_token_count"
)

// Metrics lists the metrics of a request in GenAI-Perf's order.
func Metrics() []Metric {
	ms := func(of func(*Request) int64) func(*Request) float64 {
		return func(r *Request) float64 {
			if v := of(r); v >= 0 {
				return float64(v) / 1e6
			}
			return Unknown
		}
	}
	tokens := func(of func(*Request) int64) func(*Request) float64 {
		return func(r *Request) float64 { return float64(of(r)) }
	}
	return []Metric{
		{TTFT, "Time To First Token", "ms", ms(func(r *Request) int64 { return r.First })},
		{TTST, "Time To Second Token", "ms", ms((*Request).second)},
		{Latency, "Request Latency", "ms", ms(func(r *Request) int64 { return r.Latency })},
		{ITL, "Inter Token Latency", "ms", func(r *Request) float64 {
			if v := r.itl(); v >= 0 {
				return v / 1e6
			}
			return Unknown
		}},
		{PerUser, "Output Token Throughput Per User", "tokens/sec/user", func(r *Request) float64 {
			if v := r.itl(); v > 0 {
				return 1e9 / v
			}
			return Unknown
		}},
		{OSL, "Output Sequence Length", "tokens", tokens(func(r *Request) int64 { return r.Output })},
		{ISL, "Input Sequence Length", "tokens", tokens(func(r *Request) int64 { return r.Input })},
	}
}

// tokenMetrics lists the parts of OSL, as AIPerf has them.
func tokenMetrics() []Metric {
	return []Metric{
		{answered, "Output Token Count", "tokens", func(r *Request) float64 {
			if n := r.Output - max(r.Thought, 0); r.Output >= 0 && n > 0 { // it has no count of 0
				return float64(n)
			}
			return Unknown
		}},
		{reasoning, "Reasoning Token Count", "tokens", func(r *Request) float64 { return float64(r.Thought) }},
	}
}

// metricOf returns the metric of a tag, which must exist.
func metricOf(tag string) Metric {
	all := Metrics()
	return all[slices.IndexFunc(all, func(m Metric) bool { return m.Tag == tag })]
}

// Of returns the metric of a request, false if it has none.
func (m Metric) Of(r *Request) (float64, bool) {
	v := m.of(r)
	return v, v >= 0
}

// Stats holds statistics of one metric by their names in the files, in Unit. A metric of the whole run has avg alone.
type Stats struct {
	Unit   string
	Values map[string]float64
}

// statNames lists the statistics of a distribution in the order of the files.
func statNames() []string {
	return []string{"avg", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "min", "max", "std"}
}

// percents holds the percentile of each name of one.
func percents() map[string]float64 {
	return map[string]float64{"p1": 1, "p5": 5, "p10": 10, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99}
}

// percentile returns a percentile of sorted values, of which there is at least one.
func percentile(sorted []float64, p float64) float64 {
	at := float64(len(sorted)-1) * p / 100
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (sorted[high]-sorted[low])*(at-float64(low))
}

const poisson = "poisson"

// Failure counts failures of one kind.
type Failure struct {
	Class string
	Code  int32
	Text  string
	Count int64
}

// Run holds the numbers that a file has of one load on one server.
type Run struct {
	Name      string // in figures
	Tool      string // that measured it
	Version   string
	Path      string // of the file, as Read took it; of one node with #NODE
	File      string // Path without the node
	node      string // of a result of this program
	Model     string
	Endpoint  string // chat, embeddings …
	URL       string
	Streaming bool
	Closed    bool    // Level is a number of requests in flight, else a rate
	Level     float64 // 0: unknown
	Arrivals  string  // of a rate, as in a plan
	Seed      uint64
	Start     int64 // of the first request and the end of the last, ns since 1970; 0: unknown
	End       int64
	Cut       string // why the run ended before its time; "": it did not

	good       int64 // requests within the bounds of goodput
	judgesGood bool  // good is known

	Requests []Request        // those that were measured and answered; nil: the file has none
	Stats    map[string]Stats // by tag
	Failed   int64
	Warmup   int64 // requests left out
	Failures []Failure
	Notes    []string // what a reader must know of the numbers
}

// Stat returns a statistic of the run.
func (r *Run) Stat(tag, stat string) (float64, bool) {
	v, ok := r.Stats[tag].Values[stat]
	return v, ok
}

// set enters a number of the whole run.
func (r *Run) set(tag, unit string, v float64) {
	if r.Stats == nil {
		r.Stats = make(map[string]Stats)
	}
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		r.Stats[tag] = Stats{unit, map[string]float64{"avg": v}}
	}
}
