package drive

import "sync/atomic"

// ring is a queue that many goroutines push to and one pops from; nothing blocks or allocates. As a
// queue of idle slots it uses every connection in turn, so the load behind a balancer is even.
//
// There are never more values than cells, so a push needs no check: pushes exceed pops by at most
// the number of values, hence the cell that is written has been read.
type ring[T any] struct {
	cells []cell[T]
	mask  uint64
	_     [64]byte // head and tail on their own cache lines
	tail  atomic.Uint64
	_     [64]byte
	head  uint64 // used by the popping goroutine
}

// cell holds the value pushed as number turn-1.
type cell[T any] struct {
	turn  atomic.Uint64
	value *T
}

func newRing[T any](values int) *ring[T] {
	size := 1
	for size < values {
		size *= 2
	}
	return &ring[T]{cells: make([]cell[T], size), mask: uint64(size - 1)}
}

func (r *ring[T]) push(v *T) {
	at := r.tail.Add(1) - 1
	c := &r.cells[at&r.mask]
	c.value = v
	c.turn.Store(at + 1)
}

// pop returns nil if the ring is empty.
func (r *ring[T]) pop() *T {
	c := &r.cells[r.head&r.mask]
	if c.turn.Load() != r.head+1 {
		return nil
	}
	v := c.value
	r.head++
	return v
}

// length is called by the popping goroutine.
func (r *ring[T]) length() int { return int(r.tail.Load() - r.head) }
