package feed

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
)

// SequenceEntry is one kind of sequence: its requests, and the pool of lanes that they go out on.
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
	// Sessions: the earliest due times of the turns that follow, ns since the start of the node, by row of
	// a call; 0: none. nil: no turn has one.
	Next []int64
	// Continue makes a call of the turn before, as it was sent, of the next one, and of the reply; nil:
	// turns are sent as they are.
	Continue func(prev, next *backends.Call, reply *backends.Sample) (*backends.Call, error)
}

// SequenceOptions describe the sequences of a stage.
type SequenceOptions struct {
	// Kinds of a mix, or one. The kind of a sequence is drawn or taken in turn, as with Mix.
	Entries []SequenceEntry
	Length  *scenario.Dist // requests of a sequence; nil: as many as its stream has
	IDs     *IDs
	Slots   int // sequences at the same time at most
	Seed    uint64
	IDBase  uint64 // request ids are IDBase | n
	// Budget limits the requests of all sequences together, 0: any number. One request of each open
	// sequence is kept back for its END: when nothing else is left the sequences are cut, and exactly
	// this number of requests is sent.
	Budget int64
	// Sessions: the sequences are conversations, without ids of the server's. With KeepText, samples keep
	// the replies that they hold.
	Sessions, KeepText bool
	// KeepCalls: calls that Follow made are kept for Sent.
	KeepCalls bool
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
//
// Of a session nothing is left to be sent: Finish only forgets the rest. Follow makes the next step of the
// reply to the one before.
type Sequences struct {
	o      SequenceOptions
	kinds  []sequenceKind
	choice *Mix
	begun  atomic.Uint64
	budget atomic.Int64 // the rest of it
	slots  []sequence
	broken atomic.Pointer[string] // why a session could not go on, of the first such
	sent   sync.Map               // calls that Follow made, by the id of their request; of KeepCalls
}

// sequenceKind is a SequenceEntry with the calls of its streams.
type sequenceKind struct {
	SequenceEntry
	streams [][]*backends.Call
}

// sequence is the state of a slot. The padding keeps neighbours on different cache lines.
type sequence struct {
	steps  []*backends.Call
	at     uint64 // step that is next
	left   uint32 // steps to come; 0: over
	first  bool
	pool   int
	delays []int64
	id     uint64 // held until the next one begins: its last request may be on its way
	held   bool
	session
	_ [40]byte
}

// session is what a slot that plays a session has besides.
type session struct {
	kind *sequenceKind
	sent *backends.Call // the turn that was sent last
	next *backends.Call // the one that follows it, made by Follow; nil: as it is in the data
	text []byte         // buffer for replies
	made bool           // sent was made by Follow
}

// NewSequences returns the source. With Once, streams are played in their order, each once.
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
	k := sequenceKind{SequenceEntry: e}
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
		shuffle(k.streams, seed, 0)
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
	q.left--
	cut := q.left > 0 && !s.take()
	if cut {
		q.left = 0 // with what was kept back for it
	}
	t.Call, t.Pool, t.Left = q.steps[q.at], q.pool, q.left
	if q.delays != nil {
		t.Think = q.delays[t.Call.Row]
	}
	t.Fields = backends.Fields{ID: s.o.IDBase | n, Sequence: q.id, Start: q.first, End: q.left == 0}
	if s.o.Sessions {
		t.Cut = cut
		if q.turn(t); s.o.KeepCalls && q.made {
			s.sent.Store(t.Fields.ID, t.Call)
		}
	}
	q.first = false
	if q.at++; q.at == uint64(len(q.steps)) {
		q.at = 0
	}
	return true
}

// turn completes a turn of the slot's session.
func (q *sequence) turn(t *Turn) {
	if q.made = q.next != nil && !q.first; q.made {
		t.Call = q.next
	}
	q.sent, q.next = t.Call, nil
	t.NextDue, t.Text = 0, nil
	if t.Fields.End {
		return
	}
	if q.kind.Next != nil {
		t.NextDue = q.kind.Next[t.Call.Row]
	}
	if t.Call.KeepAnswer {
		t.Text, q.text = q.text, nil
	}
}

