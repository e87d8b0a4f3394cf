package language

import "time"

// Target is one server to send to.
type Target struct {
	At Place `def:"target" name:"target"`
	// The kind of server.
	// Example: triton
	Backend *Val[string] `plan:"backend" required:"true" words:"kserve triton triton_inprocess tfserving torchserve openai grpc http"`
	// Where it is: http:// https:// grpc:// grpcs:// http+unix:// grpc+unix:// or builtin://http,
	// builtin://grpc for the embedded server.
	// Example: "grpc://localhost:8001"
	URL *Val[string] `plan:"url"`
	// The model that requests name unless they name their own.
	// Example: resnet50
	Model *Val[string] `plan:"model" is:"nonempty"`
	// The model's version; the server's choice without one. In quotes if it is not an integer.
	// Example: 3
	ModelVersion *Val[string] `plan:"model_version" is:"version"`
	// Sent with every request, over gRPC as metadata, where the value of a name that ends in -bin is bytes in
	// base64. Host is whom requests are for, over gRPC the
	// `:authority`: a model behind Istio, Knative or Envoy is reached by it at any address. What TLS
	// checks is tls.server_name.
	// Example: {Authorization: "Bearer ${token}"}
	Headers *Dict[Val[string]] `plan:"headers" usual:"{}"`
	// Request parameters, typed as YAML types them.
	// Example: {priority: 1}
	Parameters *Dict[Val[any]] `plan:"parameters" usual:"{}"`
	// How secure connections are made; the system's roots without it.
	// Example: {ca: ca.pem}
	TLS *TLS `plan:"tls"`
	// For one request, from due to last byte.
	// Example: 2s
	Timeout *Val[time.Duration] `plan:"timeout" default:"30s" streaming:"10m" min:"1ms" max:"24h"`
	// For making a connection.
	// Example: 1s
	ConnectTimeout *Val[time.Duration] `plan:"connect_timeout" default:"5s" min:"1ms" max:"1h"`
	// per_slot: one for each slot; with streaming over gRPC one for up to 64 streams. per_request: a new
	// one for each. A number: that many connections, shared by all slots, over gRPC with many requests at
	// once on each; with streaming one stream on each, which carries the requests of several slots at once
	// (as each thread of perf_analyzer has with --streaming: `--max-threads N`), else each slot has a
	// stream of its own.
	// Example: 4
	Connections *Val[Connections] `plan:"connections" default:"per_slot"`
	// The largest reply, also once it is decompressed, and over gRPC the largest request. Without it a
	// reply may have 64MiB, or four times what the model's metadata imply if that is more, and a gRPC
	// request 2GiB. A reply over the limit ends there, as class decode; over gRPC as RESOURCE_EXHAUSTED.
	// Example: 256MiB
	MaxMessage *Val[Size] `plan:"max_message" min:"1B" max:"2GiB"`
	// How tensors travel over HTTP; json where the server lacks the binary extension.
	// Example: {output: json}
	Tensors *Tensors `plan:"tensors" default:"{}"`
	// How long to wait until the server and its models are ready. 0s asks nothing: no health endpoints, no
	// request of `probe`, and a server that is not there fails requests.
	// Example: 60s
	Ready *Val[time.Duration] `plan:"ready" default:"10s" max:"24h"`
	// Send the last request of the data once to each model before the clock starts, and wait for its
	// answer: health endpoints can say ready too early. It is in no number but `probes` of result.json,
	// and the server counts it. A server that caches prompts has then seen the last row. false asks the health
	// endpoints only, so that the first request of a cold model, or of a cache, is measured.
	// Example: false
	Probe *Val[bool] `plan:"probe" default:"true"`
	// TorchServe's management API, which is asked for the workers of each model before the clock starts: its
	// ping says Healthy without any.
	// Example: {url: "http://localhost:8081"}
	Management *Management `plan:"management"`
	// Whether the server's own statistics are read.
	// Example: require
	Statistics *Val[string] `plan:"statistics" default:"auto" words:"auto require none"`
	// How the embedded server behaves; only with builtin://.
	// Example: {service_time: 5ms}
	Builtin *Builtin `plan:"builtin" usual:"{}"`

	// The signature of a TF Serving model.
	// Example: serving_default
	Signature *Val[string] `plan:"signature" usual:"serving_default" is:"nonempty"`
	// The shape of requests and replies.
	// Example: generate
	Endpoint *Val[string] `plan:"endpoint" words:"chat completions responses messages embeddings rankings images infer generate tensorrtllm vllm predict classify regress"`
	// The URL path, for servers that put it elsewhere; of backend http the path of requests. It follows
	// that of `url`.
	// Example: /v1/chat/completions
	Path *Val[string] `plan:"path" is:"urlpath"`
	// gRPC: package.Service/Method. HTTP: the verb, POST without it.
	// Example: acme.Search/Query
	Method *Val[string] `plan:"method" is:"nonempty"`
	// Definitions of a gRPC service; reflection without them.
	// Example: {files: [api.proto]}
	Protos *Protos `plan:"protos"`
	// The server that is loaded into the client.
	// Example: {repository: models}
	InProcess *InProcess `plan:"inprocess"`
	// Models called by this one whose statistics are read too: name or name:version.
	// Example: [preprocess, "detect:2"]
	ComposingModels []*Val[string] `plan:"composing_models" is:"nonempty" usual:"[]"`
	// Compression of requests, and what replies may have. Without it a compressed reply over HTTP is an
	// error, unless a header Accept-Encoding asks for it.
	// Example: gzip
	Compression *Val[string] `plan:"compression" usual:"none" words:"none gzip deflate"`
	// The longest silence in a stream.
	// Example: 10s
	InactivityTimeout *Val[time.Duration] `plan:"inactivity_timeout" usual:"30s" min:"1ms" max:"24h"`
	// A bidirectional gRPC stream, or server-sent events.
	// Example: true
	Streaming *Val[bool] `plan:"streaming" usual:"false"`
	// The model's tokenizer. Tokens of prompts are those of the server's usage, else of `prompts` by this; tokens of
	// answers those of the usage, else of their texts by this, which are counted when the stage is over, or as they come
	// where a decision needs them. Where neither counts them, events stand for tokens.
	// Example: tokenizer.json
	Tokenizer *Val[Path] `plan:"tokenizer" is:"file"`
	// The server's Prometheus metrics.
	// Example: {url: "http://localhost:8002/metrics"}
	Metrics *Metrics `plan:"metrics"`
	// Trace settings of the server while the plan runs; restored afterwards.
	// Example: {level: [TIMESTAMPS]}
	Trace *Trace `plan:"trace"`
	// Log settings of the server while the plan runs; those not named stay as they are; restored
	// afterwards.
	// Example: {verbose: 1}
	Log *Log `plan:"log"`
}

