package feed

import (
	"cmp"
	"math"
	"slices"
)

// MixEntry is one kind of request of a mix: its calls, and the pool of lanes that they go out on.
type MixEntry struct {
	Calls  *Calls
	Weight float64
	Pool   int
}

// Mix is a Source over several kinds of requests. Which one arrival n is, and which of its calls,
// depends on n and the seed alone: the calls of an entry come in their own order, as if it were
// alone.
type Mix struct {
	entries []MixEntry
	drawn   *drawn // nil: in turn
}

// NewMix joins entries: without weights (all 0) they take turns, else they are drawn.
func NewMix(entries []MixEntry, seed uint64) *Mix {
	weights := make([]float64, len(entries))
	for i, e := range entries {
		weights[i] = e.Weight
	}
	return &Mix{entries: entries, drawn: newDrawn(weights, seed)}
}

// Next implements Source. The end of one entry's calls is the end of all.
func (m *Mix) Next(slot int, n uint64, t *Turn) bool {
	entry, rank := m.choose(n)
	e := &m.entries[entry]
	t.Pool = e.Pool
	ok := e.Calls.Next(slot, rank, t)
	t.Fields.ID = e.Calls.idBase | n
	return ok
}

// choose returns the entry of number n, and counts the numbers before n with the same one.
func (m *Mix) choose(n uint64) (entry, rank uint64) {
	if m.drawn != nil {
		return m.drawn.at(n)
	}
	count := uint64(len(m.entries))
	return n % count, n / count
}

// Entry returns the index of arrival n's entry.
func (m *Mix) Entry(n uint64) int {
	entry, _ := m.choose(n)
	return int(entry)
}

// Finish implements Source.
func (*Mix) Finish(int, *Turn) bool { return false }

// drawn is a weighted choice for every number, with the count of equal choices before, both without
// state. A block of choices in which every entry has its exact share is shuffled once; the blocks
// that follow are the same one, begun elsewhere.
type drawn struct {
	cells []choice
	// marks[i][e] counts e among the first i·markEvery cells; the last one counts the whole block.
	marks [][]uint32
	seed  uint64
}

// choice is one cell: an entry, and the number of cells before it with the same one.
type choice struct {
	entry uint32
	rank  uint32
}

const (
	blockSize = 1 << 16
	markEvery = 1 << 8
)

// newDrawn returns nil if no entry has a weight.
func newDrawn(weights []float64, seed uint64) *drawn {
	counts := shares(weights)
	if counts == nil {
		return nil
	}
	d := &drawn{seed: seed, cells: make([]choice, 0, blockSize)}
	for e, n := range counts {
		for range n {
			d.cells = append(d.cells, choice{entry: uint32(e)})
		}
	}
	shuffle(d.cells, seed, uint64(len(weights)))
	before := make([]uint32, len(weights)) // cells of each entry before the one that is marked
	for i := range d.cells {
		if i%markEvery == 0 {
			d.marks = append(d.marks, slices.Clone(before))
		}
		c := &d.cells[i]
		c.rank = before[c.entry]
		before[c.entry]++
	}
	d.marks = append(d.marks, before)
	return d
}

// shares divides a block among the weights: by the largest remainders, and one at least to every
// weight that is not 0.
func shares(weights []float64) []int {
	sum := 0.0
	for _, w := range weights {
		sum += max(w, 0)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil
	}
	counts, rests, left := make([]int, len(weights)), make([]float64, len(weights)), blockSize
	for i, w := range weights {
		if w <= 0 {
			rests[i] = -1
			continue
		}
		exact := w / sum * blockSize
		counts[i] = max(int(exact), 1)
		rests[i] = exact - float64(counts[i])
		left -= counts[i]
	}
	for ; left > 0; left-- {
		best := largest(rests)
		counts[best]++
		rests[best]--
	}
	for ; left < 0; left++ { // the ones given to tiny weights come from the largest
		counts[largest(counts)]--
	}
	return counts
}

func largest[T cmp.Ordered](v []T) int { return slices.Index(v, slices.Max(v)) }

// at returns the entry of number n, and counts the numbers before n with the same one.
func (d *drawn) at(n uint64) (entry, rank uint64) {
	size := uint64(len(d.cells))
	block, within := n/size, n%size
	mark := mix(d.seed^block) % (size / markEvery) // where the block begins
	if block == 0 {
		mark = 0
	}
	at := mark*markEvery + within
	c := d.cells[at%size]
	all := uint64(d.marks[len(d.marks)-1][c.entry])
	rank = block*all + uint64(c.rank) - uint64(d.marks[mark][c.entry])
	if at >= size {
		rank += all
	}
	return uint64(c.entry), rank
}
