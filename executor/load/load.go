// Package load says when to send. Pure: no clock, no goroutine, no I/O; same seed, same bytes.
//
// It is not: the player of schedules (drive), the choice of data (feed).
package load

// Schedule yields due times, ns from the start of the node, non-decreasing. It allocates nothing.
type Schedule interface {
	Next() (due int64, ok bool)
}

// Profile is how many slots are open at t (ns from the start of the node), for closed loops.
type Profile interface {
	Slots(t int64) int
}

// Shard is one part of Count; {0, 1} is the whole. Arrival k belongs to shard k mod Count.
type Shard struct{ Index, Count int }
