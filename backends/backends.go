// Package backends is the contract between the executor and anything that can answer an inference request.
//
// It is not: a retry layer, a scheduler, a place for metric names, a parser of plans.
//
// A backend is a folder below this one that offers a Kind. The executor opens it once per target (Conn), lets it
// encode every request before the clock starts (Prepare → Call), and drives it through Lanes while the clock runs.
package backends

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Kind is what is known about a service kind without a network: one line of backends/all.
type Kind struct {
	Name    string
	Help    string   // one line for explain and docs
	Schemes []string // URL schemes it accepts: http https grpc grpcs http+unix grpc+unix (builtin:// is resolved before Open); nil: it has no URL
	Keys    []string // target keys of the plan that this kind reads (model, tensors …); any other is a plan error
	// Endpoints are the words that `endpoint` may have, the default first; nil: the key is not read.
	Endpoints []string
	// Abilities is pure: what this kind can do for this target, so that validate can refuse a stage at its line with
	// nothing sent. Open may find less on the server, never more.
	Abilities func(Target) Ability
	// Later are those of the abilities that Open does not give yet: validate takes a plan that needs one, run refuses it.
	Later Ability
	// Check says what Open would refuse without asking anybody: a URL or a file that cannot be used. For validate.
	Check func(Target) error
	// Series are the numbers the server itself keeps and Stats returns, in this order. They become metrics named
	// server.NAME; no other code changes.
	Series []Series
	// Open is nil where this version only knows the kind: validate takes plans for it, run refuses them.
	Open func(context.Context, Target, Clock) (Conn, error)
}

// Ability is a bit set of what a kind can do for a target.
type Ability uint64

// Abilities. The words in AbilityNames are those used in the metric catalogue and in diagnostics.
const (
	Unary        Ability = 1 << iota // one reply per request
	Metadata                         // Describe
	ServerStats                      // Stats
	Tensors                          // requests are tensors
	Expects                          // can compare outputs with expected ones
	Stream                           // a request may have several responses, each with a time of its own
	BidiStream                       // one stream carries many requests, in order
	TokenEvents                      // responses are pieces of generated text
	TokenCounts                      // tokens of prompts and answers can be counted
	Prompts                          // requests are made of text
	Chat                             // requests hold the messages of a conversation
	Bodies                           // requests are whole bodies, as they are
	Sequences                        // requests can belong to a sequence that the server keeps state for
	SystemShm                        // tensors in shared memory
	CUDAShm                          // tensors in the memory of a GPU
	Trace                            // trace settings
	ModelControl                     // load and unload models
	Composing                        // statistics of the models that a model calls
	Scrape                           // the plan names a Prometheus endpoint; the executor reads it, whatever the kind
)

// AbilityNames are the words of Ability's bits, in bit order.
var AbilityNames = []string{
	"unary", "metadata", "server statistics", "tensors", "expected outputs", "streaming", "bidirectional stream", "token events",
	"token counts", "prompts", "chat", "request bodies", "sequences", "system shared memory", "cuda shared memory",
	"trace settings", "model control", "composing models", "metrics endpoint",
}

// Has reports whether all of o's bits are in a.
func (a Ability) Has(o Ability) bool { return a&o == o }

