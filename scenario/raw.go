package scenario

import "time"

// The structs of the raw files are the plan language, key by key (see shape.go for the tags). A pointer that is nil
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
	Stages      []*rawItem             `plan:"stages" required:"true"`
	Assert      []*rawAssertion        `plan:"assert"`
	Baseline    *rawBaseline           `plan:"baseline"`
	MaxDuration *val[time.Duration]    `plan:"max_duration" min:"1ms"`
	Output      *rawOutput             `plan:"output" default:"{}"`

	flat []*rawStage // the stages of Stages and of its groups, in their order
}

type rawVar struct {
	At          place
	Default     *val[any]    `plan:"default" form:"scalar"`
	Type        *val[string] `plan:"type" words:"text int number bool duration rate ratio size power"`
	Env         *val[string] `plan:"env"`
	Secret      *val[bool]   `plan:"secret" default:"false"`
	Required    *val[bool]   `plan:"required" default:"false"`
	Description *val[string] `plan:"description"`
}

type rawTarget struct {
	At             place
	Backend        *val[string]        `plan:"backend" required:"true" words:"kserve triton triton_inprocess tfserving torchserve openai grpc http"`
	URL            *val[string]        `plan:"url"`
	Model          *val[string]        `plan:"model" is:"nonempty"`
	ModelVersion   *val[string]        `plan:"model_version"`
	Headers        *dict[val[string]]  `plan:"headers"`
	Parameters     *dict[val[any]]     `plan:"parameters"`
	TLS            *rawTLS             `plan:"tls"`
	Timeout        *val[time.Duration] `plan:"timeout" default:"30s" min:"1ms" max:"24h"`
	ConnectTimeout *val[time.Duration] `plan:"connect_timeout" default:"5s" min:"1ms" max:"1h"`
	Connections    *val[Connections]   `plan:"connections" default:"per_slot"`
	MaxMessage     *val[size]          `plan:"max_message" min:"1B" max:"2GiB"`
	Tensors        *rawTensors         `plan:"tensors" default:"{}"`
	Ready          *val[time.Duration] `plan:"ready" default:"10s" max:"24h"`
	Probe          *val[bool]          `plan:"probe" default:"true"`
	Statistics     *val[string]        `plan:"statistics" default:"auto" words:"auto require none"`
	Builtin        *rawBuiltin         `plan:"builtin"`

	Signature         *val[string]        `plan:"signature" usual:"serving_default" is:"nonempty"`
	Endpoint          *val[string]        `plan:"endpoint" words:"chat completions responses messages embeddings rankings images infer generate tensorrtllm vllm predict classify regress"`
	Path              *val[string]        `plan:"path" is:"urlpath"`
	Method            *val[string]        `plan:"method" is:"nonempty"`
	Protos            *rawProtos          `plan:"protos"`
	InProcess         *rawInProcess       `plan:"inprocess"`
	ComposingModels   []*val[string]      `plan:"composing_models" is:"nonempty"`
	Compression       *val[string]        `plan:"compression" usual:"none" words:"none gzip deflate"`
	InactivityTimeout *val[time.Duration] `plan:"inactivity_timeout" usual:"30s" min:"1ms" max:"24h"`
	Streaming         *val[bool]          `plan:"streaming" usual:"false"`
	Tokenizer         *val[path]          `plan:"tokenizer"`
	Metrics           *rawMetrics         `plan:"metrics"`
	Trace             *rawTrace           `plan:"trace"`
	Log               *rawLog             `plan:"log"`
}

// rawBaseline is a path, or a map with more.
type rawBaseline struct {
	At        place
	File      *val[path]   `plan:"file" form:"scalar" required:"true"`
	IfMissing *val[string] `plan:"if_missing" default:"inconclusive" words:"inconclusive skip"`
}

type rawProtos struct {
	At            place
	Files         []*val[path] `plan:"files"`
	Include       []*val[path] `plan:"include"`
	DescriptorSet *val[path]   `plan:"descriptor_set"`
}

type rawInProcess struct {
	At         place
	ServerDir  *val[path]      `plan:"server_dir" default:"/opt/tritonserver"`
	Repository *val[path]      `plan:"repository"`
	Options    *dict[val[any]] `plan:"options"`
}

type rawMetrics struct {
	At    place
	URL   *val[string]        `plan:"url" required:"true" is:"nonempty"`
	Every *val[time.Duration] `plan:"every" default:"1s" min:"10ms" max:"1h"`
	Match []*val[string]      `plan:"match" default:"*" is:"nonempty"`
}

type rawTrace struct {
	At           place
	Level        []*val[string] `plan:"level" words:"TIMESTAMPS TENSORS"`
	Rate         *val[int64]    `plan:"rate" default:"1000" min:"1"`
	Count        *val[int64]    `plan:"count" default:"-1" min:"-1"`
	LogFrequency *val[int64]    `plan:"log_frequency" default:"0" min:"0"`
}

type rawLog struct {
	At      place
	Info    *val[bool]   `plan:"info"`
	Warning *val[bool]   `plan:"warning"`
	Error   *val[bool]   `plan:"error"`
	Verbose *val[int64]  `plan:"verbose" min:"0" max:"10"`
	Format  *val[string] `plan:"format" words:"default ISO8601"`
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
	TTFT        *rawDist[time.Duration, time.Duration] `plan:"ttft"`
	ITL         *rawDist[time.Duration, time.Duration] `plan:"itl"`
	Instances   *val[int64]                            `plan:"instances" min:"1" max:"1024"`
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

type rawOutput struct {
	At          place
	Dir         *val[path]     `plan:"dir"`
	Formats     []*val[string] `plan:"formats" default:"json csv" words:"json csv junit markdown html perf_analyzer_csv profile_export genai_perf"`
	Percentiles []*val[number] `plan:"percentiles" default:"50 90 95 99 99.9"`
	Samples     *val[string]   `plan:"samples" default:"none" words:"none csv jsonl"`
}
