package feed

import (
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
)

// SequenceEntry is one kind of sequence: what its requests are and where they go.
type SequenceEntry struct {
	Calls []*backends.Call
	// Streams are the sequences of the data, each the indexes of its steps in Calls; nil: the data
	// has none, and every sequence goes through all calls.
	Streams [][]int
	Order   Order
	Once    bool    // every stream is played once
	Varied  bool    // without streams: each sequence begins at another call, else at the first
	Delays  []int64 // pauses after the replies, ns, by row of a call, as Built has them; nil: none
	Weight  float64
	Pool    int
}

// SequenceOptions are what sequences are made of.
type SequenceOptions struct {
	// Kinds of a mix, or one: which one a sequence is, is drawn or takes turns as with Mix
	Entries []SequenceEntry
	Length  *scenario.Dist // requests of a sequence; nil: as many as its stream has
	IDs     *IDs
	Slots   int // sequences at the same time at most
	Seed    uint64
	IDBase  uint64 // request ids are IDBase | n
	// Budget is how many requests all sequences have together, 0: any number. Of each that is open
	// one is kept back for its END: where nothing else is left they are cut, and exactly so many
	// requests are sent.
	Budget int64
	// Part of Parts: of all sequences of the stage this source plays Part, Part+Parts, … (Parts 0: all).
	Part, Parts int
}

// Sequences is a Source of requests that belong together: on each slot one sequence after the
// other. What the k-th sequence is (its kind, stream, length) depends on k and the seed alone;
// which slot begins it is a matter of who is first.
//
//	state of a slot  Next                                   Finish
//	over             begins a sequence: START, and END      false
//	                 too where it has one request
//	open             the next step; END with the last       END on the step that would be next; over
type Sequences struct {
	o      SequenceOptions
	kinds  []sequenceKind
	choice *Mix
	begun  atomic.Uint64
	budget atomic.Int64 // what is left of it
	slots  []sequence
}

// sequenceKind is a SequenceEntry made ready.
type sequenceKind struct {
	streams [][]*backends.Call
	order   Order
	once    bool
	varied  bool
	delays  []int64
	pool    int
}

// sequence is what a slot is in the middle of. The padding keeps neighbours apart.
type sequence struct {
	steps  []*backends.Call
	at     uint64 // step that is next
	left   uint32 // steps to come; 0: over
	first  bool
	pool   int
	delays []int64
	id     uint64 // held until the next one begins: its last request may be on its way
	held   bool
	_      [40]byte
}

// NewSequences makes the source. With Once, streams are played in their order and then nothing more
// is begun.
func NewSequences(o SequenceOptions) *Sequences {
	s := &Sequences{o: o, slots: make([]sequence, o.Slots)}
	s.budget.Store(o.Budget)
	var entries []MixEntry
	for _, e := range o.Entries {
		s.kinds = append(s.kinds, newKind(e, o.Seed))
		entries = append(entries, MixEntry{Weight: e.Weight})
	}
	s.choice = NewMix(entries, o.Seed)
	return s
}

func newKind(e SequenceEntry, seed uint64) sequenceKind {
	k := sequenceKind{
		order: e.Order, once: e.Once, delays: e.Delays, pool: e.Pool, varied: e.Varied && e.Streams == nil,
	}
	for _, steps := range e.Streams {
		stream := make([]*backends.Call, len(steps))
		for i, at := range steps {
			stream[i] = e.Calls[at]
		}
		k.streams = append(k.streams, stream)
	}
	if e.Streams == nil {
		k.streams = [][]*backends.Call{e.Calls}
	}
	if e.Order == Shuffle {
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(len(k.streams), func(i, j int) { k.streams[i], k.streams[j] = k.streams[j], k.streams[i] })
	}
	return k
}

// Next implements Source. False: no more sequence is begun.
func (s *Sequences) Next(slot int, n uint64, t *Turn) bool {
	q := &s.slots[slot]
	if q.left == 0 {
		if !s.take() {
			return false
		}
		if !s.begin(q) {
			s.budget.Add(1)
			return false
		}
	}
	if q.left--; q.left > 0 && !s.take() {
		q.left = 0 // with what was kept back for it
	}
	t.Call, t.Pool, t.Left = q.steps[q.at], q.pool, q.left
	if q.delays != nil {
		t.Think = q.delays[t.Call.Row]
	}
	t.Fields = backends.Fields{ID: s.o.IDBase | n, Sequence: q.id, Start: q.first, End: q.left == 0}
	q.first = false
	if q.at++; q.at == uint64(len(q.steps)) {
		q.at = 0
	}
	return true
}

// Finish implements Source.
func (s *Sequences) Finish(slot int, t *Turn) bool {
	q := &s.slots[slot]
	if q.left == 0 {
		return false
	}
	t.Call, t.Pool, t.Left = q.steps[q.at], q.pool, 0
	t.Fields = backends.Fields{Sequence: q.id, End: true}
	s.budget.Add(1)
	q.left = 0
	return true
}

// begin makes the slot's next sequence.
func (s *Sequences) begin(q *sequence) bool {
	k := s.begun.Add(1) - 1
	if s.o.Parts > 1 {
		k = k*uint64(s.o.Parts) + uint64(s.o.Part)
	}
	entry, rank := s.choice.choose(k)
	kind := &s.kinds[entry]
	streams := uint64(len(kind.streams))
	if streams == 0 || kind.once && rank >= streams {
		return false
	}
	at := rank % streams
	if kind.order == Random {
		at = mix(s.o.Seed+rank) % streams
	}
	q.steps, q.at, q.first, q.pool, q.delays = kind.streams[at], 0, true, kind.pool, kind.delays
	if kind.varied {
		q.at = mix(s.o.Seed^^rank) % uint64(len(q.steps))
	}
	if !s.name(q) {
		return false
	}
	q.left = s.steps(q, k)
	return true
}

// take takes a request from the budget. False: nothing is left of it.
func (s *Sequences) take() bool {
	for s.o.Budget > 0 {
		left := s.budget.Load()
		if left <= 0 {
			return false
		}
		if s.budget.CompareAndSwap(left, left-1) {
			break
		}
	}
	return true
}

// steps is how many requests sequence k has.
func (s *Sequences) steps(q *sequence, k uint64) uint32 {
	if s.o.Length == nil {
		return uint32(len(q.steps))
	}
	v := math.Round(quantile(s.o.Length, unit(mix(mix(s.o.Seed)+k))))
	return uint32(min(max(v, 1), longestSequence))
}

// longestSequence is how many requests a sequence may have.
const longestSequence = math.MaxUint32

// name gives the slot an id of its own. False: there is none.
func (s *Sequences) name(q *sequence) bool {
	if q.held {
		s.o.IDs.Give(q.id)
	}
	q.id, q.held = s.o.IDs.Take()
	return q.held
}

// Close gives the ids of all slots back. Nothing is sent any more.
func (s *Sequences) Close() {
	for i := range s.slots {
		q := &s.slots[i]
		if q.held {
			s.o.IDs.Give(q.id)
		}
		*q = sequence{}
	}
}
