package scenario

import (
	"strings"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Target is one server to send to.
type Target struct {
	Name           string
	Pos            source.Pos
	Backend        string
	URL            string
	Model          string
	ModelVersion   string
	Headers        []Pair `plan:"-"` // without those that hold an empty secret
	Parameters     []Parameter
	TLS            *TLS
	Timeout        time.Duration
	ConnectTimeout time.Duration
	Compression    string // none gzip deflate: of requests, and asked for in replies
	Connections    Connections
	MaxMessage     int64  // 0: what the model implies
	Input, Output  string // tensors: "binary" or "json"
	Layout         string // of tensors over REST: "rows" or "columns"; "" what fits the model
	Ready          time.Duration
	Probe          bool   // each model is asked for an answer before the clock starts
	Statistics     string // auto require none
	Endpoint       string // the shape of requests and replies; "" the kind's own
	Method         string // HTTP verb, or package.Service/Method
	Path           string // of the URL, where a server has an endpoint elsewhere; "" the kind's own
	Protos         *Protos
	Signature      string // of a model of TensorFlow Serving; "" its default
	Streaming      bool
	// InactivityTimeout is the longest silence of a stream; 0 where the target does not stream.
	InactivityTimeout time.Duration
	Tokenizer         *Path // nil: the server counts tokens
	// ComposingModels are the models that this one calls, whose statistics are read too: name or
	// name:version.
	ComposingModels []string
	Metrics         *Metrics
	Management      *Management // nil: none
	Trace           *Trace      // nil: the server's settings stay as they are
	Log             *Log        // nil: likewise
	Builtin         *Builtin
	InProcess       *InProcess // nil: the server is another process
	// Keys are the keys that the plan itself wrote here, with their positions: a kind refuses those
	// that it does not read.
	Keys []Key
}

// Protos are the files that define a gRPC service. DescriptorSet is in place of the others; nil: none.
type Protos struct {
	Files, Include []Path
	DescriptorSet  *Path
}

// InProcess is a server that is loaded into the client.
type InProcess struct {
	ServerDir, Repository Path
	Options               []Parameter
	Keys                  []Key // of Options
}

// TLS says how to secure connections. Files are resolved against the plan's folder.
type TLS struct {
	CA, Cert, Key string
	ServerName    string
	Verify        string // full ca none
	MinVersion    string // 1.2 1.3
}

// Metrics tells where a server shows Prometheus metrics, how often they are read and which are kept.
type Metrics struct {
	URLs   []string // a path is one of the target's host
	Every  time.Duration
	Match  []string
	Labels []Pair // values that series with the label must have
}

// Management tells where a server is managed.
type Management struct {
	URL     string
	Headers []Pair `plan:"-"` // as those of the target
}

// Trace chooses the requests that a server traces while the plan runs.
type Trace struct {
	Level []string // TIMESTAMPS TENSORS
	// One of Rate requests; at most Count traces, -1 all; LogFrequency traces in a file, 0 all
	Rate, Count, LogFrequency int64
}

// Log holds what a server logs while the plan runs; what is nil or "" stays as it is.
type Log struct {
	Info, Warning, Error *bool
	Verbose              *int64
	Format               string
}

// Builtin configures the embedded server of a builtin:// target.
type Builtin struct {
	ServiceTime *Dist // nil: the model's own
	Instances   int   // 0: the model's own
	MaxBatch    int
	QueueDelay  time.Duration
	Errors      float64 // ratio
	Reset       float64 // ratio
	Stall       *Stall
	SlowBody    time.Duration
	TTFT, ITL   *Dist // nil: the model's own
	Generation  *Generation
	APIKey      string
}

// Generation says how the embedded server generates and sends texts.
type Generation struct {
	OutputTokens     int
	TokensPerEvent   int
	FirstEventTokens int // 0: TokensPerEvent
	Burst            int
	HiddenTokens     int
	HeldTokens       int
	ReasoningTokens  int
	Usage            string // asked separate last every none
	FailAfter        int
	Stuck            float64 // ratio
	ToolCalls        bool
	PrefixCache      bool
	CloseSilent      bool
}

// Stall is a time in which the server answers nothing: from Start for For, again after Every (0: once).
type Stall struct{ Start, For, Every time.Duration }

const embedded = "builtin"

// Scheme is the URL scheme that a target is reached by: builtin://http is http. "" without a URL.
func (t *Target) Scheme() string { return schemeOf(t.URL) }

// Embedded reports whether a target is the embedded server.
func (t *Target) Embedded() bool { return strings.HasPrefix(t.URL, embedded+"://") }

// GRPC reports whether a target is reached over gRPC.
func (t *Target) GRPC() bool { return overGRPC(t.URL) }

// Transport is the word for how a target is reached: "grpc" or "http"; "" without a URL: it runs
// inside the client.
func (t *Target) Transport() string {
	switch {
	case t.URL == "":
		return ""
	case t.GRPC():
		return "grpc"
	}
	return "http"
}

func schemeOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	if scheme == embedded {
		return rest
	}
	return scheme
}

