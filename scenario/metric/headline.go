package metric

// RequestsCount is the row that says whether anything was sent at all: without a request, no other number of a node
// means anything.
const RequestsCount = "requests.count"

// Headline names the rows that a table of nodes shows, in this order.
func Headline() []string {
	return []string{RequestsCount, "requests.rate", "throughput", "errors.ratio", "latency"}
}
