package grpcraw

import (
	"runtime"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// streamSlot is one request in flight on a stream. Its word is {generation, cause, bits}; a request
// passes through the bits in this order:
//
//	bit       set by                                   means
//	live      begin (Send)                             there is a request
//	written   the sender                               the sender has finished with the sample
//	locked    receiver or Cancel, by compare-and-swap  only the locker may touch what a reply fills in
//	settled   the locker, as it unlocks                the outcome is final; later replies are ignored
//	full      receiver                                 the caller owns the events until it calls Recv again
//
// A slot is reported to Recv when both written and settled are set, by whoever sets the second of them: a
// reply may be complete before the call that sent the request has returned. A Cancel that meets a
// locked slot leaves its cause there; the locker then ends the request as cancelled.
type streamSlot struct {
	word    atomic.Uint64
	id      atomic.Uint64 // of the request; valid while it is live
	session atomic.Uint32 // number of the session that carried it; 0: not sent
	sent    atomic.Int64  // time of the Send
	active  atomic.Int64

	index    int
	results  chan<- *streamSlot // of the lane
	reported atomic.Bool        // the slot is in results

	sample *backends.Sample
	// Used by the sender.
	outgoing
	flags  backends.Flags // for the sample, which Cancel may own meanwhile
	resent bool           // its session had ended; it is sent once more
	// Used by the locker.
	errorSeen bool // an error was received on the stream; the class is set
	reads     uint32
	_         [8]byte
}

const (
	liveBit uint64 = 1 << iota
	writtenBit
	lockedBit
	settledBit
	fullBit
	causeShift = 8
	genShift   = 32
)

func slotGen(w uint64) uint32             { return uint32(w >> genShift) }
func slotCause(w uint64) backends.Cause   { return backends.Cause(w >> causeShift) }
func hasBits(w uint64, bits uint64) bool  { return w&bits == bits }
func isOpen(w uint64) bool                { return w&(liveBit|settledBit) == liveBit }
func (s *streamSlot) has(bit uint64) bool { return s.word.Load()&bit != 0 }

func (s *streamSlot) gen() uint32 { return slotGen(s.word.Load()) }

// begin puts a request into an idle slot. Called by Send.
func (s *streamSlot) begin(c *backends.Call, f backends.Fields, x *backends.Sample) {
	s.sample, s.call, s.fields, s.flags, s.resent, s.errorSeen = x, c, f, 0, false, false
	s.id.Store(f.ID)
	s.session.Store(0)
	s.sent.Store(x.SendStart)
	s.active.Store(x.SendStart)
	s.word.Store(uint64(x.Gen)<<genShift | liveBit)
}

// lock locks the slot for the request of generation gen, and sets the cause of a cancellation, if any.
// It returns false if that request is settled; or, to Cancel, if the current locker will see the cause.
// It spins while another goroutine has the lock, which takes no time.
func (s *streamSlot) lock(gen uint32, why backends.Cause) bool {
	for {
		w := s.word.Load()
		cause := uint64(why) << causeShift
		switch {
		case slotGen(w) != gen || !isOpen(w) || why != 0 && slotCause(w) != 0:
			return false
		case !hasBits(w, lockedBit):
			if s.word.CompareAndSwap(w, w|cause|lockedBit) {
				return true
			}
		case why == 0:
			runtime.Gosched()
		case s.word.CompareAndSwap(w, w|cause):
			return false
		}
	}
}

// unlock unlocks a slot whose request goes on. If a cause was set meanwhile, it returns the cause
// and the caller keeps the lock.
func (s *streamSlot) unlock() backends.Cause {
	for {
		w := s.word.Load()
		if why := slotCause(w); why != 0 {
			return why
		}
		if s.word.CompareAndSwap(w, w&^lockedBit) {
			return 0
		}
	}
}

// settle ends the request of a slot that the caller has locked.
func (s *streamSlot) settle() {
	for {
		w := s.word.Load()
		if s.word.CompareAndSwap(w, w&^lockedBit|settledBit) {
			if hasBits(w, writtenBit) {
				s.report()
			}
			return
		}
	}
}

// sendDone ends the sender's part of a request.
func (s *streamSlot) sendDone() {
	if hasBits(s.word.Or(writtenBit), settledBit) {
		s.report()
	}
}

// report lets Recv look at the slot.
func (s *streamSlot) report() {
	if !s.reported.Swap(true) {
		s.results <- s // never blocks: it has room for every slot
	}
}

// keepError stores the first error received on the stream.
func (s *streamSlot) keepError(class backends.ErrorClass, text []byte) {
	if !s.errorSeen {
		s.sample.Class, s.errorSeen = class, true
		s.sample.SetNote(text)
	}
}

// free makes the slot idle. Called by Recv.
func (s *streamSlot) free() {
	s.sample, s.call = nil, nil
	s.word.Store(s.word.Load() &^ (1<<genShift - 1))
}
