// Package load computes when requests are due. It is pure: no clock, no goroutine, no I/O except
// the reader of a recording; the same seed gives the same bytes. Schedules are played by drive;
// what is sent is chosen by feed.
//
// Deterministic shapes compute the k-th due time from k; random ones add unit exponentials and map
// the sum to time, so nothing drifts however long a node runs. A schedule does not end before its
// int64 of nanoseconds does; its player ends it:
//
//	s := load.Poisson(200, load.Seed(seed, "steady", ""))
//	for due, ok := s.Next(); ok && due < int64(time.Minute); due, ok = s.Next() { … }
package load

// Schedule yields due times in ns from the start of the node, non-decreasing. Next does not
// allocate.
type Schedule interface {
	Next() (due int64, ok bool)
}

// Profile returns the number of slots of a closed loop that are open at t, in ns from the start of
// the node.
type Profile interface {
	Slots(t int64) int
}

// Level is the profile with a constant number of slots.
func Level(n int) Profile { return level(n) }

type level int

func (l level) Slots(int64) int { return int(l) }

// Sequences describes how requests that form sequences are played. A slot plays one sequence at a
// time, on one lane, with one request in flight, so that a server receives the steps in order on
// every transport. Only with PipelineDepth above 1 is a sequence played by several slots, on a lane
// that keeps the order of requests. See package drive for the rules.
type Sequences struct {
	// WarmCountsSequences and LimitCountsSequences say that WarmCount and Limit count sequences
	// that begin, not requests.
	WarmCountsSequences, LimitCountsSequences bool
	// ArrivalBegins, of an open loop: each arrival begins a sequence, which then goes on by itself.
	// Otherwise an arrival is a step.
	ArrivalBegins bool
	// PipelineDepth, of an open loop without ArrivalBegins, is the number of requests of a sequence
	// that may be in flight; 0 means 1. It is 1 if the lanes of a pool have less room.
	PipelineDepth int
	// Sessions: the requests are turns of conversations. The server keeps nothing that would have to be
	// closed, and with ArrivalBegins a turn waits as its Turn says (in a closed loop all requests do).
	Sessions bool
}

// Hash is the FNV-1a hash of due times, eight little-endian bytes each: same seed, same hash. Start
// with EmptyHash.
type Hash uint64

// EmptyHash is the hash of no due times.
const EmptyHash Hash = 14695981039346656037

// Add returns the hash of the due times of h followed by due.
func (h Hash) Add(due int64) Hash {
	for range 8 {
		h = (h ^ Hash(due&0xff)) * 1099511628211
		due >>= 8
	}
	return h
}
