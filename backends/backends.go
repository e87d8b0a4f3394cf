// Package backends is the contract between the executor and anything that can answer an inference
// request.
//
// It is not: a retry layer, a scheduler, a place for metric names, a parser of plans.
//
// A backend is a folder below this one that offers a Kind. The executor opens it once per target
// (Conn), lets it encode every request before the clock starts (Prepare → Call), and drives it
// through Lanes while the clock runs.
package backends

import (
	"context"
	"slices"
	"time"
)

// Kind describes a kind of service without a network: one line of backends/all.
type Kind struct {
	Name string
	Help string // one line for explain and docs
	// accepted URL schemes: http https grpc grpcs http+unix grpc+unix (builtin:// is resolved before
	// Open); nil: it has no URL
	Schemes []string
	// target keys of the plan that this kind reads (model, tensors …); any other is a plan error
	Keys []string
	// Endpoints are the words of `endpoint`, the default first; nil: the key is not read.
	Endpoints []string
	// Abilities is pure: it returns what this kind can do for this target, so that validate can refuse
	// a stage at its line without sending anything. Open may find less on the server, never more.
	Abilities func(Target) Ability
	// Absent maps abilities that only other binaries have to the way to get them: a plan that needs one
	// is refused.
	Absent map[Ability]string
	// Check returns the errors of Open that are known without a network: a URL or a file that cannot
	// be used. For validate.
	Check func(Target) error
	// Series are the numbers that the server keeps and Stats returns, in this order. They become
	// metrics named server.NAME without further code.
	Series []Series
	// Open is nil if this binary only knows the kind, and refuses plans for it. Missing then says why
	// and how to get it; "" if no version has it.
	Missing string
	Open    func(context.Context, Target, Clock) (Conn, error)
}

