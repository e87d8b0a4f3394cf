package language

import "time"

// Target is one server to send to.
type Target struct {
	At             Place
	Backend        *Val[string]        `plan:"backend" required:"true" words:"kserve triton triton_inprocess tfserving torchserve openai grpc http"`
	URL            *Val[string]        `plan:"url"`
	Model          *Val[string]        `plan:"model" is:"nonempty"`
	ModelVersion   *Val[string]        `plan:"model_version"`
	Headers        *Dict[Val[string]]  `plan:"headers"`
	Parameters     *Dict[Val[any]]     `plan:"parameters"`
	TLS            *TLS                `plan:"tls"`
	Timeout        *Val[time.Duration] `plan:"timeout" default:"30s" min:"1ms" max:"24h"`
	ConnectTimeout *Val[time.Duration] `plan:"connect_timeout" default:"5s" min:"1ms" max:"1h"`
	Connections    *Val[Connections]   `plan:"connections" default:"per_slot"`
	MaxMessage     *Val[Size]          `plan:"max_message" min:"1B" max:"2GiB"`
	Tensors        *Tensors            `plan:"tensors" default:"{}"`
	Ready          *Val[time.Duration] `plan:"ready" default:"10s" max:"24h"`
	Probe          *Val[bool]          `plan:"probe" default:"true"`
	Statistics     *Val[string]        `plan:"statistics" default:"auto" words:"auto require none"`
	Builtin        *Builtin            `plan:"builtin"`

	Signature         *Val[string]        `plan:"signature" usual:"serving_default" is:"nonempty"`
	Endpoint          *Val[string]        `plan:"endpoint" words:"chat completions responses messages embeddings rankings images infer generate tensorrtllm vllm predict classify regress"`
	Path              *Val[string]        `plan:"path" is:"urlpath"`
	Method            *Val[string]        `plan:"method" is:"nonempty"`
	Protos            *Protos             `plan:"protos"`
	InProcess         *InProcess          `plan:"inprocess"`
	ComposingModels   []*Val[string]      `plan:"composing_models" is:"nonempty"`
	Compression       *Val[string]        `plan:"compression" usual:"none" words:"none gzip deflate"`
	InactivityTimeout *Val[time.Duration] `plan:"inactivity_timeout" usual:"30s" min:"1ms" max:"24h"`
	Streaming         *Val[bool]          `plan:"streaming" usual:"false"`
	Tokenizer         *Val[Path]          `plan:"tokenizer"`
	Metrics           *Metrics            `plan:"metrics"`
	Trace             *Trace              `plan:"trace"`
	Log               *Log                `plan:"log"`
}

type Protos struct {
	At            Place
	Files         []*Val[Path] `plan:"files"`
	Include       []*Val[Path] `plan:"include"`
	DescriptorSet *Val[Path]   `plan:"descriptor_set"`
}

type InProcess struct {
	At         Place
	ServerDir  *Val[Path]      `plan:"server_dir" default:"/opt/tritonserver"`
	Repository *Val[Path]      `plan:"repository"`
	Options    *Dict[Val[any]] `plan:"options"`
}

type Metrics struct {
	At    Place
	URL   *Val[string]        `plan:"url" required:"true" is:"nonempty"`
	Every *Val[time.Duration] `plan:"every" default:"1s" min:"10ms" max:"1h"`
	Match []*Val[string]      `plan:"match" default:"*" is:"nonempty"`
}

type Trace struct {
	At           Place
	Level        []*Val[string] `plan:"level" words:"TIMESTAMPS TENSORS"`
	Rate         *Val[int64]    `plan:"rate" default:"1000" min:"1"`
	Count        *Val[int64]    `plan:"count" default:"-1" min:"-1"`
	LogFrequency *Val[int64]    `plan:"log_frequency" default:"0" min:"0"`
}

type Log struct {
	At      Place
	Info    *Val[bool]   `plan:"info"`
	Warning *Val[bool]   `plan:"warning"`
	Error   *Val[bool]   `plan:"error"`
	Verbose *Val[int64]  `plan:"verbose" min:"0" max:"10"`
	Format  *Val[string] `plan:"format" words:"default ISO8601"`
}

type Tensors struct {
	At     Place
	Input  *Val[string] `plan:"input" default:"binary" words:"binary json"`
	Output *Val[string] `plan:"output" default:"binary" words:"binary json"`
}

type TLS struct {
	At         Place
	CA         *Val[Path]   `plan:"ca"`
	Cert       *Val[Path]   `plan:"cert"`
	Key        *Val[Path]   `plan:"key"`
	ServerName *Val[string] `plan:"server_name" is:"nonempty"`
	Verify     *Val[string] `plan:"verify" default:"full" words:"full ca none"`
	MinVersion *Val[string] `plan:"min_version" default:"1.2" words:"1.2 1.3"`
}

type Builtin struct {
	At          Place
	ServiceTime *Dist[time.Duration, time.Duration] `plan:"service_time"`
	TTFT        *Dist[time.Duration, time.Duration] `plan:"ttft"`
	ITL         *Dist[time.Duration, time.Duration] `plan:"itl"`
	Instances   *Val[int64]                         `plan:"instances" min:"1" max:"1024"`
	MaxBatch    *Val[int64]                         `plan:"max_batch" default:"1" min:"1" max:"65536"`
	QueueDelay  *Val[time.Duration]                 `plan:"queue_delay" default:"0s" max:"1h"`
	Errors      *Val[Ratio]                         `plan:"errors" default:"0%" max:"100%"`
	Reset       *Val[Ratio]                         `plan:"reset" default:"0%" max:"100%"`
	Stall       *Stall                              `plan:"stall"`
	SlowBody    *Val[time.Duration]                 `plan:"slow_body" default:"0s" max:"1h"`
}

type Stall struct {
	At    Place
	Start *Val[time.Duration] `plan:"at" default:"0s"`
	For   *Val[time.Duration] `plan:"for" default:"0s"`
	Every *Val[time.Duration] `plan:"every" default:"0s"`
}