// Follow takes the reply to the latest turn of a slot's session and makes the next one. It returns false if
// that cannot be made.
func (s *Sequences) Follow(slot int, reply *backends.Sample) bool {
	q := &s.slots[slot]
	if q.left == 0 || q.kind.Continue == nil {
		return true
	}
	next, err := q.kind.Continue(q.sent, q.steps[q.at], reply)
	if !s.o.KeepText {
		q.text, reply.Text = reply.Text[:0], nil
	}
	if err != nil {
		text := err.Error()
		s.broken.CompareAndSwap(nil, &text)
		return false
	}
	q.next = next
	return true
}

// Sent returns the call that Follow made for the request with an id, once; nil: it was as in the data.
func (s *Sequences) Sent(id uint64) *backends.Call {
	call, _ := s.sent.LoadAndDelete(id)
	made, _ := call.(*backends.Call)
	return made
}

// Broken returns why a session could not go on although its turn was answered, "" if all could.
func (s *Sequences) Broken() string {
	if text := s.broken.Load(); text != nil {
		return *text
	}
	return ""
}

// Finish implements Source.
func (s *Sequences) Finish(slot int, t *Turn) bool {
	q := &s.slots[slot]
	if q.left == 0 {
		return false
	}
	if s.o.Sessions {
		s.budget.Add(1) // what was kept back for the next turn
		q.left = 0
		return false
	}
	t.Call, t.Pool, t.Left = q.steps[q.at], q.pool, 0
	t.Fields = backends.Fields{Sequence: q.id, End: true}
	s.budget.Add(1)
	q.left = 0
	return true
}

// begin begins the slot's next sequence; false: there is none.
func (s *Sequences) begin(q *sequence) bool {
	k := s.begun.Add(1) - 1
	if s.o.Parts > 1 {
		k = k*uint64(s.o.Parts) + uint64(s.o.Part)
	}
	entry, rank := s.choice.choose(k)
	kind := &s.kinds[entry]
	streams := uint64(len(kind.streams))
	if streams == 0 || kind.Once && rank >= streams {
		return false
	}
	at := rank % streams
	if kind.Order == Random {
		at = mix(s.o.Seed+rank) % streams
	}
	q.steps, q.at, q.first, q.pool, q.delays = kind.streams[at], 0, true, kind.Pool, kind.Delays
	q.kind = kind
	if kind.Varied && kind.Streams == nil {
		q.at = mix(s.o.Seed^^rank) % uint64(len(q.steps))
	}
	if s.o.Sessions {
		q.id = k + 1
	} else if !s.name(q) {
		return false
	}
	q.left = s.steps(q, k)
	return true
}

// take takes a request from the budget; false: it is used up.
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

// steps returns the number of requests of sequence k.
func (s *Sequences) steps(q *sequence, k uint64) uint32 {
	if s.o.Length == nil {
		return uint32(len(q.steps))
	}
	v := math.Round(quantile(s.o.Length, unit(mix(mix(s.o.Seed)+k))))
	return uint32(min(max(v, 1), longestSequence))
}

// longestSequence limits the requests of a sequence.
const longestSequence = math.MaxUint32

// name gives the slot an id of its own; false: there is none.
func (s *Sequences) name(q *sequence) bool {
	if q.held {
		s.o.IDs.Give(q.id)
	}
	q.id, q.held = s.o.IDs.Take()
	return q.held
}

// Close returns the ids of all slots, after the last request was sent.
func (s *Sequences) Close() {
	for i := range s.slots {
		q := &s.slots[i]
		if q.held {
			s.o.IDs.Give(q.id)
		}
		*q = sequence{}
	}
}
