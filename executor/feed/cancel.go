package feed

import (
	"math"
	"sync/atomic"
)

// CancelShare says which share of an entry's requests the client closes, and how long after their send, ns. The
// zero CancelShare closes none.
type CancelShare struct {
	Ratio float64
	After int64
}

// Cancel returns src with Turn.CancelAfter for a share of the requests of each entry, by the seed. Of the first
// n requests of an entry the share is exact to less than one request.
func Cancel(src Source, shares []CancelShare, seed uint64) Source {
	return &cancelling{
		Source: src, shares: shares, seed: mix(seed ^ 0x63616e63656c), counts: make([]atomic.Uint64, len(shares)),
	}
}

type cancelling struct {
	Source
	shares []CancelShare
	counts []atomic.Uint64 // requests of each entry so far
	seed   uint64
}

// Uncancelled returns the Source that Cancel was given, or src itself.
func Uncancelled(src Source) Source {
	if c, is := src.(*cancelling); is {
		return c.Source
	}
	return src
}

// Next implements Source.
func (s *cancelling) Next(slot int, n uint64, t *Turn) bool {
	ok := s.Source.Next(slot, n, t)
	if t.CancelAfter = 0; !ok {
		return false
	}
	entry := t.Call.Entry
	share := &s.shares[entry]
	if share.Ratio > 0 && share.picks(s.counts[entry].Add(1)-1, s.seed+uint64(entry)<<32) {
		t.CancelAfter = max(share.After, 1)
	}
	return true
}

// picks reports whether request k of an entry is closed: one of each 1/Ratio requests, drawn among them.
func (c *CancelShare) picks(k, seed uint64) bool {
	first := func(cell uint64) uint64 { return uint64(math.Ceil(float64(cell)/c.Ratio - 1e-9)) }
	cell := uint64(float64(k) * c.Ratio)
	for first(cell) > k {
		cell--
	}
	for first(cell+1) <= k {
		cell++
	}
	from, to := first(cell), first(cell+1)
	return k == from+mix(seed+cell)%(to-from)
}
