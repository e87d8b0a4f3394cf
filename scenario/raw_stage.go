package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// rawRequest are the keys that say what one request looks like.
type rawRequest struct {
	Target     *val[string]       `plan:"target"`
	Data       *val[string]       `plan:"data"`
	Model      *val[string]       `plan:"model" is:"nonempty"`
	Batch      *val[int64]        `plan:"batch" default:"1" min:"1" max:"65536"`
	Shapes     *dict[rawShape]    `plan:"shapes"`
	Outputs    []*rawOutputWanted `plan:"outputs"`
	Parameters *dict[val[any]]    `plan:"parameters"`
	Headers    *dict[val[string]] `plan:"headers"`
	Expect     *rawExpect         `plan:"expect"`
}

// rawShape is a list of dimensions; "3,640,640" is the same as [3, 640, 640].
type rawShape struct {
	At   place
	Text *val[string]  `form:"scalar"`
	Dims []*val[int64] `form:"list"`
}

// rawOutputWanted is an output to ask for: its name, or a map with more.
type rawOutputWanted struct {
	At             place
	Name           *val[string]    `plan:"name" form:"scalar" required:"true"`
	Classification *val[int64]     `plan:"classification" min:"1" max:"4294967295"`
	Parameters     *dict[val[any]] `plan:"parameters"`
}

type rawExpect struct {
	At       place
	Outputs  *val[bool]    `plan:"outputs" default:"true"`
	Relative *val[number]  `plan:"relative" default:"0" min:"0"`
	Absolute *val[number]  `plan:"absolute" default:"0" min:"0"`
	Status   []*val[int64] `plan:"status" min:"0" max:"599"`

	Sample *val[ratio]     `plan:"sample" default:"100%" max:"100%"`
	Fields *dict[val[any]] `plan:"fields"`
}

// rawPlay is what a stage and `defaults` share.
type rawPlay struct {
	Description *val[string]        `plan:"description"`
	Labels      *dict[val[string]]  `plan:"labels"`
	OnFail      *val[string]        `plan:"on_fail" default:"stop" words:"stop continue"`
	Request     rawRequest          `inline:"true"`
	Load        *rawLoad            `plan:"load" required:"true"`
	For         *val[Span]          `plan:"for"`
	Until       *rawUntil           `plan:"until"`
	Warmup      *val[Span]          `plan:"warmup" default:"0s"`
	Drain       *val[time.Duration] `plan:"drain" default:"30s" max:"24h"`
	Assert      []*rawAssertion     `plan:"assert"`
	Delay       *val[time.Duration] `plan:"delay" default:"0s"`
	MaxDuration *val[time.Duration] `plan:"max_duration" min:"1ms"`
	Sequences   *rawSequences       `plan:"sequences"`
	Memory      *rawMemory          `plan:"shared_memory"`
	Before      []*rawAction        `plan:"before"`
	After       []*rawAction        `plan:"after"`
	Matrix      *opaque             `plan:"matrix"`
	Repeat      *val[int64]         `plan:"repeat" default:"1" min:"1" max:"1000"`
	Goodput     *dict[val[any]]     `plan:"goodput"`
}

type rawDefaults struct {
	At   place
	Play rawPlay `inline:"true"`
}

// rawItem is an entry of `stages`: a stage, or a group of them.
type rawItem struct {
	At    place
	Group *rawGroup `form:"map" has:"parallel"`
	Stage *rawStage `form:"map"`
}

type rawGroup struct {
	At       place
	Parallel []*rawStage         `plan:"parallel" required:"true"`
	Needs    []*val[string]      `plan:"needs"`
	When     *val[string]        `plan:"when" default:"success" words:"success failure always never"`
	Delay    *val[time.Duration] `plan:"delay" default:"0s"`
}

type rawStage struct {
	At    place
	ID    *val[string]   `plan:"id" required:"true" is:"id"`
	Needs []*val[string] `plan:"needs"`
	When  *val[string]   `plan:"when" default:"success" words:"success failure always never"`
	Play  rawPlay        `inline:"true"`
	Mix   *dict[rawMix]  `plan:"mix"`

	group *rawGroup // that it is a member of; nil: alone
	index int       // of its entry in the plan's list
}

// rawMix is an entry of a mix. What it leaves open the stage says (see mergeMixes).
type rawMix struct {
	At      place
	Request rawRequest   `inline:"true"`
	Weight  *val[number] `plan:"weight"`
}

type rawSequences struct {
	At     place
	Live   *val[int64]             `plan:"live" default:"4" min:"1" max:"65536"`
	Length *rawDist[int64, number] `plan:"length" default:"20"`
	IDs    *rawIDs                 `plan:"ids"`
	Serial *val[bool]              `plan:"serial" default:"false"`
}

type rawIDs struct {
	At   place
	From *val[int64] `plan:"from" default:"1" min:"1"`
	To   *val[int64] `plan:"to" default:"4294967295" min:"1"`
	Text *val[bool]  `plan:"text" default:"false"`
}

// rawMemory is shared memory: its kind, or a map with more.
type rawMemory struct {
	At         place
	Kind       *val[string] `plan:"kind" form:"scalar" required:"true" words:"system cuda"`
	OutputSize *val[size]   `plan:"output_size" default:"100KiB" min:"1B"`
	Device     *val[int64]  `plan:"device" default:"0" min:"0"`
}

// rawAction is one step before or after a stage.
type rawAction struct {
	At     place
	Load   *val[string] `plan:"load_model" is:"nonempty"`
	Unload *val[string] `plan:"unload_model" is:"nonempty"`
	Call   *val[string] `plan:"call" is:"call"`
}

type rawUntil struct {
	At     place
	Word   *val[string] `form:"scalar" words:"stable others"`
	Stable *rawStable   `plan:"stable"`
}

type rawStable struct {
	At         place
	Windows    *val[int64]         `plan:"windows" default:"3" min:"2" max:"1000"`
	Window     *val[Span]          `plan:"window" default:"5s"`
	Within     *val[ratio]         `plan:"within" default:"10%"`
	MaxWindows *val[int64]         `plan:"max_windows" default:"10" min:"2" max:"100000"`
	Metrics    []*val[source.Text] `plan:"metrics" default:"throughput latency.p95"`
}

type rawAssertion struct {
	At          place
	That        *val[source.Text] `plan:"that" form:"scalar"`
	SLO         *val[string]      `plan:"slo"`
	ID          *val[string]      `plan:"id" is:"label"`
	Description *val[string]      `plan:"description"`
	Severity    *val[string]      `plan:"severity" default:"gate" words:"gate warn"`
	MinSamples  *val[int64]       `plan:"min_samples" min:"1"`
	OnNoData    *val[string]      `plan:"on_no_data" default:"inconclusive" words:"inconclusive fail pass"`

	Confidence *val[ratio]         `plan:"confidence"`
	Every      *val[time.Duration] `plan:"every" min:"1ms"`
	Allow      *val[ratio]         `plan:"allow" default:"0%" with:"every"`
	Within     *val[time.Duration] `plan:"within"`
	Abort      *val[bool]          `plan:"abort" default:"false"`

	fromSLO string     // the name that it came from; "" when it was written in place
	usedAt  source.Pos // where that name was used
}
