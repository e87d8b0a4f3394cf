package load

// Bounded is s up to the time until, which is no longer part of it.
func Bounded(s Schedule, until int64) Schedule { return &bounded{s: s, until: until} }

type bounded struct {
	s     Schedule
	until int64
	ended bool
}

func (b *bounded) Next() (int64, bool) {
	if b.ended {
		return 0, false
	}
	due, ok := b.s.Next()
	b.ended = !ok || due >= b.until
	return due, !b.ended
}

// Limited is the first n arrivals of s.
func Limited(s Schedule, n int64) Schedule { return &limited{s: s, left: n} }

type limited struct {
	s    Schedule
	left int64
}

func (l *limited) Next() (int64, bool) {
	if l.left <= 0 {
		return 0, false
	}
	l.left--
	return l.s.Next()
}

// Sharded is the part of s that belongs to a shard. The shards of equal schedules have no arrival in common and their
// union is exactly the whole.
func Sharded(s Schedule, part Shard) Schedule {
	if part.Count <= 1 {
		return s
	}
	return &sharded{s: s, skip: part.Index, count: part.Count}
}

type sharded struct {
	s           Schedule
	skip, count int // arrivals of others before the next of ours
}

func (p *sharded) Next() (int64, bool) {
	for range p.skip {
		if due, ok := p.s.Next(); !ok {
			return due, false
		}
	}
	p.skip = p.count - 1
	return p.s.Next()
}

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

// Hash is FNV-1a over due times, eight little-endian bytes each: same seed, same hash. Start with EmptyHash.
type Hash uint64

// EmptyHash is the hash of no due times.
const EmptyHash Hash = 14695981039346656037

// Add is h with due behind it.
func (h Hash) Add(due int64) Hash {
	for range 8 {
		h = (h ^ Hash(due&0xff)) * 1099511628211
		due >>= 8
	}
	return h
}