// Series is one cumulative number that a server keeps.
type Series struct {
	Name string // "queue" becomes server.queue.mean …
	Unit string // "ns" for times, "1" for counts
	// Per names the series that counts the terms of Name ("" for a plain count): mean =
	// delta(Name)/delta(Per).
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

// Abilities. The metric catalogue and diagnostics use the words of AbilityNames.
const (
	Unary          Ability = 1 << iota // one reply per request
	Metadata                           // Describe
	ServerStats                        // Stats
	Tensors                            // requests are tensors
	Expects                            // can compare outputs with expected ones
	Stream                             // a request may have several responses, each with its own time
	BidiStream                         // one stream carries many requests, in order
	TokenEvents                        // responses are pieces of generated text
	TokenCounts                        // tokens of prompts and answers can be counted
	Prompts                            // requests are made of text
	Chat                               // requests hold the messages of a conversation
	Bodies                             // requests are whole bodies, sent unchanged
	Sequences                          // requests can belong to a sequence that the server keeps state for
	SystemShm                          // tensors in shared memory
	CUDAShm                            // tensors in GPU memory
	Trace                              // trace settings
	ModelControl                       // load and unload models
	ModelConfig                        // load models with configurations of the plan
	Composing                          // statistics of the models that a model calls
	Classification                     // outputs can be classes
	Counters                           // numbers in requests can differ from one to the next
	// The plan names a Prometheus endpoint; the executor reads it, whatever the kind
	Scrape
	// the server runs in this process: its own threads stamp replies, and its CPU time is part of this
	// process's
	SharesProcess
)

// AbilityNames are the words of Ability's bits, in bit order.
var AbilityNames = []string{
	"unary", "metadata", "server statistics", "tensors", "expected outputs", "streaming",
	"bidirectional stream",
	"token events",
	"token counts", "prompts", "chat", "request bodies", "sequences", "system shared memory",
	"cuda shared memory",
	"trace settings", "model control", "model configurations", "composing models", "classification", "counters", "metrics endpoint",
	"server in this process",
}

// Has reports whether all of o's bits are in a.
func (a Ability) Has(o Ability) bool { return a&o == o }

// WholeBodies reports whether requests can only be whole bodies, neither tensors nor text.
func (a Ability) WholeBodies() bool { return a&(Bodies|Tensors|Prompts) == Bodies }

// Names returns the words of the abilities in a, in bit order.
func (a Ability) Names() []string {
	var names []string
	for i, name := range AbilityNames {
		if a.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// AbilityOf returns the ability of a word of AbilityNames; 0 for any other.
func AbilityOf(name string) Ability {
	if i := slices.Index(AbilityNames, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Clock holds the run's origin: Now returns monotonic nanoseconds since it (25 ns a call). Passed
// by value; the zero Clock is unusable.
type Clock struct{ Origin time.Time }

// Now returns nanoseconds since the origin.
func (c Clock) Now() int64 { return int64(time.Since(c.Origin)) }

// Conn is one open target. All methods are for set-up time: they may allocate, block and use
// net/http.
type Conn interface {
	// Prepare encodes one request to wire form. The Call is immutable and shared by all lanes.
	Prepare(Request) (*Call, error)
	// Lanes opens n lanes and completes every handshake (TCP, TLS, HTTP/2 SETTINGS) before it returns.
	// It may be called again, also while earlier lanes are in use, to grow the pool. The limits apply
	// to all lanes for their whole life.
	Lanes(ctx context.Context, n int, o LaneOptions) ([]Lane, Limits, error)
	// Close ends all that Open started. If that takes longer than ctx, the error says what is left.
	// Lanes must be closed before.
	Close(ctx context.Context) error
}

// Optional interfaces of a Conn, found once after Open by type assertion in one place of the
// executor.
type (
	// Describer asks the server for the inputs and outputs of a model; "" is the target's own.
	Describer interface {
		Describe(ctx context.Context, model string) (Signature, error)
	}
	// Prober asks once whether the server is ready, and a model if one is named. A nil error means
	// ready now.
	Prober interface {
		Ready(ctx context.Context, model string) error
	}
	// Explainer says why the server answers no request at all, from the reply to the first one, which
	// is asked for before the clock starts: an UnknownModelError or RefusalError ends the wait for a
	// better answer, any other error does not. nil: the reply is one.
	Explainer interface {
		Explain(*Sample) error
	}
	// Caller sends one request without a body to the server, with the target's headers, under its
	// URL's prefix; path begins with a slash. A status other than 2xx is an error that contains the
	// server's message.
	Caller interface {
		Call(ctx context.Context, method, path string) error
	}
	// Sharer puts tensors into memory that the server reads and writes itself, so that requests carry
	// only their places.
	Sharer interface {
		// Share assigns places to the inputs of reqs, and to the outputs of each slot, and encodes reqs,
		// once for any number of openings. It allocates no memory and sends nothing.
		Share(reqs []Request, o Sharing) (Shared, error)
	}
	// Shared holds requests whose tensors have places in shared memory.
	Shared interface {
		// Open allocates the memory, including one output region per slot, and registers it at the
		// server. The calls are the requests', in order, and may be sent until the release. Region k
		// belongs to the requests sent with Fields.Region k. On an error nothing is left behind. It may
		// be opened again after the release.
		Open(ctx context.Context, slots int) (calls []*Call, release Release, err error)
	}
	// Replier parses a reply that was kept in Sample.Text, of a request that succeeded
	// (Target.KeepReplies).
	Replier interface {
		Outputs(reply []byte) ([]Tensor, error)
	}
	// Recaller returns the body with which a call was sent in the request with an id: that of Prepare, with
	// its words filled in, or of Continue. nil: it is not known.
	Recaller interface {
		SentBody(c *Call, id uint64) []byte
	}
	// TextTensors makes the inputs of a request of text that is sent as tensors, as Conn.Prepare does.
	TextTensors interface {
		TextInputs(r Request) ([]Tensor, error)
	}
	// Lengther finds out how a server is asked for answers of an exact number of tokens.
	Lengther interface {
		// AsksExactly reports whether a call asks for one, and it is unknown how the server takes that.
		AsksExactly(c *Call) bool
		// Learn learns from the reply to such a call. Note says what a reader should know of the answers'
		// lengths; "": they are as asked for. Again: requests are from now on made in another way, which is
		// to be tried as well.
		Learn(c *Call, s *Sample) (note string, again bool)
	}
	// Continuer makes the requests of conversations (Ability Chat) out of calls that have only the messages
	// that are new with them.
	Continuer interface {
		// Continues returns an error if a call of Prepare cannot be part of a conversation.
		Continues(c *Call) error
		// Continue returns next, a call of Prepare, with the messages of prev and the answer to it ahead of
		// its own. prev is a call of Prepare or of Continue, and reply the sample of its request, sent with
		// Call.KeepAnswer. Words of either that vary are those of that request. Identifiers of tool calls that next answers become those of the answer. It
		// reuses the memory of prev, unless Prepare made that: nothing else may continue prev.
		Continue(prev, next *Call, reply *Sample) (*Call, error)
	}
	// Texter reads what a model generated out of an answer that was kept in Sample.Text (Call.KeepAnswer), to
	// count its tokens.
	Texter interface {
		// Texts returns the texts of each choice: reasoning and answer, and names and arguments of tool calls.
		// False: not all of it was kept, or it cannot be read. It is safe for concurrent use.
		Texts(reply *Sample) ([]string, bool)
	}
	// Observer reads the server's own counters of a model ("" is the target's own) or of one version
	// of it ("": all, or the target's): cumulative values of Kind.Series, at a time of the run's
	// clock.
	Observer interface {
		Stats(ctx context.Context, model, version string, into []int64) (at int64, err error)
	}
	// Controller loads and unloads models. Both return when the server has finished.
	Controller interface {
		Load(ctx context.Context, model string) error
		Unload(ctx context.Context, model string) error
	}
	// Configurer loads models with configurations of the plan.
	Configurer interface {
		// Configuration returns that of a model as the server reports it; the zero one if the model is not
		// loaded.
		Configuration(ctx context.Context, model string) (Configuration, error)
		// Configure loads a model with its own configuration changed by a JSON merge patch, and returns the
		// configuration that the server then reports. It is an error if that is not as the patch says.
		Configure(ctx context.Context, model string, own Configuration, patch string) (Configuration, error)
		// Restore loads a model as it was, or unloads it. It is an error if the server then reports something
		// else. Without always, nothing is loaded if the model is as it was already.
		Restore(ctx context.Context, model string, own Configuration, always bool) error
	}
	// Adjuster changes settings of the server as a whole. before holds the previous values, in a form
	// that Adjust takes to restore them.
	Adjuster interface {
		Adjust(ctx context.Context, group Settings, values []Parameter) (before []Parameter, err error)
	}
)

// Configuration is the configuration of a model as its server reports it. The zero one is that of a model that
// is not loaded.
type Configuration struct {
	JSON []byte
	Text string // as a file of the server's model repository
}

// Release undoes Shared.Open, including all registrations and nothing else; the error says what it
// could not undo. It is called once, when no request is in flight any more; also when the server is
// gone.
type Release func(context.Context) error

// Sharing configures shared tensors.
type Sharing struct {
	Memory string    // "system" or "cuda"
	Device int       // number of the GPU, with cuda
	Model  Signature // of the model of all requests: its outputs, and their sizes
	// OutputSize is the number of bytes reserved for an output of unknown size, for each inference of
	// a request.
	OutputSize int64
}
