package metric

// Names of the rows that code outside this package reads or judges by. All other code finds rows in
// a loop over the catalogue.
const (
	Latency         = "latency" // of requests that were answered well
	ServiceTime     = "service_time"
	FirstResponse   = "first_response"
	SendDelayClient = "send_delay.client"
	RequestsCount   = "requests.count" // without a request, no other number of a node means anything
	RequestsRate    = "requests.rate"
	Throughput      = "throughput"
	OfferedRate     = "offered.rate"
	CancelledByUs   = "cancelled.by_us"
	DroppedCount    = "dropped.count"
	DroppedRatio    = "dropped.ratio"
	InFlightMax     = "in_flight.max"
	Incomplete      = "incomplete.count"
	ErrorsCount     = "errors.count"
	ErrorsRatio     = "errors.ratio"
	ServerRequests  = "server.requests.count" // finished with success, where the server keeps statistics
	ClientCPU       = "client.cpu"
	ClientPerSent   = "client.cpu_per_request"
	// ClientTurnaround is measured in closed loops whose server runs in the client's process.
	ClientTurnaround  = "client.turnaround"
	ClientMemory      = "client.memory"
	GPUUtilization    = "gpu.utilization"
	GPUPower          = "gpu.power"
	GPUMemory         = "gpu.memory"
	GPUEnergy         = "gpu.energy"
	GPUEnergyPerToken = "gpu.energy_per_token"
	EngineKVCache     = "engine.kv_cache"
	EngineRunning     = "engine.running"
	EngineWaiting     = "engine.waiting"
	EngineCachedShare = "engine.cached.share"
	EnginePreemptions = "engine.preemptions"
	Capacity          = "capacity" // see CapacityRow
	Best              = "best"     // see BestRow
	Goodput           = "goodput"  // see GoodputRows
	GoodputRatio      = "goodput.ratio"
	CoalescedRatio    = "coalesced.ratio"
	TokensPerUser     = "tokens.per_user"
	Interactivity     = "interactivity"
	NTPOT             = "ntpot"
	TTFT              = "ttft"
	TTFTAnswer        = "ttft_answer"
	TTST              = "ttst"
	LatencyContent    = "latency_content"
	ITL               = "itl"
	TokensInput       = "tokens.input"
	TokensOutputRate  = "tokens.output.rate"
	TokensCachedShare = "tokens.cached.share"
	TokensOutput      = "tokens.output"
)

// ErrorsOf returns the name of the row that counts the failures of one class.
func ErrorsOf(class string) string { return "errors." + class + ".count" }

// Headline names the rows of a table of nodes, in this order.
func Headline() []string {
	return []string{RequestsCount, RequestsRate, Throughput, ErrorsRatio, Latency}
}
