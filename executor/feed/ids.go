package feed

import "sync/atomic"

// IDs hands out sequence ids: each value of a range in turn, again from its beginning after the last,
// and never one that is in use. Stages that name the same range share one, so that their
// sequences have different ids, one after the other or side by side. Nothing here locks.
//
// An id in use marks one cell. With fewer cells than ids, those of a whole number of rounds
// apart share a cell, and one whose cell is taken is skipped.
type IDs struct {
	from, size uint64
	next       atomic.Uint64 // ids that were tried
	cells      []atomic.Bool
}

// mostCells limits the cells: over four times the sequences that a stage may have at a time.
const mostCells = 1 << 18

// NewIDs returns the ids from … to, both included. Of shards, number part (from 0) has a share of the
// range to itself; shards 0: the whole range.
func NewIDs(from, to uint64, part, shards int) *IDs {
	size := to - from + 1
	if shards > 1 {
		n, i := uint64(shards), uint64(part)
		first, end := size/n*i+min(i, size%n), size/n*(i+1)+min(i+1, size%n)
		from, size = from+first, end-first
	}
	return &IDs{from: from, size: size, cells: make([]atomic.Bool, min(size, mostCells))}
}

// Take returns an id that is not in use; ok is false if all seem to be. The caller must not play more
// sequences at a time than there are ids.
func (s *IDs) Take() (id uint64, ok bool) {
	const rounds = 64 // others take at the same time, so one round may miss the only one that is free
	for range rounds * len(s.cells) {
		at := (s.next.Add(1) - 1) % s.size
		if s.cells[at%uint64(len(s.cells))].CompareAndSwap(false, true) {
			return s.from + at, true
		}
	}
	return 0, false
}

// Undo returns an id that was taken for no sequence of the load. If it may be the next again (the server
// is done with it), and none was taken since, it will be.
func (s *IDs) Undo(id uint64, again bool) {
	s.Give(id)
	next := s.next.Load()
	if again && next > 0 && (next-1)%s.size == id-s.from {
		s.next.CompareAndSwap(next, next-1)
	}
}

// Give returns an id.
func (s *IDs) Give(id uint64) { s.cells[(id-s.from)%uint64(len(s.cells))].Store(false) }