// Protos names the files that describe a gRPC service.
type Protos struct {
	At Place `def:"protos"`
	// Files that define the service.
	// Example: [api.proto]
	Files []*Val[Path] `plan:"files" one:"protos" is:"file"`
	// Folders that imports are looked up in.
	// Example: [protos]
	Include []*Val[Path] `plan:"include" is:"folder" with:"files"`
	// A compiled descriptor set instead.
	// Example: api.pb
	DescriptorSet *Val[Path] `plan:"descriptor_set" one:"protos" is:"file"`
}

// InProcess holds the keys of a server inside this process.
type InProcess struct {
	At Place `def:"inprocess"`
	// Where the server is installed.
	// Example: /opt/tritonserver
	ServerDir *Val[Path] `plan:"server_dir" default:"/opt/tritonserver" is:"folder"`
	// The model repository; required for triton_inprocess.
	// Example: models
	Repository *Val[Path] `plan:"repository" is:"folder"`
	// Options of the server, as tritonserver has them, with _ for -: backend_directory, load_model,
	// cache_config …; several values with commas.
	// Example: {log_verbose: 1}
	Options *Dict[Val[any]] `plan:"options" usual:"{}"`
}

// Metrics holds the keys of a Prometheus endpoint.
type Metrics struct {
	At Place `def:"metrics"`
	// Where Prometheus metrics are shown: by the server, by its other replicas, by an exporter of its GPUs.
	// A path is one of the target's host, and is asked with the target's headers; other hosts are not sent them.
	// Example: "http://localhost:8002/metrics"
	URL *Addresses `plan:"url" required:"true"`
	// How often they are read.
	// Example: 1s
	Every *Val[time.Duration] `plan:"every" default:"1s" min:"10ms" max:"1h"`
	// Names to keep, with * for anything.
	// Example: [nv_gpu_*]
	Match []*Val[string] `plan:"match" default:"*" is:"nonempty"`
	// Values of labels: of the series that have the label, those with another value are left out.
	// Example: {model_name: llama}
	Labels *Dict[Val[string]] `plan:"labels" usual:"{}"`
}

