// Package scenario is the meaning of a plan: text in, a typed Plan or all of its mistakes out.
//
// It is not: a network client, an expander of levels, a compiler of assertions, a place that knows
// which backend can do what. Positions are in package source, the shape of a plan in package schema,
// its keys in package language, and what is laid over it in package layer.
//
// Read load.go for the way from text to Plan, plan.go and the files beside it for what a Plan has,
// check.go for the checks of meaning, build.go and copy.go for how a Plan is made, and resolved.go for
// how one is written out again.
package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// What language and layer define and a Plan has, under the names that those who read plans know.
type (
	// Span is a duration or a number of things.
	Span = language.Span
	// Connections is `per_slot`, `per_request`, or a number shared by all slots.
	Connections = language.Connections
	// ExactOutput is true, false or auto.
	ExactOutput = language.ExactOutput
	// Var is a variable with its final value.
	Var = layer.Var
	// Pair is one entry of a map whose order is fixed.
	Pair = layer.Pair
	// Origin tells where one value of the plan comes from.
	Origin = layer.Origin
	// Overrides are what the command line and the environment change in a plan.
	Overrides = layer.Overrides
	// Outline has the names in a plan that a command line can mention.
	Outline = layer.Outline
)

// OutlineOf reads the outline of the plan in file, with what it extends. Mistakes in the plan are
// passed over; a file that cannot be read has no names.
func OutlineOf(file string) Outline { return layer.OutlineOf(file) }

// Plan is a plan with defaults filled in, variables applied and references checked. Only this form
// leaves the package.
type Plan struct {
	File        string // as named by the user
	Dir         string // folder that paths in the plan are relative to
	Name        string
	Description string
	Labels      []Pair // sorted by key
	Seed        uint64
	Vars        []Var       `plan:"-"`
	Targets     []*Target   `plan:"-"` // in document order; `target` is one named "main"
	Datasets    []*Dataset  `plan:"-"` // in document order; `data` is one named "main"; never empty
	Stages      []*Stage    `plan:"-"`
	Assert      []Assertion // of the plan: metrics are named under stage("…")
	Output      Output
	Baseline    *Baseline
	MaxDuration time.Duration // of the run; 0: none
	// Overlays are the files and profiles that were merged, in order of precedence, weakest first.
	Overlays []string
	// Source is the plan's tree after --set and before variables: positions for diagnostics that come
	// later.
	Source *source.Node
	// Secrets are the values that must appear in no output.
	Secrets []Secret
	// Warnings found on the way.
	Warnings source.Diagnostics

	resolved    func() (any, []Origin)
	fingerprint func() string
}

// Resolved returns the plan as JSON-like data after variables and defaults, secrets as "***": for
// result.json. Nobody may change it.
func (p *Plan) Resolved() any {
	tree, _ := p.resolved()
	return tree
}

// Origins says where each value of Resolved comes from, in the order of the language.
func (p *Plan) Origins() []Origin {
	_, origins := p.resolved()
	return origins
}

// Fingerprint returns a hash of the meaning (Resolved without name, description, labels, output and
// baseline), not of the formatting.
func (p *Plan) Fingerprint() string {
	return p.fingerprint()
}

// Key is a key that is written in the plan.
type Key struct {
	Name string
	Pos  source.Pos
}

// Parameter is a request parameter typed by YAML: bool, int64, float64 or string.
type Parameter struct {
	Name  string
	Value any
}

// Path is a file named by the plan, resolved, and where.
type Path struct {
	Name string
	Pos  source.Pos
}

// Stage is one step of the plan.
type Stage struct {
	ID          string
	Description string
	Labels      []Pair
	Pos         source.Pos // of the stage
	IDPos       source.Pos
	// Point is the place of the stage in its matrix, first axis outermost; nil without one. The points
	// of one stage follow each other in Plan.Stages and have the same ID.
	Point []Pair
	// Axes are the values of the point as expressions see them, named matrix.AXIS: those of Point and
	// what include adds.
	Axes        []Var
	Group       *Group        `plan:"-"` // the members of a group start together; nil: alone
	Needs       []Need        `plan:"-"`
	When        string        // success failure always never
	OnFail      string        // stop continue
	Delay       time.Duration // before it starts; in a group, from the group's start
	MaxDuration time.Duration // then the node is interrupted; 0: none
	Validity    Validity
	Request     Request    `plan:"-"`
	Mix         []Entry    // kinds of request; nil: only Request, else the first of them
	Load        Load       `plan:"-"`
	LoadPos     source.Pos `plan:"-"`
	Extent      Extent
	ExtentPos   source.Pos
	Warmup      Span
	WarmupPos   source.Pos
	Drain       time.Duration
	DrainPos    source.Pos
	Sequences   *Sequences `plan:"-"` // nil: the plan does not say; see Sequencing
	Before      []Action
	After       []Action
	Memory      *Memory     // tensors go through shared memory; nil: they go over the network
	Repeat      int         // how often; every second time in reverse; 1: once
	Best        *Best       `plan:"-"` // nil: the plan does not ask
	Goodput     []Bound     `plan:"-"`
	Assert      []Assertion // own ones; the built-in errors rule is added by the executor
}

