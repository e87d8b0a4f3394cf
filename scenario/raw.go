package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// The structs below are the plan language that is built, key by key (see shape.go for the tags). A pointer that is nil
// after decoding is a key that was not written; fill puts the defaults in.

type rawPlan struct {
	At          place
	Version     *val[int64]            `plan:"version" required:"true"`
	Name        *val[string]           `plan:"name" is:"name"`
	Description *val[string]           `plan:"description"`
	Labels      *dict[val[string]]     `plan:"labels"`
	Seed        *val[int64]            `plan:"seed" default:"0" min:"0"`
	Extends     *val[path]             `plan:"extends"` // merged before anything is decoded (overlay.go)
	Vars        *dict[rawVar]          `plan:"vars"`
	Profiles    *dict[rawPlan]         `plan:"profiles"` // too
	Target      *rawTarget             `plan:"target"`
	Targets     *dict[rawTarget]       `plan:"targets"`
	Data        *rawDataset            `plan:"data"`
	Datasets    *dict[rawDataset]      `plan:"datasets"`
	Defaults    *rawDefaults           `plan:"defaults"`
	SLOs        *dict[[]*rawAssertion] `plan:"slos"`
	Stages      []*rawStage            `plan:"stages" required:"true"`
	Assert      []*rawAssertion        `plan:"assert"`
	Output      *rawOutput             `plan:"output" default:"{}"`
}

type rawVar struct {
	At          place
	Default     *val[any]    `plan:"default" form:"scalar"`
	Type        *val[string] `plan:"type" words:"text int number bool duration rate ratio size"`
	Env         *val[string] `plan:"env"`
	Secret      *val[bool]   `plan:"secret" default:"false"`
	Description *val[string] `plan:"description"`
}

type rawTarget struct {
	At             place
	Backend        *val[string]        `plan:"backend" required:"true" words:"kserve triton"`
	URL            *val[string]        `plan:"url" required:"true"`
	Model          *val[string]        `plan:"model" is:"nonempty"`
	ModelVersion   *val[string]        `plan:"model_version"`
	Headers        *dict[val[string]]  `plan:"headers"`
	Parameters     *dict[val[any]]     `plan:"parameters"`
	TLS            *rawTLS             `plan:"tls"`
	Timeout        *val[time.Duration] `plan:"timeout" default:"30s" min:"1ms" max:"24h"`
	ConnectTimeout *val[time.Duration] `plan:"connect_timeout" default:"5s" min:"1ms" max:"1h"`
	Connections    *val[Connections]   `plan:"connections" default:"per_slot"`
	MaxMessage     *val[size]          `plan:"max_message" default:"2GiB" min:"1B" max:"2GiB"`
	Tensors        *rawTensors         `plan:"tensors" default:"{}"`
	Ready          *val[time.Duration] `plan:"ready" default:"10s" max:"24h"`
	Statistics     *val[string]        `plan:"statistics" default:"auto" words:"auto require none"`
	Builtin        *rawBuiltin         `plan:"builtin"`
}

type rawTensors struct {
	At     place
	Input  *val[string] `plan:"input" default:"binary" words:"binary json"`
	Output *val[string] `plan:"output" default:"binary" words:"binary json"`
}

type rawTLS struct {
	At         place
	CA         *val[path]   `plan:"ca"`
	Cert       *val[path]   `plan:"cert"`
	Key        *val[path]   `plan:"key"`
	ServerName *val[string] `plan:"server_name" is:"nonempty"`
	Verify     *val[string] `plan:"verify" default:"full" words:"full ca none"`
	MinVersion *val[string] `plan:"min_version" default:"1.2" words:"1.2 1.3"`
}

type rawBuiltin struct {
	At          place
	ServiceTime *rawDist[time.Duration, time.Duration] `plan:"service_time"`
	Instances   *val[int64]                            `plan:"instances" default:"1" min:"1" max:"1024"`
	MaxBatch    *val[int64]                            `plan:"max_batch" default:"1" min:"1" max:"65536"`
	QueueDelay  *val[time.Duration]                    `plan:"queue_delay" default:"0s" max:"1h"`
	Errors      *val[ratio]                            `plan:"errors" default:"0%" max:"100%"`
	Reset       *val[ratio]                            `plan:"reset" default:"0%" max:"100%"`
	Stall       *rawStall                              `plan:"stall"`
	SlowBody    *val[time.Duration]                    `plan:"slow_body" default:"0s" max:"1h"`
}

type rawStall struct {
	At    place
	Start *val[time.Duration] `plan:"at" default:"0s"`
	For   *val[time.Duration] `plan:"for" default:"0s"`
	Every *val[time.Duration] `plan:"every" default:"0s"`
}

// rawDist is a drawn number: a constant of type C, or a map of values of type T.
type rawDist[C, T any] struct {
	At       place
	Constant *val[C]      `form:"scalar"`
	Spread   rawSpread[T] `inline:"true"`
}

