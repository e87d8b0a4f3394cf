package load

import (
	"math"
	"sort"
)

// computed is a schedule whose arrival k is due at a time that k alone decides; due returns false
// for those after the last.
type computed struct {
	due func(k int64) (int64, bool)
	k   int64
}

func (c *computed) Next() (int64, bool) {
	due, ok := c.due(c.k)
	if ok {
		c.k++
	}
	return due, ok
}

// countBefore counts all arrivals due before t.
func (c *computed) countBefore(t int64) int64 {
	return int64(sort.Search(math.MaxInt64, func(k int) bool {
		due, ok := c.due(int64(k))
		return !ok || due >= t
	}))
}

// countBefore counts the arrivals of an unplayed s due before t; ok is false if s must be played
// for that.
func countBefore(s Schedule, t int64) (n int64, ok bool) {
	switch s := s.(type) {
	case *computed:
		return s.countBefore(t), true
	case *limited:
		n, ok = countBefore(s.s, t)
		return min(n, max(s.left, 0)), ok
	case *sharded:
		n, ok = countBefore(s.s, t)
		return s.countOwn(n), ok
	case *joined:
		n, ok = countBefore(s.first, min(t, s.at))
		if t > s.at && ok {
			var more int64
			more, ok = countBefore(s.second, t-s.at)
			n += more
		}
		return n, ok
	}
	return 0, false
}

// Count counts the arrivals of an unplayed s that are due in [from, until). It is computed for
// deterministic schedules; a random one is played and used up, at about 10 ns an arrival.
func Count(s Schedule, from, until int64) int64 {
	if until <= from {
		return 0
	}
	if n, ok := countBefore(s, until); ok {
		early, _ := countBefore(s, from)
		return n - early
	}
	var n int64
	for due, ok := s.Next(); ok && due < until; due, ok = s.Next() {
		if due >= from {
			n++
		}
	}
	return n
}