// Names are the words of the abilities in a, in bit order.
func (a Ability) Names() []string {
	var names []string
	for i, name := range AbilityNames {
		if a.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// AbilityOf is the ability that a word of AbilityNames stands for; 0 for any other.
func AbilityOf(name string) Ability {
	if i := slices.Index(AbilityNames, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Clock is the run's origin: Now is monotonic nanoseconds since it (25 ns a call). By value; the zero Clock is unusable.
type Clock struct{ Origin time.Time }

// Now is nanoseconds since the origin.
func (c Clock) Now() int64 { return int64(time.Since(c.Origin)) }

// Conn is one open target. All methods are for set-up time: they may allocate, block and use net/http.
type Conn interface {
	// Prepare encodes one request to wire form. The Call is immutable and shared by all lanes.
	Prepare(Request) (*Call, error)
	// Lanes opens n lanes and completes every handshake (TCP, TLS, HTTP/2 SETTINGS) before it returns. It may be
	// called again, also while earlier lanes are in use, to grow the pool. The limits hold for all lanes, for life.
	Lanes(ctx context.Context, n int, o LaneOptions) ([]Lane, Limits, error)
	// Close ends all that Open started. Within ctx, else it says what is left. Lanes must be closed before.
	Close(ctx context.Context) error
}

// Optional abilities of a Conn, asked for once after Open by type assertion in one place of the executor.
type (
	// Describer asks the server what a model takes and gives; "" is the target's own.
	Describer interface {
		Describe(ctx context.Context, model string) (Signature, error)
	}
	// Prober asks once whether server and model are ready. A nil error means ready now.
	Prober interface {
		Ready(context.Context) error
	}
	// Caller sends one request without a body to the server, with the target's headers, under its URL's prefix; path begins
	// with a slash. A status other than 2xx is an error that shows what the server said.
	Caller interface {
		Call(ctx context.Context, method, path string) error
	}
	// Observer reads the server's own counters of a model ("" is the target's own): values of Kind.Series, cumulative, at
	// a moment of the run's clock.
	Observer interface {
		Stats(ctx context.Context, model string, into []int64) (at int64, err error)
	}
)

// Lane is one serial path to the server: an HTTP/1.1 connection, a unary gRPC caller. It carries at most Depth
// requests at once, each in a slot 0 … Depth-1.
//
// Concurrency: one goroutine in Send and one in Recv at the same time, never two in either. Cancel and Close from
// anywhere. After warm-up nothing here allocates, locks across a system call, logs or formats.
//
// Law: every Send is answered by exactly one Recv with done set for that slot, whatever happens (reply, error,
// timeout, cancel, closed lane). backendtest checks this law under every fault.
type Lane interface {
	// Send puts c on the wire for slot and returns when the transport has it. It fills SendStart, SendEnd, BytesSent.
	// Errors are not returned: they surface at Recv, which owns redialling. s belongs to the lane until Recv reports
	// done; the caller has set Due, N, Row, Lane, Slot and Gen and cleared the rest (Sample.Reset).
	// If c.Size <= Limits.Inline and the slot is idle, Send does not block: the pacer itself may call it.
	Send(slot int, c *Call, f Fields, s *Sample)
	// Recv blocks until a slot finishes (done) and returns that slot. None means, after Close, the end of the lane.
	// While no request is in flight it is parked so that a silent close by the server is seen and redialled before
	// the next Send. All stamps are taken at the read, before parsing.
	// A stale connection (reused, no reply byte yet, call not stateful) is redialled and resent once, in here.
	Recv() (slot int, done bool)
	// Cancel ends the request of slot if generation gen is still the one in flight; the sample then gets the class
	// that fits why. Never blocks. Safe against reuse of the slot by a later request.
	Cancel(slot int, gen uint32, why Cause)
	// Close ends the lane; a parked Recv returns None. A request still in flight is first answered as cancelled.
	// None is not final for a Send that comes after Close or at the same moment: its answer (Stopped) is what the next
	// Recv gives. So whoever may still send calls Recv until it has as many answers as Sends, or closes lanes only when
	// nothing is sent any more, as the executor does.
	Close() error
}

// None is the slot of what belongs to no request.
const None = -1

// Limits says how a lane may be driven.
type Limits struct {
	Depth  int // requests in flight on one lane
	Inline int // largest Call.Size that Send passes without blocking on an idle slot; 0: always hand over
}

// LaneOptions are the executor's wishes for the lanes of one node.
type LaneOptions struct {
	Depth  int // wanted depth; the lane may give less
	Events int // capacity of Sample.Events the caller provides; 0: unary
}

// Call is an encoded request. Immutable. Holes are fixed-width places in Head that Send fills per request.
// A lane patches its own copy of the head (tens of bytes); bodies are shared by all lanes.
type Call struct {
	Size     int    // bytes on the wire
	Row      uint32 // data row, to match expected outputs afterwards
	Items    uint32 // inferences in it (batch), for throughput
	Entry    uint16 // which kind of request of the stage's mix; 0 without one. Set by the executor before lanes see the call
	Stateful bool   // part of a sequence: never resent
	Head     []byte
	Holes    []Hole
	Body     [][]byte
	Impl     any // the backend's own form; set by Prepare only
}

// Hole is a fixed-width place in Call.Head for one of Fields' values.
type Hole struct {
	At    uint32
	Width uint8
	Field uint8 // FieldID …
}

// Fields that a Hole can hold.
const (
	FieldID uint8 = iota + 1 // request id, zero-padded decimal of Hole.Width digits
)

// Fields are the values of one request's holes.
type Fields struct {
	ID uint64 // unique in the run: node<<40 | n
}

// Sample is a buffer that changes hands: executor → lane (Send … Recv done) → measure → executor. Never copied,
// never shared. Times are ns since the run's origin; 0 means it did not happen.
type Sample struct {
	Due, SendStart, SendEnd, FirstByte, LastByte int64
	// Free is when a slot was there for this request (open loop): Free-Due is the pool's share of the send delay,
	// SendStart-max(Due, Free) the client's. Closed loop: Free = Due.
	Free      int64
	Connect   int64  // ns spent dialling and shaking hands for this request; 0: none
	N         uint64 // number of the arrival in its schedule
	BytesSent int64
	// BytesReceived counts reply bytes, head included.
	BytesReceived int64
	Row, Items    uint32
	Responses     uint32
	Status        int32 // HTTP or gRPC code
	Gen           uint32
	Lane          uint32
	Slot          uint16
	Entry         uint16 // Call.Entry
	Flags         Flags
	Class         ErrorClass
	_             [1]byte
	Events        []Event // cap fixed by the stage; empty for unary requests
	Note          []byte  // first NoteSize bytes of the error as the server said it; nil buffer until first used
}

// NoteSize is how much of a server's error text a sample keeps.
const NoteSize = 256

// Reset clears all but the buffers that the sample owns.
func (s *Sample) Reset() {
	events, note := s.Events[:0], s.Note[:0]
	*s = Sample{Events: events, Note: note}
}

// SetNote keeps the first NoteSize bytes of text. It allocates at most once per buffer.
func (s *Sample) SetNote(text []byte) {
	if cap(s.Note) == 0 {
		s.Note = make([]byte, 0, NoteSize)
	}
	s.Note = append(s.Note[:0], text[:min(len(text), NoteSize)]...)
}

// Event is one reply message or token event: 16 bytes.
type Event struct {
	At     int64
	Text   uint32
	Kind   uint8
	Choice uint8
	Flags  uint16
}

// Flags of a Sample.
type Flags uint16

// What can be flagged.
const (
	Reused     Flags = 1 << iota // went out on a connection that had carried a request before
	Redialled                    // the connection was stale and the request was sent once more
	Warmup                       // due before the hold phase
	Timeout                      // ended by our own timeout
	Incomplete                   // still open when the drain ended
)

// ErrorClass says what kind of failure ended a request (design: time and measurement).
type ErrorClass uint8

// The error classes. Cancelled is a request that the server cancelled; what we cancelled ourselves has the class
// Stopped, which is outside every error count.
const (
	OK ErrorClass = iota
	Dial
	TLS
	Write
	TimedOut
	ResetByPeer
	Status
	Protocol
	Decode
	Mismatch
	Cancelled
	Server
	Client
	Stopped
	classes
)

// ClassNames are the words of the classes in plans and artifacts, by ErrorClass. "ok" and "stopped" are no failures.
var ClassNames = [classes]string{
	"ok", "dial", "tls", "write", "timeout", "reset", "status", "protocol", "decode", "mismatch", "cancelled",
	"server", "client", "stopped",
}

func (c ErrorClass) String() string { return ClassNames[c] }

// Failed reports whether c counts as an error.
func (c ErrorClass) Failed() bool { return c != OK && c != Stopped }

// Cause is why a request is cancelled.
type Cause uint8

// Causes of a cancellation and the class that the sample gets.
const (
	CauseTimeout Cause = iota + 1 // TimedOut, flag Timeout
	CauseDrain                    // Stopped, flag Incomplete: open when the drain time was over
	CauseStop                     // Stopped, flag Incomplete: the run was interrupted
)

// Target is where and how to send, in plain values: no plan types.
type Target struct {
	URL            string // scheme://host[:port][/prefix], or http+unix:///path
	Model          string
	ModelVersion   string
	Headers        []Header
	Parameters     []Parameter
	TLS            *TLSOptions // nil: system roots when the scheme is secure
	ConnectTimeout time.Duration
	Connections    int   // transport connections shared by all lanes; 0: one each; PerRequest: a new one for every request
	MaxMessage     int64 // gRPC, each way
	InputJSON      bool  // tensors as JSON instead of raw bytes
	OutputJSON     bool
	Endpoint       string // one of Kind.Endpoints; "" where the kind has none
	Method         string // an HTTP verb, or package.Service/Method
	Streaming      bool
	Tokenizer      string // file that tokens are counted with; "": the server's own counts
}

// GRPC reports whether the target is reached over gRPC.
func (t Target) GRPC() bool { return strings.HasPrefix(t.URL, "grpc") || t.URL == "builtin://grpc" }

// PerRequest as Target.Connections asks for a fresh connection for every request.
const PerRequest = -1

// Header is one HTTP header or gRPC metadata pair.
type Header struct{ Name, Value string }

// Parameter is one request parameter; Value is bool, int64, float64 or string.
type Parameter struct {
	Name  string
	Value any
}

// TLSOptions says how to secure a connection. Files hold PEM.
type TLSOptions struct {
	CA, Cert, Key string
	ServerName    string
	Verify        string // "full" (default), "ca": chain without host name, "none"
	MinVersion    string // "1.2" (default) or "1.3"
}

// Series is one number that a server keeps about itself, cumulative.
type Series struct {
	Name string // "queue" becomes server.queue.mean …
	Unit string // "ns" for times, "1" for counts
	// Per names the series that counts what Name sums over ("" for a plain count): mean = delta(Name)/delta(Per).
	Per  string
	Help string
}

// Signature is what a model takes and gives.
type Signature struct {
	Model, Version  string
	Inputs, Outputs []Port
	MaxBatch        int  // 0: the model has no batch dimension (or the server did not tell)
	Batched         bool // shapes in Inputs lack the batch dimension, which MaxBatch limits
	Statistics      bool // the server keeps statistics
	BinaryTensors   bool // the server speaks the binary tensor extension
}

// Port is one input or output of a model. Shape holds no batch dimension; -1 is any size.
type Port struct {
	Name     string
	Type     DataType
	Shape    []int64
	Optional bool
}

// Request is one inference request before encoding.
type Request struct {
	Model        string // "": the target's
	ModelVersion string
	Inputs       []Tensor // with the batch dimension
	Outputs      []string // nil: all
	Parameters   []Parameter
	Headers      []Header // over the target's
	Row          uint32
	Items        uint32
	Expect       *Expect
}

// Expect is what a reply must be to count as ok. A miss is class Mismatch.
type Expect struct {
	Status  []int    // statuses that count as ok; nil: 200 (gRPC: 0)
	Outputs []Tensor // compared by name; those not named are not looked at
	// Tolerances for floats: |got-want| <= Absolute + Relative*|want|. Both 0: bit for bit.
	Relative, Absolute float64
}