// rawSpread is the map form of a drawn number.
type rawSpread[T any] struct {
	Mean   *val[T]       `plan:"mean"`
	Std    *val[T]       `plan:"std"`
	Min    *val[T]       `plan:"min"`
	Max    *val[T]       `plan:"max"`
	Shape  *val[string]  `plan:"shape" words:"normal uniform exponential lognormal"`
	Values *rawValues[T] `plan:"values"`
}

// rawValues are equally likely values, or values with weights.
type rawValues[T any] struct {
	At      place
	List    []*val[T]          `form:"list"`
	Weights *dict[val[number]] `form:"map"`
}

type rawDataset struct {
	At           place
	Generate     *rawGenerate            `plan:"generate"`
	File         *rawFiles               `plan:"file"`
	Format       *val[string]            `plan:"format" with:"file" words:"perf_analyzer"`
	Order        *val[string]            `plan:"order" default:"sequential" words:"sequential shuffle random"`
	AtEnd        *val[string]            `plan:"at_end" default:"repeat" words:"repeat stop"`
	Count        *val[int64]             `plan:"count" with:"generate" default:"16" min:"1" max:"1000000"`
	StringLength *rawDist[int64, number] `plan:"string_length" default:"128"`
}

type rawFiles struct {
	At   place
	One  *val[path]   `form:"scalar"`
	Many []*val[path] `form:"list"`
}

type rawGenerate struct {
	At     place
	Word   *val[string]        `form:"scalar" words:"random zero"`
	Inputs *dict[rawGenerator] `form:"map"`
}

type rawGenerator struct {
	At       place
	Constant *val[any]               `form:"scalar"`
	List     []*rawElement           `form:"list"`
	Spread   rawSpread[number]       `inline:"true"`
	Length   *rawDist[int64, number] `plan:"length"`
	Alphabet *val[string]            `plan:"alphabet" with:"length" is:"nonempty"`
	OneOf    []*val[any]             `plan:"one_of"`
	File     *val[path]              `plan:"file"`
}

// rawElement is an element of a constant tensor, or a nested list of them.
type rawElement struct {
	At   place
	One  *val[any]     `form:"scalar"`
	List []*rawElement `form:"list"`
}

// rawRequest are the keys that say what one request looks like.
type rawRequest struct {
	Target     *val[string]       `plan:"target"`
	Data       *val[string]       `plan:"data"`
	Model      *val[string]       `plan:"model" is:"nonempty"`
	Batch      *val[int64]        `plan:"batch" default:"1" min:"1" max:"65536"`
	Shapes     *dict[rawShape]    `plan:"shapes"`
	Outputs    []*val[string]     `plan:"outputs"`
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

type rawExpect struct {
	At       place
	Outputs  *val[bool]    `plan:"outputs" default:"true"`
	Relative *val[number]  `plan:"relative" default:"0" min:"0"`
	Absolute *val[number]  `plan:"absolute" default:"0" min:"0"`
	Status   []*val[int64] `plan:"status" min:"0" max:"599"`
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
}

type rawDefaults struct {
	At   place
	Play rawPlay `inline:"true"`
}

type rawStage struct {
	At    place
	ID    *val[string]   `plan:"id" required:"true" is:"id"`
	Needs []*val[string] `plan:"needs"`
	When  *val[string]   `plan:"when" default:"success" words:"success failure always never"`
	Play  rawPlay        `inline:"true"`
}

type rawLoad struct {
	At          place
	Concurrency *rawQuantity[int64] `plan:"concurrency"`
	Rate        *rawQuantity[rate]  `plan:"rate"`
	Arrivals    *val[string]        `plan:"arrivals" with:"rate" default:"constant" words:"constant poisson"`
	MaxInFlight *val[int64]         `plan:"max_in_flight" with:"rate" default:"1024" min:"1" max:"65536"`
	Overflow    *val[string]        `plan:"overflow" with:"rate" default:"wait" words:"wait drop"`
}

// rawQuantity is one value, a list of levels, or a map with one form.
type rawQuantity[T any] struct {
	At     place
	One    *val[T]       `form:"scalar"`
	Many   []*val[T]     `form:"list"`
	Levels *rawLevels[T] `plan:"levels"`
}

type rawLevels[T any] struct {
	At     place
	From   *val[T]        `plan:"from"`
	To     *val[T]        `plan:"to"`
	Step   *val[T]        `plan:"step"`
	Factor *val[number]   `plan:"factor"`
	While  *rawConditions `plan:"while"`
}

type rawConditions struct {
	At   place
	One  *val[source.Text] `form:"scalar"`
	Many []*rawCondition   `form:"list"`
}

type rawCondition struct {
	At   place
	That *val[source.Text] `form:"scalar"`
	SLO  *val[string]      `plan:"slo"`
}

type rawUntil struct {
	At     place
	Word   *val[string] `form:"scalar" words:"stable"`
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

	slo string     // the name that it came from; "" when it was written in place
	use source.Pos // where that name was used
}

type rawOutput struct {
	At          place
	Dir         *val[path]     `plan:"dir"`
	Formats     []*val[string] `plan:"formats" default:"json csv" words:"json csv junit markdown perf_analyzer_csv"`
	Percentiles []*val[number] `plan:"percentiles" default:"50 90 95 99 99.9"`
}