func overGRPC(url string) bool { return strings.HasPrefix(schemeOf(url), "grpc") }

// Dist is a drawn number. Unit: that of its key (durations: seconds).
type Dist struct {
	Shape               string // constant uniform normal exponential lognormal values
	Mean, Std, Min, Max float64
	HasMin, HasMax      bool
	Values              []float64
	Weights             []float64 // as long as Values; nil: equal
}

// Dataset is where inputs come from. Source is the key that says so; Generate, Files, Dir and Rows are
// set for theirs only.
type Dataset struct {
	Name        string
	Pos         source.Pos
	Source      string    // generate file dir bodies rows prompts command
	Generate    *Generate `plan:"-"`
	Files       []Path    // of `file`; those that the pattern of `bodies` finds, by name
	Dir         *Path
	Rows        []Row      `plan:"-"`
	Command     []string   // a program and its arguments
	CommandPos  source.Pos `plan:"-"`
	Output      []byte     `plan:"-"` // of Command, once a run has executed it
	Columns     []Column
	Counters    []Counter     // numbers that differ from request to request
	Format      string        // as written; "" by extension and content
	TimeUnit    time.Duration // of the rows' timestamps; 0: that of the format
	TimeUnitPos source.Pos    // of the key; the zero Pos: it is not written
	// Sessions: append verbatim; "": it is not written. open closed strict; "": by the load. Longer times
	// between turns are cut to IdleCap, 0: none is. Sample is the share of the sessions that is used, 0: all.
	History, Timing                              string
	IdleCap                                      time.Duration
	Sample                                       float64
	HistoryPos, TimingPos, IdleCapPos, SamplePos source.Pos
	Seed                                         uint64 `plan:"-"` // of the plan
	Order                                        string // sequential shuffle random
	AtEnd                                        string // repeat stop
	Count                                        int    // rows that generate draws
	StringLength                                 Dist
	Prompts                                      *Prompts // of `prompts` only
}

// Prompts are texts that are written for the plan. Lengths are in tokens.
type Prompts struct {
	Pos          source.Pos
	Count        int
	InputTokens  Dist
	OutputTokens *Dist // nil: the server decides
	ExactOutput  ExactOutput
	Lengths      []Lengths // nil: InputTokens and OutputTokens
	System       int       // of a system prompt that all share; 0: none
	Context      int       // in front of each prompt, of a session once; 0: none
	Prefixes     *Prefixes
	Reuse        string // none stage all
	Corpus       *Path  // nil: the built-in one
	Images       *Images
	Audio        *Audio
	Turns        Dist // of a session; the constant 1: each prompt is a request of its own
	Delay        Dist // from the reply to a turn to the next turn, s
}

// Images are drawn for each prompt. Sizes are in pixels.
type Images struct {
	Pos           source.Pos
	Count         int // in a prompt
	Width, Height Dist
	Format        string // png jpeg
}

// Audio is drawn for each prompt.
type Audio struct {
	Pos        source.Pos
	Seconds    Dist
	SampleRate int    // in a second
	Format     string // wav
}

// Bounds of images and audio; draws beyond them are cut.
const (
	MaxEdge    = 8192 // pixels
	MinSeconds = 0.1
	MaxSeconds = 600.0
)

// Lengths are the lengths of prompts and answers that belong together.
type Lengths struct {
	Input  Dist
	Output *Dist
	Weight float64
}

// Prefixes are texts that prompts begin with.
type Prefixes struct{ Count, Tokens int }

// Row is a row that the plan holds.
type Row struct {
	Pos  source.Pos
	JSON string
}

// Column says which column of the data is read as a field of a row.
type Column struct {
	Field, Name string
	Pos         source.Pos
}

// Counter is a number that differs from request to request, in the field of a message.
type Counter struct {
	Field    string
	From, To int64 // To 0: it has no end
	Pos      source.Pos
}

// Generate draws inputs. Default applies to inputs without an entry of their own.
type Generate struct {
	Default string // random zero
	Inputs  []Generator
}

// Generator draws one input's elements: exactly one of the fields after Pos is set.
type Generator struct {
	Input    string
	Pos      source.Pos
	Word     string // random zero
	Constant []any  `plan:"-"` // elements in row-major order, repeated to fill
	Dist     *Dist
	Length   *Dist // of strings
	Alphabet string
	OneOf    []any
	File     *Path
}
