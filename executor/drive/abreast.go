package drive

import (
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// abreast is the state of a sequence that has several requests in flight (Sequences.AtOnce), each on a slot of its own. Its
// word is {steps left, broken, in flight}:
//
//	who        does                                                  word
//	pacer      begin   nothing is in flight, and nothing follows     in flight 1; then left, as the feed says
//	pacer      claim   a step is left, and the sequence not broken   left-1, in flight+1
//	pacer      quit    what was claimed is not sent: the end         in flight-1
//	pacer      stop    the end, and something is in flight           broken
//	receiver   fail    an answer after which no step can follow      broken: what is left is never sent
//	receiver   leave   a step is answered                            in flight-1
//
// Whoever leaves last a sequence that nothing follows in (broken, or none left) first sends what closes it, and has it alone
// meanwhile. Sequences take turns, whatever slots they have idle, so that none runs ahead of the others.
type abreast struct {
	word    atomic.Uint64
	reached atomic.Bool // something of it was sent
	// For the last to leave, from the one who received the answer to END.
	ended bool           // the server has it
	doubt *backends.Call // nothing came back of it
	// Of the pacer.
	idle   []*slot
	listed bool // it is among those that have a turn
}

const (
	oneLeft    = uint64(1) << 32
	brokenBit  = uint64(1) << 31
	flightMask = brokenBit - 1
)

// follows reports whether a word says that a step can follow.
func follows(w uint64) bool { return w >= oneLeft && w&brokenBit == 0 }

// claim makes one more request the sequence's, or the first of the next one. False: the one before is not over.
func (q *abreast) claim() bool {
	for {
		switch w := q.word.Load(); {
		case follows(w):
			if q.word.CompareAndSwap(w, w-oneLeft+1) {
				return true
			}
		case w&flightMask > 0:
			return false
		default:
			q.word.Store(1)
			q.reached.Store(false)
			q.ended, q.doubt = false, nil
			return true
		}
	}
}

// stop lets no step follow. True: nothing is in flight, and what is open is the caller's to close.
func (q *abreast) stop() bool {
	for {
		w := q.word.Load()
		if w&flightMask == 0 {
			return true
		}
		if q.word.CompareAndSwap(w, w|brokenBit) {
			return false
		}
	}
}

// fail lets no step follow, and gives how many there were to come; 0 if another did so before.
func (q *abreast) fail() (dropped uint32) {
	if w := q.word.Or(brokenBit); w&brokenBit == 0 {
		return uint32(w >> 32)
	}
	return 0
}

// leave takes an answered request out of flight. False: it was the last, and nothing follows; the sequence is then the
// caller's until over.
func (q *abreast) leave() bool {
	for {
		w := q.word.Load()
		if !follows(w) && w&flightMask == 1 {
			return false
		}
		if q.word.CompareAndSwap(w, w-1) {
			return true
		}
	}
}

// over lets the pacer begin the next sequence.
func (q *abreast) over() { q.word.Store(0) }

// turns are the sequences that have an idle slot and may be able to send, in the order in which they come to do so. Of the
// pacer.
type turns struct {
	list  []*sequence // a ring
	first int
	count int
}

func (t *turns) push(q *sequence) {
	t.list[(t.first+t.count)%len(t.list)] = q
	t.count++
}

func (t *turns) pop() *sequence {
	if t.count == 0 {
		return nil
	}
	q := t.list[t.first]
	t.first = (t.first + 1) % len(t.list)
	t.count--
	return q
}

// gather takes the slots that have become idle to their sequences, and lets these have their turn.
func (p *pacer) gather(idle *ring) {
	for sl := idle.pop(); sl != nil; sl = idle.pop() {
		q := sl.live
		if q.retired {
			continue
		}
		q.idle = append(q.idle, sl)
		if !q.listed {
			q.listed = true
			p.turns.push(q)
		}
	}
}

// nextTurn is an idle slot of the sequence whose turn it is; nil: none can send. One that waits for its end has its turn again
// when the last of its slots is idle.
func (p *pacer) nextTurn(idle *ring) *slot {
	p.gather(idle)
	for q := p.turns.pop(); q != nil; q = p.turns.pop() {
		w := q.word.Load()
		if q.retired || !follows(w) && w&flightMask > 0 {
			q.listed = false
			continue
		}
		last := len(q.idle) - 1
		sl := q.idle[last]
		q.idle = q.idle[:last]
		if q.listed = last > 0; q.listed {
			p.turns.push(q)
		}
		return sl
	}
	return nil
}

// pop is the slot that has been idle longest, or one of the sequence that has.
func (p *pacer) pop(g *pool) *slot {
	if p.atOnce > 1 {
		return p.nextTurn(g.idle)
	}
	return g.idle.pop()
}

// joins claims a request of the sequence of an idle slot. False: it cannot be used after all.
func (p *pacer) joins(home *slot) bool {
	if p.atOnce == 1 || home.live.claim() {
		return true
	}
	home.live.idle = append(home.live.idle, home)
	return false
}

// quits makes a slot idle again on which nothing was sent.
func (p *pacer) quits(home *slot) {
	if p.atOnce > 1 {
		home.live.word.Add(^uint64(0))
	}
	home.pool.idle.push(home)
}

// leaves hands off an answered request of a sequence that may have others in flight. Of the goroutine that received it.
func (op *open) leaves(sl *slot) {
	q, s, id := sl.live, sl.sample, sl.fields.Sequence
	if s.BytesSent > 0 {
		q.reached.Store(true)
	}
	switch fateOf(s, &sl.fields) {
	case goesOn:
	case over:
		q.ended = true
	case doubtful:
		q.doubt = sl.call
	case broken, unbegun:
		if dropped := q.fail(); s.Class.Failed() {
			s.Dropped = dropped
		}
	}
	op.finish(sl)
	if q.leave() {
		return
	}
	finish := op.src.Finish(q.number, &sl.turn)
	if q.doubt != nil {
		sl.turn.Call, sl.turn.Fields, sl.turn.Left = q.doubt, backends.Fields{Sequence: id, End: true}, 0
	}
	if q.reached.Load() && !q.ended && (finish || q.doubt != nil) {
		op.end(sl, &sl.turn)
	}
	q.open = false
	q.over()
}
