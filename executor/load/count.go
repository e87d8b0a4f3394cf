package load

// Count is how many arrivals of a fresh s are due at or after from and before until. It is computed for constant
// rates; any other schedule is played and used up, 10 ns an arrival.
func Count(s Schedule, from, until int64) int64 {
	if until <= from {
		return 0
	}
	if c, ok := s.(*constant); ok {
		return c.before(until) - c.before(from)
	}
	var n int64
	for due, ok := s.Next(); ok && due < until; due, ok = s.Next() {
		if due >= from {
			n++
		}
	}
	return n
}
