// Package scenario is the meaning of a plan: text in, a typed Plan or all of its mistakes out.
//
// It is not: a network client, an expander of levels, a compiler of assertions, a place that knows which backend
// can do what. The shape of a plan is in package schema, positions are in package source.
package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Plan is a plan with defaults filled in, variables applied and references checked. Only this form leaves the package.
type Plan struct {
	File        string // as named by the user
	Dir         string // folder that paths in the plan are relative to
	Name        string
	Description string
	Labels      []Pair // sorted by key
	Seed        uint64
	Vars        []Var
	Targets     []*Target  // in document order; `target` is one named "main"
	Datasets    []*Dataset // in document order; `data` is one named "main"; never empty
	Stages      []*Stage
	Assert      []Assertion // of the plan: metrics stand under stage("…")
	Output      Output
	// Source is the plan's tree after --set and before variables: positions for diagnostics that come later.
	Source *source.Node
	// Resolved is the plan as JSON-like data after variables and defaults, secrets as "***": for result.json.
	Resolved any
	// Fingerprint is a hash of the meaning (Resolved without name, description, labels and output), not of the formatting.
	Fingerprint string
	// Secrets are the values that must appear in no output.
	Secrets []Secret
	// Warnings found on the way.
	Warnings source.Diagnostics
}

// Pair is one entry of a map whose order is fixed.
type Pair struct{ Key, Value string }

// Var is a variable with its final value. In an expression ${name} stands for Text as one literal of Type. The Text of a
// secret is ***; no expression may mention one.
type Var struct {
	Name   string
	Type   string // text int number bool duration rate ratio size
	Text   string
	Secret bool
	From   string // "default", "--set", "env NAME", "--var"
	Pos    source.Pos
}

// Target is one server to send to.
type Target struct {
	Name           string
	Pos            source.Pos
	Backend        string
	URL            string
	Model          string
	ModelVersion   string
	Headers        []Pair
	Parameters     []Parameter
	TLS            *TLS
	Timeout        time.Duration
	ConnectTimeout time.Duration
	Connections    Connections
	MaxMessage     int64
	Input, Output  string // tensors: "binary" or "json"
	Ready          time.Duration
	Statistics     string // auto require none
	Builtin        *Builtin
	// Keys are the keys that the plan itself wrote here, with their positions: a kind refuses those that it does not read.
	Keys []Key
}

// Key is a key that stands in the plan.
type Key struct {
	Name string
	Pos  source.Pos
}

// Parameter is a request parameter typed by YAML: bool, int64, float64 or string.
type Parameter struct {
	Name  string
	Value any
}

// TLS says how to secure connections. Files are resolved against the plan's folder.
type TLS struct {
	CA, Cert, Key string
	ServerName    string
	Verify        string // full ca none
	MinVersion    string // 1.2 1.3
}

// Connections is `per_slot`, `per_request`, or a number shared by all slots.
type Connections struct {
	PerRequest bool
	Shared     int // 0: one for each slot
}

// Builtin configures the embedded server of a builtin:// target.
type Builtin struct {
	ServiceTime *Dist // nil: the model's own
	Instances   int
	MaxBatch    int
	QueueDelay  time.Duration
	Errors      float64 // ratio
	Reset       float64 // ratio
	Stall       *Stall
	SlowBody    time.Duration
}

// Stall is a time in which the server answers nothing: from At for For, again after Every (0: once).
type Stall struct{ At, For, Every time.Duration }

// Dist is a drawn number. Unit: that of the key it stands under (durations: seconds).
type Dist struct {
	Shape               string // constant uniform normal exponential lognormal values
	Mean, Std, Min, Max float64
	HasMin, HasMax      bool
	Values              []float64
	Weights             []float64 // as long as Values; nil: equal
}

// Dataset is where inputs come from: exactly one of Generate, Files.
type Dataset struct {
	Name         string
	Pos          source.Pos
	Generate     *Generate
	Files        []Path
	Format       string // "" by content; "perf_analyzer"
	Order        string // sequential shuffle random
	AtEnd        string // repeat stop
	Count        int    // rows that generate draws
	StringLength Dist
}

// Path is a file named by the plan, resolved, and where.
type Path struct {
	Name string
	Pos  source.Pos
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
	Constant []any  // elements in row-major order, repeated to fill: bool, int64, float64, string
	Dist     *Dist
	Length   *Dist // of strings
	Alphabet string
	OneOf    []any
	File     *Path
}

