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
// A slot is reported when both written and settled are set, by whoever sets the second of them: a
// reply may be complete before the call that sent the request has returned. A Cancel that meets a
// locked slot leaves its cause there; the locker then ends the request as cancelled.
type streamSlot struct {
	word    atomic.Uint64
	id      atomic.Uint64 // of the request; valid while it is live
	session atomic.Uint32 // number of the session that carried it; 0: not sent
	sent    atomic.Int64  // time of the Send
	active  atomic.Int64

	sample *backends.Sample
	// Used by the sender.
	outgoing
	flags  backends.Flags // for the sample, which Cancel may own meanwhile
	resent bool           // its session had ended; it is sent once more
	// Used by the locker.
	errorSeen bool // an error was received on the stream; the class is set
	reads     uint32
	_         [32]byte
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
func (s *streamSlot) has(bit uint64) bool { return s.word.Load()&bit != 0 }

// begin puts a request into an idle slot. Called by Send.
func (s *streamSlot) begin(c *backends.Call, f backends.Fields, x *backends.Sample) {
	s.sample, s.call, s.fields, s.flags, s.resent, s.errorSeen = x, c, f, 0, false, false
	s.id.Store(f.ID)
	s.session.Store(0)
	s.sent.Store(x.SendStart)
	s.active.Store(x.SendStart)
	s.word.Store(uint64(x.Gen)<<genShift | liveBit)
}

// lock locks the slot for the request of generation gen. It returns false if that request is
// settled. It spins while another goroutine has the lock, which takes no time.
func (s *streamSlot) lock(gen uint32) bool {
	for {
		w := s.word.Load()
		switch {
		case slotGen(w) != gen || !hasBits(w, liveBit) || hasBits(w, settledBit):
			return false
		case hasBits(w, lockedBit):
			runtime.Gosched()
		case s.word.CompareAndSwap(w, w|lockedBit):
			return true
		}
	}
}

// lockForCancel locks the slot of generation gen for a cancellation. If it returns false and the
// request goes on, the current locker cancels it.
func (s *streamSlot) lockForCancel(gen uint32, why backends.Cause) bool {
	for {
		w := s.word.Load()
		switch {
		case slotGen(w) != gen || !hasBits(w, liveBit) || hasBits(w, settledBit) || slotCause(w) != 0:
			return false
		case hasBits(w, lockedBit):
			if s.word.CompareAndSwap(w, w|uint64(why)<<causeShift) {
				return false
			}
		case s.word.CompareAndSwap(w, w|uint64(why)<<causeShift|lockedBit):
			return true
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

// settle ends the request. It reports whether the slot has to be reported.
func (s *streamSlot) settle() bool {
	for {
		w := s.word.Load()
		if s.word.CompareAndSwap(w, w&^lockedBit|settledBit) {
			return hasBits(w, writtenBit)
		}
	}
}

// sendDone ends the sender's part. It reports whether the slot has to be reported.
func (s *streamSlot) sendDone() bool { return hasBits(s.word.Or(writtenBit), settledBit) }

// clearFull takes the events back from the caller.
func (s *streamSlot) clearFull() { s.word.And(^fullBit) }

// free makes the slot idle. Called by Recv.
func (s *streamSlot) free() {
	s.sample, s.call = nil, nil
	s.word.Store(s.word.Load() &^ (1<<genShift - 1))
}
