// Package load says when to send. Pure: no clock, no goroutine, no I/O beyond the reader of a recording; same seed, same
// bytes.
//
// It is not: the player of schedules (drive), the choice of data (feed).
//
// Deterministic shapes compute the k-th due time from k; random ones add unit exponentials and map the sum to time, so
// nothing drifts however long a node runs. A schedule goes on for as long as nanoseconds last; its player ends it:
//
//	s := load.Poisson(200, load.Seed(seed, "steady", ""))
//	for due, ok := s.Next(); ok && due < int64(time.Minute); due, ok = s.Next() { … }
package load

// Schedule yields due times, ns from the start of the node, non-decreasing. It allocates nothing.
type Schedule interface {
	Next() (due int64, ok bool)
}

// Profile is how many slots are open at t (ns from the start of the node), for closed loops.
type Profile interface {
	Slots(t int64) int
}

// Level is the profile that keeps n slots open.
func Level(n int) Profile { return level(n) }

type level int

func (l level) Slots(int64) int { return int(l) }
