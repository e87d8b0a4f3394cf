package drive

import "sync/atomic"

// ring holds the idle slots, first in, first out: every connection is used in turn, so idle ones
// are rare and the load behind a balancer is even. Many goroutines push, one pops; nothing blocks
// or allocates.
//
// There are never more slots than cells, so a push needs no check: pushes exceed pops by at most
// the number of slots, hence the cell that is written has been read.
type ring struct {
	cells []cell
	mask  uint64
	_     [64]byte // head and tail on their own cache lines
	tail  atomic.Uint64
	_     [64]byte
	head  uint64 // used by the popping goroutine
}

// cell holds the slot pushed as number turn-1.
type cell struct {
	turn atomic.Uint64
	slot *slot
}

func newRing(slots int) *ring {
	size := 1
	for size < slots {
		size *= 2
	}
	return &ring{cells: make([]cell, size), mask: uint64(size - 1)}
}

func (r *ring) push(s *slot) {
	at := r.tail.Add(1) - 1
	c := &r.cells[at&r.mask]
	c.slot = s
	c.turn.Store(at + 1)
}

// pop returns nil if no slot is idle.
func (r *ring) pop() *slot {
	c := &r.cells[r.head&r.mask]
	if c.turn.Load() != r.head+1 {
		return nil
	}
	s := c.slot
	r.head++
	return s
}

// length counts the idle slots. Called by the popping goroutine.
func (r *ring) length() int { return int(r.tail.Load() - r.head) }