// Addresses holds one address or several.
type Addresses struct {
	At   Place          `title:"text or list of text"`
	One  *Val[string]   `form:"scalar" is:"nonempty"`
	Many []*Val[string] `form:"list" least:"1" is:"nonempty"`
}

// All returns the addresses; nil has none.
func (a *Addresses) All() []*Val[string] {
	switch {
	case a == nil:
		return nil
	case a.One != nil:
		return []*Val[string]{a.One}
	}
	return a.Many
}

// Management holds the keys of a management API.
type Management struct {
	At Place `def:"management"`
	// Where the API is; a path is one on the target's host.
	// Example: "http://localhost:8081"
	URL *Val[string] `plan:"url" required:"true" is:"nonempty"`
	// Sent with its requests: TorchServe has a key of its own for this API.
	// Example: {Authorization: "Bearer ${management_key}"}
	Headers *Dict[Val[string]] `plan:"headers" usual:"{}"`
}

// Trace holds Triton's trace settings.
type Trace struct {
	At Place `def:"trace"`
	// What the server traces.
	// Example: [TIMESTAMPS]
	Level []*Val[string] `plan:"level" words:"TIMESTAMPS TENSORS"`
	// One request in this number is traced.
	// Example: 1000
	Rate *Val[int64] `plan:"rate" default:"1000" min:"1"`
	// How many traces at most; -1 for all.
	// Example: 100
	Count *Val[int64] `plan:"count" default:"-1" min:"-1"`
	// How many traces go to one file; 0 for all.
	// Example: 10
	LogFrequency *Val[int64] `plan:"log_frequency" default:"0" min:"0"`
}

// Log holds Triton's log settings.
type Log struct {
	At Place `def:"log"`
	// Whether information is logged.
	// Example: false
	Info *Val[bool] `plan:"info"`
	// Whether warnings are logged.
	// Example: true
	Warning *Val[bool] `plan:"warning"`
	// Whether errors are logged.
	// Example: true
	Error *Val[bool] `plan:"error"`
	// How much is logged besides; 0 for nothing.
	// Example: 1
	Verbose *Val[int64] `plan:"verbose" min:"0" max:"10"`
	// How times are written.
	// Example: ISO8601
	Format *Val[string] `plan:"format" words:"default ISO8601"`
}

// Tensors holds the encoding of tensors, each way.
type Tensors struct {
	At Place `def:"tensors"`
	// How input tensors are sent.
	// Example: json
	Input *Val[string] `plan:"input" default:"binary" words:"binary json"`
	// How output tensors are asked for.
	// Example: json
	Output *Val[string] `plan:"output" default:"binary" words:"binary json"`
	// How TensorFlow Serving is sent tensors over REST: each row with all inputs (instances), or each input
	// with all rows (inputs). Without it rows where the model has a batch dimension, else columns.
	// Example: columns
	Layout *Val[string] `plan:"layout" words:"rows columns"`
}

// TLS holds the keys of TLS.
type TLS struct {
	At Place `def:"tls"`
	// Certificates to trust instead of the system's.
	// Example: ca.pem
	CA *Val[Path] `plan:"ca" is:"file"`
	// The client's certificate.
	// Example: client.pem
	Cert *Val[Path] `plan:"cert" is:"file" with:"key"`
	// The client's key.
	// Example: client.key
	Key *Val[Path] `plan:"key" is:"file" with:"cert"`
	// The name to check the server's certificate against.
	// Example: model.internal
	ServerName *Val[string] `plan:"server_name" is:"nonempty"`
	// full checks chain and name, ca the chain only, none nothing.
	// Example: ca
	Verify *Val[string] `plan:"verify" default:"full" words:"full ca none"`
	// The oldest TLS version to accept, in quotes.
	// Example: "1.3"
	MinVersion *Val[string] `plan:"min_version" default:"1.2" words:"1.2 1.3"`
}

