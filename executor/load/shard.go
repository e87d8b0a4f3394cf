package load

// Shard is one part of Count; {0, 1} is the whole, and so is the zero Shard. Arrival k belongs to shard k mod Count.
type Shard struct{ Index, Count int }

// Number is the number in the whole of the n-th arrival of the shard.
func (s Shard) Number(n uint64) uint64 {
	if s.Count <= 1 {
		return n
	}
	return uint64(s.Index) + n*uint64(s.Count)
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

// part is how many of the first n arrivals of the whole belong to the shard. Of a fresh one.
func (p *sharded) part(n int64) int64 {
	count := int64(p.count)
	return max(n-int64(p.skip)+count-1, 0) / count
}
