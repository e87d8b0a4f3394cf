package executor

// Codes of the diagnostics that compiling and preparing report; source.Codes says what they mean.
const (
	codeCycle       = "needs-cycle"
	codeBackend     = "unknown-backend"
	codeScheme      = "scheme"
	codeBeyond      = "beyond-this-machine"
	codeTarget      = "bad-target"
	codeKeyUnread   = "key-not-read"
	codeNoURL       = "missing-key"
	codeEndpoint    = "not-allowed"
	codeCatalogue   = "metric-clash"
	codeConnections = "too-few-connections"
	codeDuplicate   = "duplicate-level"
	codeMetric      = "stability-metric"
	codeGoodput     = "goodput-bound"
	codeBaseline    = "bad-baseline"
	codeAllHolds    = "all-holds"
	codeFewSamples  = "few-samples"
	codeNeverFull   = "never-reached-concurrency"
	codeRequest     = "request"
	codeBinary      = "no-binary-tensors"
	codeNotBuilt    = "not-built-yet"
)