// Builtin holds the keys of the embedded server.
type Builtin struct {
	At Place `def:"builtin"`
	// How long one execution takes; the model's own without it.
	// Example: 5ms
	ServiceTime *Dist[time.Duration, time.Duration] `plan:"service_time"`
	// Time until the first token of a text is generated, once its request has one of the `instances`; 20 ms
	// without it. Only with backend openai.
	// Example: 50ms
	TTFT *Dist[time.Duration, time.Duration] `plan:"ttft"`
	// Time from each token to the next; 5 ms without it. Only with backend openai.
	// Example: 10ms
	ITL *Dist[time.Duration, time.Duration] `plan:"itl"`
	// How texts are generated and sent. A token is a word. Only with backend openai.
	// Example: {output_tokens: 64, tokens_per_event: 4}
	Generation *Generation `plan:"generation"`
	// The API key that requests must have in `Authorization: Bearer KEY`; others are answered with 401.
	// Only with backend openai.
	// Example: ${key}
	APIKey *Val[string] `plan:"api_key" is:"nonempty"`
	// Executions at the same time; the model's own without it.
	// Example: 2
	Instances *Val[int64] `plan:"instances" min:"1" max:"1024"`
	// Requests that one execution takes.
	// Example: 8
	MaxBatch *Val[int64] `plan:"max_batch" default:"1" min:"1" max:"65536"`
	// How long a request waits for others to share its execution.
	// Example: 1ms
	QueueDelay *Val[time.Duration] `plan:"queue_delay" default:"0s" max:"1h"`
	// Share of requests answered with an error.
	// Example: 1%
	Errors *Val[Ratio] `plan:"errors" default:"0%" max:"100%"`
	// Share of requests whose connection is reset.
	// Example: 1%
	Reset *Val[Ratio] `plan:"reset" default:"0%" max:"100%"`
	// A time in which nothing is answered.
	// Example: {at: 10s, for: 2s}
	Stall *Stall `plan:"stall"`
	// Time over which a reply's body is spread.
	// Example: 100ms
	SlowBody *Val[time.Duration] `plan:"slow_body" default:"0s" max:"1h"`
}

// Generation holds the keys of the texts of the embedded server.
type Generation struct {
	At Place `def:"generation"`
	// Tokens of a text whose request has no limit of tokens.
	// Example: 64
	OutputTokens *Val[int64] `plan:"output_tokens" default:"16" min:"1" max:"65536"`
	// Tokens in each event of a stream.
	// Example: 4
	TokensPerEvent *Val[int64] `plan:"tokens_per_event" default:"1" min:"1" max:"65536"`
	// Tokens in the first event; as in the others without it.
	// Example: 8
	FirstEventTokens *Val[int64] `plan:"first_event_tokens" min:"1" max:"65536"`
	// Events that are sent together, when the last of them is there.
	// Example: 4
	Burst *Val[int64] `plan:"burst" default:"1" min:"1" max:"65536"`
	// Tokens generated after the text, which only usage counts.
	// Example: 16
	HiddenTokens *Val[int64] `plan:"hidden_tokens" default:"0" min:"0" max:"65536"`
	// Tokens after the first event that are held back, and sent in one event when the last of them is there.
	// Example: 8
	HeldTokens *Val[int64] `plan:"held_tokens" default:"0" min:"0" max:"65536"`
	// How many tokens of a text come first, as reasoning.
	// Example: 8
	ReasoningTokens *Val[int64] `plan:"reasoning_tokens" default:"0" min:"0" max:"65536"`
	// Where a stream of chat or completions tells its usage: asked, as the request does with stream_options;
	// separate, in an event without choices; last, in the event that ends the text; every, in all of them,
	// growing; none.
	// Example: every
	Usage *Val[string] `plan:"usage" default:"asked" words:"asked separate last every none"`
	// Tokens after which a stream of `errors`, `reset` or `stuck` goes wrong; 0: it does before the first.
	// Example: 3
	FailAfter *Val[int64] `plan:"fail_after" default:"0" min:"0" max:"65536"`
	// Share of streams that stop and do not end.
	// Example: 1%
	Stuck *Val[Ratio] `plan:"stuck" default:"0%" max:"100%"`
	// Texts are the arguments of a function call.
	// Example: true
	ToolCalls *Val[bool] `plan:"tool_calls" default:"false"`
	// Prompts are cached in blocks of 16 tokens: usage has cached_tokens, and the first token comes earlier by
	// the cached share of the prompt.
	// Example: true
	PrefixCache *Val[bool] `plan:"prefix_cache" default:"false"`
	// Connections are closed after each reply, unannounced.
	// Example: true
	CloseSilent *Val[bool] `plan:"close_silent" default:"false"`
}

// Stall holds the keys of a time in which the embedded server answers nothing.
type Stall struct {
	At Place `def:"stall"`
	// When it begins, from the server's start of answering.
	// Example: 10s
	Start *Val[time.Duration] `plan:"at" default:"0s"`
	// How long nothing is answered.
	// Example: 2s
	For *Val[time.Duration] `plan:"for" default:"0s"`
	// After this time again; 0s for once.
	// Example: 30s
	Every *Val[time.Duration] `plan:"every" default:"0s"`
}
