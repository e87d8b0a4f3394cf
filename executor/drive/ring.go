package drive

import "sync/atomic"

// ring holds the idle slots, first in first out: every connection is used in turn, so idle ones are rare and the load
// behind a balancer is even. Many push, one pops; nothing blocks or allocates.
//
// There are never more slots than cells, so a push needs no check: pushes exceed pops by at most the number of slots,
// hence the cell that is written has been read.
type ring struct {
	cells []cell
	mask  uint64
	_     [64]byte // head and tail on lines of their own
	tail  atomic.Uint64
	_     [64]byte
	head  uint64 // of the one who pops
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

// pop is nil when no slot is idle.
func (r *ring) pop() *slot {
	c := &r.cells[r.head&r.mask]
	if c.turn.Load() != r.head+1 {
		return nil
	}
	s := c.slot
	r.head++
	return s
}

// idle is how many slots wait, for the one who pops.
func (r *ring) idle() int { return int(r.tail.Load() - r.head) }
