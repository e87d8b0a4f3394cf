// Package load says when to send. Pure: no clock, no goroutine, no I/O; same seed, same bytes.
//
// It is not: the player of schedules (drive), the choice of data (feed).
//
// Deterministic shapes compute the k-th due time from k; random ones add unit exponentials and map the sum to time, so
// nothing drifts however long a node runs. A schedule is endless unless it is wrapped by Bounded or Limited:
//
//	s := load.Bounded(load.Poisson(200, load.Seed(seed, "steady", "")), int64(time.Minute))
//	for due, ok := s.Next(); ok; due, ok = s.Next() { … }
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

// Shard is one part of Count; {0, 1} is the whole, and so is the zero Shard. Arrival k belongs to shard k mod Count.
type Shard struct{ Index, Count int }

// Number is the number in the whole of the n-th arrival of the shard.
func (s Shard) Number(n uint64) uint64 {
	if s.Count <= 1 {
		return n
	}
	return uint64(s.Index) + n*uint64(s.Count)
}