// Best says which node of a stage is the best: the largest value of an expression, or the smallest, among
// those for which the conditions hold.
type Best struct {
	Pos   source.Pos
	Of    source.Text
	Min   bool
	Where []source.Text
}

// Memory is where the tensors of a stage's requests lie that its servers share.
type Memory struct {
	Pos        source.Pos
	Kind       string // system cuda
	OutputSize int64  // bytes for each inference of an output of no known size
	Device     int    // the GPU, with cuda
}

// Validity holds the limits of the client over which numbers are intervals, or invalid.
type Validity struct {
	SendDelay time.Duration // of a request, by the client's own fault
	Pause     time.Duration // shorter ones are none
	Paused    float64       // share of hold
}

// Group is a `parallel` entry. What it says itself about needs, when and delay is merged into its
// members.
type Group struct {
	Pos   source.Pos
	Index int // of the entry in `stages`
}

// Entry is one kind of request of a mix. Weight 0 in all entries: they take turns; else they are drawn.
type Entry struct {
	Name    string
	Pos     source.Pos
	Weight  float64
	Request Request `plan:"-"`
}

// Entries are the kinds of request of a stage: those of its mix, else one without a name.
func (s *Stage) Entries() []Entry {
	if s.Mix == nil {
		return []Entry{{Pos: s.Pos, Request: s.Request}}
	}
	return s.Mix
}

// Sequences says how the requests of a stage form sequences.
type Sequences struct {
	Pos      source.Pos // of the key
	Live     int        // at the same time, in open loops
	Length   *Dist      // requests of one; nil: not written
	From, To uint64     // ids, both included
	IDsPos   source.Pos `plan:"-"`
	Text     bool       // ids are texts of digits
	Serial   bool       // at most one request of a sequence in flight
}

// Sequencing returns how the requests of the stage form sequences if they do: without `sequences` in the
// plan the defaults of the language, for data that makes sequences by itself.
func (s *Stage) Sequencing() Sequences {
	if s.Sequences != nil {
		return *s.Sequences
	}
	return usualSequences(s.IDPos)
}

func usualSequences(pos source.Pos) Sequences {
	return Sequences{
		Pos: pos, IDsPos: pos,
		Live: int(language.Default[language.Sequences, int64]("live")),
		From: uint64(language.Default[language.IDs, int64]("from")),
		To:   uint64(language.Default[language.IDs, int64]("to")),
	}
}

// SequenceLength is the number of requests of a sequence where neither the plan nor the data says it.
func SequenceLength() int { return int(language.Default[language.Sequences, int64]("length")) }

// Action is one step before or after a stage: one of the fields after Pos is set.
type Action struct {
	Pos         source.Pos
	LoadModel   string `plan:"-"`
	Config      string `plan:"-"` // JSON merge patch of the configuration that it is loaded with; "": as it is
	UnloadModel string
	Call        string // METHOD PATH of one HTTP request to the target, which must answer 2xx
}

// Bound is one condition of goodput: a request is good when its metric is within the limit, in the
// metric's base unit. The direction comes from the catalogue.
type Bound struct {
	Metric source.Text
	Limit  source.Text // a literal with its unit
}

// Baseline is a stored result that assertions compare with.
type Baseline struct {
	File      Path
	IfMissing string // inconclusive skip
}

// Need is a stage that must have come before. Implied: the entry before, not written by the user.
type Need struct {
	ID      string
	Implied bool
	Pos     source.Pos
}

// Request describes one request of a stage.
type Request struct {
	Target     *Target  `plan:"-"`
	Data       *Dataset `plan:"-"`
	Model      string   // "" the target's
	Batch      int
	BatchPos   source.Pos
	Shapes     []Shape  `plan:"-"`
	Outputs    []Wanted // none: all
	Parameters []Parameter
	Headers    []Pair `plan:"-"`
	Expect     *Expect
	Cancel     *Cancel
}

// Cancel says that this client closes a share of the requests before their replies have ended.
type Cancel struct {
	Pos   source.Pos
	Ratio float64
	After time.Duration // since the send
}

// Wanted is an output to ask for; Classification above 0 asks for that number of classes in its place.
type Wanted struct {
	Name           string
	Classification int64
	Parameters     []Parameter // that the model reads
	Pos            source.Pos
}

// Shape fixes the variable dimensions of one input, without the batch.
type Shape struct {
	Input string
	Dims  []int64
	Pos   source.Pos
}

// Expect describes a right reply.
type Expect struct {
	Pos                source.Pos
	Outputs            bool // compare with the data's expected outputs
	Relative, Absolute float64
	Status             []int
	Sample             float64 // share of the replies that is compared, above 0
	Fields             []Parameter
}

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
	Confidence  float64    // ratio; 0: point estimate
	Every       time.Duration
	Allow       float64 // share of the windows of Every that may be false
	Within      time.Duration
	Abort       bool
}

// Output says what is written where.
type Output struct {
	Dir         string // resolved; "" for the default
	Formats     []string
	Percentiles []float64
	Samples     string // none csv jsonl
}
