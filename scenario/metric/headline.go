package metric

// RequestsCount is the row that says whether anything was sent at all: without a request, no other number of a node
// means anything.
const RequestsCount = "requests.count"

// Latency is the row that holds every request that was answered well.
const Latency = "latency"

// Headline names the rows that a table of nodes shows, in this order.
func Headline() []string {
	return []string{RequestsCount, "requests.rate", "throughput", "errors.ratio", Latency}
}
