package feed

import (
	"math"
	"math/rand/v2"
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

// choose is the entry of number n, and how many of the numbers before it have the same one.
func (m *Mix) choose(n uint64) (entry, rank uint64) {
	if m.drawn != nil {
		return m.drawn.at(n)
	}
	count := uint64(len(m.entries))
	return n % count, n / count
}

// Entry is which of the entries arrival n is.
func (m *Mix) Entry(n uint64) int {
	entry, _ := m.choose(n)
	return int(entry)
}

// Finish implements Source.
func (*Mix) Finish(int, *Turn) bool { return false }

// drawn is a weighted choice for every number, and how often it was chosen before, both without
// state. A block of choices in which every entry has its exact share is shuffled once; the blocks
// that follow are the same one, begun elsewhere.
type drawn struct {
	cells []choice
	// marks[i][e] is how many of the first i·markEvery cells are e; the last one is of the whole block.
	marks [][]uint32
	seed  uint64
}

// choice is one cell: an entry, and how many cells before it are the same.
type choice struct {
	entry uint32
	rank  uint32
}

const (
	blockSize = 1 << 16
	markEvery = 1 << 8
)

// newDrawn is nil where no entry has a weight.
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
	rng := rand.New(rand.NewPCG(seed, uint64(len(weights))))
	rng.Shuffle(len(d.cells), func(i, j int) { d.cells[i], d.cells[j] = d.cells[j], d.cells[i] })
	so := make([]uint32, len(weights))
	for i := range d.cells {
		if i%markEvery == 0 {
			d.marks = append(d.marks, append([]uint32(nil), so...))
		}
		c := &d.cells[i]
		c.rank = so[c.entry]
		so[c.entry]++
	}
	d.marks = append(d.marks, so)
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
		most := 0
		for i, n := range counts {
			if n > counts[most] {
				most = i
			}
		}
		counts[most]--
	}
	return counts
}

func largest(v []float64) (at int) {
	for i, x := range v {
		if x > v[at] {
			at = i
		}
	}
	return at
}

// at is the entry of number n, and how many of the numbers before it have the same one.
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