// Stage is one step of the plan.
type Stage struct {
	ID          string
	Description string
	Labels      []Pair
	Pos         source.Pos // of the stage
	IDPos       source.Pos
	Needs       []Need
	When        string // success failure always never
	OnFail      string // stop continue
	Request     Request
	Load        Load
	LoadPos     source.Pos
	Extent      Extent
	ExtentPos   source.Pos
	Warmup      Span
	Drain       time.Duration
	Assert      []Assertion // own ones; the built-in errors rule is added by the executor
}

// Need is a stage that must have come before. Implied: the entry before, not written by the user.
type Need struct {
	ID      string
	Implied bool
	Pos     source.Pos
}

// Request is what one request of a stage looks like.
type Request struct {
	Target     *Target
	Data       *Dataset
	Model      string // "" the target's
	Batch      int
	BatchPos   source.Pos
	Shapes     []Shape
	Outputs    []string
	Parameters []Parameter
	Headers    []Pair
	Expect     *Expect
}

// Shape fixes the variable dimensions of one input, without the batch.
type Shape struct {
	Input string
	Dims  []int64
	Pos   source.Pos
}

// Expect is what a reply must be.
type Expect struct {
	Pos                source.Pos
	Outputs            bool // compare with the data's expected outputs
	Relative, Absolute float64
	Status             []int
}

// Load is sealed: Concurrency | Rate.
type Load interface{ load() }

// Concurrency is a closed loop: requests in flight.
type Concurrency struct{ Level Quantity }

// Rate is an open loop: requests due per second.
type Rate struct {
	Level       Quantity
	Arrivals    string // constant poisson
	MaxInFlight int
	Overflow    string // wait drop
}

func (Concurrency) load() {}
func (Rate) load()        {}

// VisitLoad calls the function of l's member. A new member changes the signature, so every caller stops compiling.
func VisitLoad[T any](l Load, concurrency func(Concurrency) T, rate func(Rate) T) T {
	switch l := l.(type) {
	case Concurrency:
		return concurrency(l)
	case Rate:
		return rate(l)
	}
	panic("scenario: unknown load")
}

// Quantity is sealed: Fixed | Levels.
type Quantity interface{ quantity() }

// Fixed is one value: requests in flight, or requests per second.
type Fixed struct {
	Value Level
}

// Levels are values, one node each, in this order. While (nil: none) stops the ladder at the first level for which it
// is not true. Open is a ladder without an end, which While ends: Values are then From, and Step or Factor give the rest.
type Levels struct {
	Values []Level
	While  []Condition
	Open   bool
	Step   float64 // added to get the next value of an open ladder; 0: Factor
	Factor float64
}

func (Fixed) quantity()  {}
func (Levels) quantity() {}

// Level is one value of a quantity and how it was written ("100/s"), for node ids.
type Level struct {
	Value float64
	Text  string
	Pos   source.Pos
}

// Condition is one expression of a `while`.
type Condition struct{ That source.Text }

// Extent is sealed: For | UntilStable.
type Extent interface{ extent() }

// For lasts for a span.
type For struct{ Span Span }

// UntilStable lasts until the last Windows windows agree within Within for every metric, at most MaxWindows windows.
type UntilStable struct {
	Windows    int
	Window     Span
	Within     float64 // ratio
	MaxWindows int
	Metrics    []source.Text // leaf names: throughput, latency.p95
}

func (For) extent()         {}
func (UntilStable) extent() {}

// Span is a duration or a number of requests; exactly one is not zero, or both are zero for `0s`.
type Span struct {
	Duration time.Duration
	Requests int64
}

// IsZero reports whether the span is empty.
func (s Span) IsZero() bool { return s == Span{} }

// Assertion is one thing that must hold. Those named by `slo` are here in full.
type Assertion struct {
	ID          string // as given, else stage/N or plan/N
	Description string
	That        source.Text
	SLO         string     // name of the slo it came from
	Use         source.Pos // where the slo was used; else That.Pos
	Severity    string     // gate warn
	MinSamples  int        // 0: by percentile
	OnNoData    string     // inconclusive fail pass
}

// Output says what is written where.
type Output struct {
	Dir         string // "" for the default
	Formats     []string
	Percentiles []float64
}
