package load

// counter is an unplayed schedule that counts its arrivals due before t without playing.
type counter interface {
	countBefore(t int64) int64
}

// countBefore counts the arrivals of an unplayed s due before t; ok is false if s must be played
// for that.
func countBefore(s Schedule, t int64) (n int64, ok bool) {
	switch s := s.(type) {
	case counter:
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
