package drive

import (
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// pipeline is the state of a sequence with several requests in flight (Sequences.PipelineDepth),
// each on its own slot. Its word holds {steps left, broken, in flight}:
//
//	by         method    when                                      word
//	pacer      claim     nothing in flight, no step left: begins   in flight 1; then left of the feed
//	pacer      claim     a step is left, sequence not broken       left-1, in flight+1
//	pacer      unclaim   the claimed step is not sent              in flight-1
//	pacer      stop      the load ends with requests in flight     broken
//	receiver   fail      a reply after which no step can follow    broken: the steps left are never sent
//	receiver   release   a step is answered                        in flight-1
//
// If no step can follow (broken, or none left), the goroutine with the last reply sends the request
// that closes the sequence before it releases it, and owns the sequence meanwhile. Sequences take
// turns, however many of their slots are idle, so that none runs ahead of the others.
type pipeline struct {
	word    atomic.Uint64
	anySent atomic.Bool // at least one request was sent
	// Result of END, for the goroutine with the last reply.
	endAnswered   bool           // the server has it
	unansweredEnd *backends.Call // it got no reply
	// Used by the pacer.
	idle   []*slot
	queued bool // in pacer.runnable
}

const (
	oneStep      = uint64(1) << 32
	brokenBit    = uint64(1) << 31
	inFlightMask = brokenBit - 1
)

// hasNext reports whether a word allows another step.
func hasNext(w uint64) bool { return w >= oneStep && w&brokenBit == 0 }

// claim takes the next step of the sequence, or the first of the next sequence. It returns false
// while the sequence before is not over.
func (q *pipeline) claim() bool {
	for {
		switch w := q.word.Load(); {
		case hasNext(w):
			if q.word.CompareAndSwap(w, w-oneStep+1) {
				return true
			}
		case w&inFlightMask > 0:
			return false
		default:
			q.word.Store(1)
			q.anySent.Store(false)
			q.endAnswered, q.unansweredEnd = false, nil
			return true
		}
	}
}

// stop lets no step follow. It returns true if nothing is in flight; the caller then closes an open
// sequence.
func (q *pipeline) stop() bool {
	for {
		w := q.word.Load()
		if w&inFlightMask == 0 {
			return true
		}
		if q.word.CompareAndSwap(w, w|brokenBit) {
			return false
		}
	}
}

// fail lets no step follow and returns the number of steps dropped, 0 if another reply failed
// before.
func (q *pipeline) fail() (dropped uint32) {
	if w := q.word.Or(brokenBit); w&brokenBit == 0 {
		return uint32(w >> 32)
	}
	return 0
}

// release takes an answered request out of flight. It returns false if it was the last and no step
// can follow; the caller then owns the sequence until reset.
func (q *pipeline) release() bool {
	for {
		w := q.word.Load()
		if !hasNext(w) && w&inFlightMask == 1 {
			return false
		}
		if q.word.CompareAndSwap(w, w-1) {
			return true
		}
	}
}

// reset lets the pacer begin the next sequence.
func (q *pipeline) reset() { q.word.Store(0) }

// nextRunnable returns an idle slot of the next sequence that can send, nil if none can. A sequence
// that only waits for replies gets its turn again with its next idle slot.
func (p *pacer) nextRunnable(idle *ring[slot]) *slot {
	for sl := idle.pop(); sl != nil; sl = idle.pop() { // gives its sequence a turn
		q := sl.seq
		if q.retired {
			continue
		}
		q.idle = append(q.idle, sl)
		if !q.queued {
			q.queued = true
			p.runnable.push(q)
		}
	}
	for q := p.runnable.pop(); q != nil; q = p.runnable.pop() {
		w := q.word.Load()
		if q.retired || !hasNext(w) && w&inFlightMask > 0 {
			q.queued = false
			continue
		}
		last := len(q.idle) - 1
		sl := q.idle[last]
		q.idle = q.idle[:last]
		if q.queued = last > 0; q.queued {
			p.runnable.push(q)
		}
		return sl
	}
	return nil
}

// popSlot returns the slot that has been idle longest, or one of the sequence that has.
func (p *pacer) popSlot(g *pool) *slot {
	if p.pipelineDepth > 1 {
		return p.nextRunnable(g.idle)
	}
	return g.idle.pop()
}

// unclaimStep makes a slot idle again on which nothing was sent.
func (p *pacer) unclaimStep(primary *slot) {
	if p.pipelineDepth > 1 {
		primary.seq.word.Add(^uint64(0))
	}
	primary.pool.idle.push(primary)
}

// finishPipelined hands off an answered request of a pipelined sequence. Called by the receiving
// goroutine.
func (op *open) finishPipelined(sl *slot) {
	q, s, id := sl.seq, sl.sample, sl.fields.Sequence
	if s.BytesSent > 0 {
		q.anySent.Store(true)
	}
	switch outcomeOf(s, &sl.fields) {
	case continues:
	case ended:
		q.endAnswered = true
	case endUnknown:
		q.unansweredEnd = sl.call
	case needsEnd, neverBegan:
		if dropped := q.fail(); s.Flags&backends.Incomplete == 0 {
			s.Dropped = dropped
		}
	}
	op.finish(sl)
	if q.release() {
		return
	}
	finish := op.src.Finish(q.number, &sl.turn)
	if q.unansweredEnd != nil {
		sl.turn.Call, sl.turn.Fields, sl.turn.Left = q.unansweredEnd,
			backends.Fields{Sequence: id, End: true}, 0
	}
	if q.anySent.Load() && !q.endAnswered && (finish || q.unansweredEnd != nil) {
		op.sendEnd(sl, &sl.turn)
	}
	q.open = false
	q.reset()
}
