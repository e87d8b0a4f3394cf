package load

// counter is a schedule that knows how many of its arrivals are due before a time. It must be fresh.
type counter interface {
	before(t int64) int64
}

// before is how many arrivals of a fresh s are due before t, where that is known without playing it.
func before(s Schedule, t int64) (n int64, ok bool) {
	switch s := s.(type) {
	case counter:
		return s.before(t), true
	case *limited:
		n, ok = before(s.s, t)
		return min(n, max(s.left, 0)), ok
	case *sharded:
		n, ok = before(s.s, t)
		return s.part(n), ok
	case *joined:
		n, ok = before(s.first, min(t, s.at))
		if t > s.at && ok {
			var more int64
			more, ok = before(s.second, t-s.at)
			n += more
		}
		return n, ok
	}
	return 0, false
}

// Count is how many arrivals of a fresh s are due at or after from and before until. It is computed where no chance is in
// play; any other schedule is played and used up, some 10 ns an arrival.
func Count(s Schedule, from, until int64) int64 {
	if until <= from {
		return 0
	}
	if n, ok := before(s, until); ok {
		early, _ := before(s, from)
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
