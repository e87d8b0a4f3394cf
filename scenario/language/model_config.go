package language

import "github.com/sluice-bench/sluice/scenario/source"

// LoadModel is a model to load: its name, or a map with the configuration to load it with.
type LoadModel struct {
	At Place `def:"load_model" title:"name or map"`
	// The model. Without `config` it is loaded as the server has it.
	// Example: resnet50
	Name *Val[string] `plan:"name" form:"scalar" required:"true" is:"nonempty"`
	// Laid over the model's own configuration, which is read before and restored when the stage has ended.
	// The server must run with explicit model control.
	// Example: {instance_group: [{count: 4}], dynamic_batching: {max_queue_delay_microseconds: 500}}
	Config *ModelConfig `plan:"config"`
}

// ModelConfig holds fields of a Triton model configuration, under Triton's names. What is not written
// stays as the model has it.
type ModelConfig struct {
	At Place `def:"model_config" name:"model configuration"`
	// Most rows of a batch; 0: tensors have no batch dimension.
	// Example: 8
	MaxBatchSize *Val[int64] `plan:"max_batch_size" min:"0" max:"2147483647"`
	// Copies of the model that execute at the same time, in place of the model's own groups. A group
	// without `kind` keeps what it does not say from the model's own group at its place.
	// Example: [{count: 4}]
	InstanceGroup []*InstanceGroup `plan:"instance_group" least:"1"`
	// Whether the server joins requests to batches: false, true (as the model says it, else with Triton's
	// defaults), or how.
	// Example: {max_queue_delay_microseconds: 500}
	DynamicBatching *DynamicBatching `plan:"dynamic_batching"`
	// Whether replies are kept and given again for equal requests.
	// Example: {enable: true}
	ResponseCache *ResponseCache `plan:"response_cache"`
	// Parameters of the model's backend, laid over the model's own.
	// Example: {execute_delay_ms: "20"}
	Parameters *Dict[Val[string]] `plan:"parameters"`
	// Optimization settings as Triton has them, such as accelerators.
	// Example: {execution_accelerators: {gpu_execution_accelerator: [{name: tensorrt}]}}
	Optimization *Opaque `plan:"optimization"`
	// How requests of a sequence are scheduled, as Triton has it.
	// Example: {max_sequence_idle_microseconds: 5000000}
	SequenceBatching *Opaque `plan:"sequence_batching"`
	// Which versions of the model are loaded, as Triton has it.
	// Example: {latest: {num_versions: 1}}
	VersionPolicy *Opaque `plan:"version_policy"`
}

// InstanceGroup holds the keys of copies of a model on the same device.
type InstanceGroup struct {
	At Place `def:"instance_group"`
	// Copies; on GPUs, on each of them.
	// Example: 2
	Count *Val[int64] `plan:"count" min:"1" max:"2147483647"`
	// Where they run; without it where the model's own group does.
	// Example: KIND_GPU
	Kind *Val[string] `plan:"kind" words:"KIND_AUTO KIND_GPU KIND_CPU KIND_MODEL"`
	// The GPUs that have copies; all without it.
	// Example: [0, 1]
	GPUs []*Val[int64] `plan:"gpus" unique:"true" min:"0"`
	// What copies need of the server's rate limiter, and their turn.
	// Example: {priority: 2}
	RateLimiter *RateLimiter `plan:"rate_limiter"`
	// Optimization profiles, of TensorRT models.
	// Example: ["0"]
	Profile []*Val[string] `plan:"profile"`
	// Copies that are never given requests.
	// Example: true
	Passive *Val[bool] `plan:"passive"`
	// Name of a host policy of the server.
	// Example: policy_0
	HostPolicy *Val[string] `plan:"host_policy"`
	// Name of the group; the server makes one without it.
	// Example: fast
	Name *Val[string] `plan:"name" is:"nonempty"`
}

// RateLimiter holds the keys of Triton's rate limiter: it works where the server runs with
// --rate-limit=execution_count.
type RateLimiter struct {
	At Place `def:"rate_limiter"`
	// Resources that one execution takes.
	// Example: [{name: slots, count: 2}]
	Resources []*RateResource `plan:"resources"`
	// The larger, the less often a copy has its turn.
	// Example: 2
	Priority *Val[int64] `plan:"priority" min:"0"`
}

// RateResource holds the keys of one resource of the rate limiter.
type RateResource struct {
	At Place `def:"rate_resource"`
	// Name of the resource.
	// Example: slots
	Name *Val[string] `plan:"name" required:"true" is:"nonempty"`
	// How many of it.
	// Example: 2
	Count *Val[int64] `plan:"count" required:"true" min:"1"`
	// One for all devices, in place of one for each.
	// Example: true
	Global *Val[bool] `plan:"global"`
}

// DynamicBatching is whether the server joins requests to batches, or how.
type DynamicBatching struct {
	At Place      `def:"dynamic_batching" title:"bool or map"`
	On *Val[bool] `form:"scalar"`
	// Sizes that a batch does not wait beyond.
	// Example: [4, 8]
	PreferredBatchSize []*Val[int64] `plan:"preferred_batch_size" unique:"true" min:"1"`
	// How long a request waits for others, in microseconds.
	// Example: 500
	MaxQueueDelay *Val[int64] `plan:"max_queue_delay_microseconds" min:"0"`
	// Replies in the order of their requests.
	// Example: true
	PreserveOrdering *Val[bool] `plan:"preserve_ordering"`
	// Levels of priority; 0: requests have none.
	// Example: 2
	PriorityLevels *Val[int64] `plan:"priority_levels" min:"0"`
	// Level of requests that name none.
	// Example: 2
	DefaultPriorityLevel *Val[int64] `plan:"default_priority_level" min:"0"`
	// The queue of requests.
	// Example: {max_queue_size: 64}
	DefaultQueuePolicy *QueuePolicy `plan:"default_queue_policy"`
	// The queues of levels, by level.
	// Example: {1: {max_queue_size: 16}}
	PriorityQueuePolicy *Dict[QueuePolicy] `plan:"priority_queue_policy"`
}

// QueuePolicy holds the keys of a queue of requests.
type QueuePolicy struct {
	At Place `def:"queue_policy"`
	// What happens to a request whose time in the queue is over.
	// Example: DELAY
	TimeoutAction *Val[string] `plan:"timeout_action" words:"REJECT DELAY"`
	// Time in the queue, in microseconds; 0: without end.
	// Example: 100000
	DefaultTimeout *Val[int64] `plan:"default_timeout_microseconds" min:"0"`
	// Requests may say a shorter time.
	// Example: true
	AllowTimeoutOverride *Val[bool] `plan:"allow_timeout_override"`
	// Requests in the queue; more are refused. 0: without limit.
	// Example: 64
	MaxQueueSize *Val[int64] `plan:"max_queue_size" min:"0"`
}

// ResponseCache holds the key of the response cache.
type ResponseCache struct {
	At Place `def:"response_cache"`
	// Whether it is used.
	// Example: true
	Enable *Val[bool] `plan:"enable" required:"true"`
}

// Best says which node of a stage with several is the best.
type Best struct {
	At Place `def:"best"`
	// What is to be large: a metric, or an expression. Exactly one of max, min.
	// Example: throughput
	Max *Val[source.Text] `plan:"max" one:"best"`
	// What is to be small.
	// Example: latency.p99
	Min *Val[source.Text] `plan:"min" one:"best"`
	// What must hold on the best node. A node on which it is false, or not proven, is ranked behind the
	// others.
	// Example: [latency.p99 < 50ms, errors.ratio < 0.1%]
	Where *Conditions `plan:"where"`
}
