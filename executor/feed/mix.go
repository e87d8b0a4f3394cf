package feed

// MixEntry is one kind of request of a mix: its calls, and the pool of lanes that they go out on.
type MixEntry struct {
	Calls  *Calls
	Weight float64
	Pool   int
}

// Mix is a Source over several kinds of requests. Which one arrival n is depends on n and the seed alone.
type Mix struct{ entries []MixEntry }

// NewMix joins entries: without weights (all 0) they take turns, else they are drawn.
func NewMix(entries []MixEntry, seed uint64) *Mix { return &Mix{entries: entries} }

// Next implements Source.
func (m *Mix) Next(slot int, n uint64, t *Turn) bool {
	count := uint64(len(m.entries))
	e := &m.entries[n%count]
	t.Pool = e.Pool
	return e.Calls.Next(slot, n/count, t)
}
