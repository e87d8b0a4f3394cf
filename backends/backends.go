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
	// Later are those of the abilities that Open does not give yet: a plan that needs one is refused as not built.
	Later Ability
	// Absent are those that other binaries have, and how to get one that does: otherwise as Later.
	Absent map[Ability]string
	// Check says what Open would refuse without asking anybody: a URL or a file that cannot be used. For validate.
	Check func(Target) error
	// Series are the numbers the server itself keeps and Stats returns, in this order. They become metrics named
	// server.NAME; no other code changes.
	Series []Series
	// Open is nil where this binary only knows the kind, and refuses plans for it. Missing then says why and how to get it; ""
	// where no version has it.
	Missing string
	Open    func(context.Context, Target, Clock) (Conn, error)
}

// Series is one number that a server keeps about itself, cumulative.
type Series struct {
	Name string // "queue" becomes server.queue.mean …
	Unit string // "ns" for times, "1" for counts
	// Per names the series that counts what Name sums over ("" for a plain count): mean = delta(Name)/delta(Per).
	Per  string
	Help string
}

// Settings is a group of settings of a server.
type Settings string

// The groups.
const (
	TraceSettings Settings = "trace" // trace_level trace_rate trace_count log_frequency
	LogSettings   Settings = "log"   // log_info log_warning log_error log_verbose_level log_format
)

// Ability is a bit set of what a kind can do for a target.
type Ability uint64

// Abilities. The words in AbilityNames are those used in the metric catalogue and in diagnostics.
const (
	Unary          Ability = 1 << iota // one reply per request
	Metadata                           // Describe
	ServerStats                        // Stats
	Tensors                            // requests are tensors
	Expects                            // can compare outputs with expected ones
	Stream                             // a request may have several responses, each with a time of its own
	BidiStream                         // one stream carries many requests, in order
	TokenEvents                        // responses are pieces of generated text
	TokenCounts                        // tokens of prompts and answers can be counted
	Prompts                            // requests are made of text
	Chat                               // requests hold the messages of a conversation
	Bodies                             // requests are whole bodies, as they are
	Sequences                          // requests can belong to a sequence that the server keeps state for
	SystemShm                          // tensors in shared memory
	CUDAShm                            // tensors in the memory of a GPU
	Trace                              // trace settings
	ModelControl                       // load and unload models
	Composing                          // statistics of the models that a model calls
	Classification                     // outputs can come as classes
	Scrape                             // the plan names a Prometheus endpoint; the executor reads it, whatever the kind
	SharesProcess                      // the server runs in this process: a thread of its own stamps replies, and its CPU time is in this process's
)

// AbilityNames are the words of Ability's bits, in bit order.
var AbilityNames = []string{
	"unary", "metadata", "server statistics", "tensors", "expected outputs", "streaming", "bidirectional stream", "token events",
	"token counts", "prompts", "chat", "request bodies", "sequences", "system shared memory", "cuda shared memory",
	"trace settings", "model control", "composing models", "classification", "metrics endpoint",
	"server in this process",
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
	// Prober asks once whether the server is ready, and a model where one is named. A nil error means ready now.
	Prober interface {
		Ready(ctx context.Context, model string) error
	}
	// Caller sends one request without a body to the server, with the target's headers, under its URL's prefix; path begins
	// with a slash. A status other than 2xx is an error that shows what the server said.
	Caller interface {
		Call(ctx context.Context, method, path string) error
	}
	// Sharer puts tensors into memory that the server reads and writes itself, so that requests carry only their places.
	Sharer interface {
		// Share gives the inputs of reqs, and the outputs of each slot, their places, and encodes reqs, once for as often as the
		// memory is opened. It makes no memory and sends nothing.
		Share(reqs []Request, o Sharing) (Shared, error)
	}
	// Shared are requests whose tensors have their places in shared memory.
	Shared interface {
		// Open makes the memory, a region for the outputs of each of so many slots among it, and tells the server about it. The
		// calls are the requests', in order, and may be sent until the release. Region k is that of the requests sent with
		// Fields.Region k. When err is not nil, nothing is left behind. It may be opened again after the release.
		Open(ctx context.Context, slots int) (calls []*Call, release Release, err error)
	}
	// Replier reads a reply that was kept in Sample.Text, of a request that was answered well (Target.KeepReplies).
	Replier interface {
		Outputs(reply []byte) ([]Tensor, error)
	}
	// Observer reads the server's own counters of a model ("" is the target's own) or of one version of it ("": all, or the
	// target's): values of Kind.Series, cumulative, at a moment of the run's clock.
	Observer interface {
		Stats(ctx context.Context, model, version string, into []int64) (at int64, err error)
	}
	// Controller loads and unloads models. Both return when the server has done it.
	Controller interface {
		Load(ctx context.Context, model string) error
		Unload(ctx context.Context, model string) error
	}
	// Adjuster changes settings of the server as a whole. before is what they were, in a form that Adjust takes to set them
	// back.
	Adjuster interface {
		Adjust(ctx context.Context, group Settings, values []Parameter) (before []Parameter, err error)
	}
)

// Release undoes what Shared.Open did, all that it registered and nothing else, and says what it could not undo. It is called
// once, when no request is in flight any more; also when the server is gone.
type Release func(context.Context) error

// Sharing is how tensors are shared.
type Sharing struct {
	Memory string    // "system" or "cuda"
	Device int       // the GPU, with cuda
	Model  Signature // of the model that all requests go to: which outputs there are, and their sizes
	// OutputSize is the room for an output of which the model does not tell the size, for each inference of a request.
	OutputSize int64
}
