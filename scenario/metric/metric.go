// Package metric is the catalogue of everything that can be measured: one table of rows from which
// expression names, JSON fields, CSV columns, table headers, directions, help and docs are derived.
// Data only; it imports nothing of ours.
//
// It is not: code that measures, formats or judges a number.
package metric

// Dim is the dimension of a metric's values. Base units: s, 1/s, 1, ratio, bytes, W, J.
type Dim uint8

// The dimensions.
const (
	Duration Dim = iota + 1 // stored in s
	Rate                    // 1/s
	Count                   // 1
	Ratio                   // 0 … 1 (may exceed it)
	Bytes
	Power
	Energy
	Number // no dimension: quotients, scraped values
)

// From is the origin of a metric's numbers.
type From uint8

// The origins.
const (
	Sample    From = iota + 1 // a field of each finished request: a distribution
	Flow                      // sums of completions in the hold window
	Counts                    // sums over requests due in hold
	Driver                    // counts of the pacer
	Series                    // the server's statistics
	Client                    // this process
	Search                    // the search of a node for its limit
	Scrape                    // the Prometheus endpoints that the target names: a distribution
	ScrapeSum                 // one value of these endpoints: what their counters counted in hold
)

// OfRequests reports whether a metric is made of finished requests: it is known for each window,
// and may have too few samples. A metric that is read once has no samples.
func (f From) OfRequests() bool { return f == Sample || f == Flow || f == Counts }

// Counted reports whether a metric is one value that is counted here while the load is played.
func (f From) Counted() bool { return f == Flow || f == Counts || f == Driver }

// Better is the direction of improvement.
type Better uint8

// The directions.
const (
	Neither Better = iota
	Lower
	Higher
)

// Loads says which loads can produce a metric.
type Loads uint8

// The loads.
const (
	AnyLoad Loads = iota
	OpenLoop
	ClosedLoop
	// DueTimes are the loads whose requests are due at times of their own: open loops, users, and closed loops
	// with think times.
	DueTimes
)

// Row is one metric.
type Row struct {
	Name     string   // "latency", "errors.timeout.ratio", "server.queue.mean"
	Aliases  []string // perf_analyzer's and GenAI-Perf's names, for explain
	Dim      Dim
	From     From
	Better   Better
	Bound    Bound  // under a client that is late
	Some     bool   // of some requests only, which their answers tell
	Needs    string // ability of the target that it needs, in the words of backends.AbilityNames; "": none
	Loads    Loads
	Help     string
	Unit     string // of its column in stages.csv; "": the one of its dimension
	NoColumn bool   // stages.csv has no column of it
}

// IsDistribution reports whether a metric has many values, with percentiles, instead of one.
func (r *Row) IsDistribution() bool { return r.From == Sample || r.From == Scrape }

// StatKind is a statistic of a distribution.
type StatKind uint8

// The statistics of a distribution. TheValue is the only one of every other metric.
const (
	TheValue StatKind = iota
	Percentile
	Mean
	Min
	Max
	Std
	N // .count
)

// Stat is one statistic; P is the percentile, 0 < P <= 100. An adjusted percentile takes requests without a
// good answer for slower than all others.
type Stat struct {
	Kind     StatKind
	P        float64
	Adjusted bool
}

// Leaf is a row and one statistic of it: the operand of an expression.
type Leaf struct {
	Row  *Row
	Stat Stat
}

// Watchable reports whether a condition on the leaf can be decided while a node still runs: counts,
// maxima and minima move one way only, and percentiles and ratios of requests are decided once they
// cannot come back. Means, deviations and rates can always come back; statistics of other processes
// are read at the end.
func (l Leaf) Watchable() bool {
	if l.Stat.Adjusted {
		return false
	}
	switch l.Stat.Kind {
	case Percentile, Max, Min, N:
		return l.Row.From == Sample
	case TheValue:
		return l.Row.From.Counted() && (l.Row.Dim == Count || l.Row.Dim == Ratio) && l.Row.Name != Incomplete
	case Mean, Std:
	}
	return false
}
