package stats

// Dist is a mergeable distribution of int64 values.
type Dist struct{}
