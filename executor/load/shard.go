package load

// Shard is part Index of Count; {0, 1} and the zero Shard are the whole. Arrival k belongs to shard
// k mod Count.
type Shard struct{ Index, Count int }

// Number returns the number in the whole of the n-th arrival of the shard.
func (s Shard) Number(n uint64) uint64 {
	if s.Count <= 1 {
		return n
	}
	return uint64(s.Index) + n*uint64(s.Count)
}

// Sharded returns the arrivals of s that belong to a shard. Shards of equal schedules are disjoint,
// and their union is the whole.
func Sharded(s Schedule, part Shard) Schedule {
	if part.Count <= 1 {
		return s
	}
	return &sharded{s: s, skip: part.Index, count: part.Count}
}

type sharded struct {
	s           Schedule
	skip, count int // arrivals of other shards before the next own one
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

// countOwn counts the shard's arrivals among the first n of the whole. The schedule must be
// unplayed.
func (p *sharded) countOwn(n int64) int64 {
	count := int64(p.count)
	return max(n-int64(p.skip)+count-1, 0) / count
}
