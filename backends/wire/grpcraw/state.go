package grpcraw

import (
	"context"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
)

// flight is the state of a lane's single slot, a word of {generation, state}:
//
//	state       next         by
//	idle        inFlight     begin (Send)
//	inFlight    idle         end (Recv): the transport finished first
//	inFlight    cancelling   cancel (any goroutine): the generation matches
//	cancelling  cancelled    the same caller, once the context is cancelled
//	cancelled   idle         end (Recv)
//
// end waits while the state is cancelling, a few instructions long, so that a cancellation never
// reaches the context of a later request. Whoever changes the word owns cause and cancelCtx.
type flight struct {
	word      atomic.Uint64
	cause     backends.Cause
	cancelCtx context.CancelFunc // cancels the context of the request
}

const (
	idle uint64 = iota
	inFlight
	cancelling
	cancelled
	stateBits = 2
)

func (f *flight) begin(gen uint32) { f.word.Store(uint64(gen)<<stateBits | inFlight) }

func (f *flight) isIdle() bool { return f.word.Load()&(1<<stateBits-1) == idle }

// gen returns the generation of the last begin.
func (f *flight) gen() uint32 { return uint32(f.word.Load() >> stateBits) }

func (f *flight) cancel(gen uint32, why backends.Cause) {
	at := uint64(gen) << stateBits
	if !f.word.CompareAndSwap(at|inFlight, at|cancelling) {
		return
	}
	f.cause = why
	f.cancelCtx()
	f.word.Store(at | cancelled)
}

// end makes the slot idle and returns the cause of a cancellation, 0 if there was none.
func (f *flight) end() backends.Cause {
	for {
		w := f.word.Load()
		gen := w &^ (1<<stateBits - 1) // with the state idle, which is 0
		switch w & (1<<stateBits - 1) {
		case inFlight:
			if f.word.CompareAndSwap(w, gen) {
				return 0
			}
		case cancelled:
			why := f.cause
			f.word.Store(gen)
			return why
		default:
			runtime.Gosched()
		}
	}
}

// handover signals to Recv that a Send has finished, if the two are on different goroutines. On one
// goroutine it costs two atomic operations.
type handover struct {
	state atomic.Int32
	wake  chan struct{} // capacity 1
}

const (
	nothing int32 = iota
	sent
	parked
)

func (h *handover) put() {
	if h.state.Swap(sent) == parked {
		h.wake <- struct{}{}
	}
}

// take waits for a put. It returns false if over was closed and no Send is under way.
func (h *handover) take(over <-chan struct{}, idle func() bool) bool {
	for {
		if h.state.CompareAndSwap(sent, nothing) {
			return true
		}
		if !h.state.CompareAndSwap(nothing, parked) {
			continue
		}
		select {
		case <-h.wake:
			continue
		case <-over:
		}
		if !idle() { // a Send has begun and will put
			<-h.wake
			continue
		}
		if h.state.CompareAndSwap(parked, nothing) {
			return false
		}
		<-h.wake
	}
}

// results holds what Recv of a lane with several slots has to return.
type results struct {
	handover
	ready  []atomic.Uint64 // a bit for each slot
	strays atomic.Int64    // replies without a request
}

// report lets Recv return a slot.
func (r *results) report(slot int) {
	r.ready[slot/64].Or(1 << (slot % 64))
	r.put()
}

// reportStray lets Recv return a reply without a request.
func (r *results) reportStray() {
	r.strays.Add(1)
	r.put()
}

// takeSlot removes and returns a reported slot, or backends.None.
func (r *results) takeSlot() int {
	for i := range r.ready {
		if w := r.ready[i].Load(); w != 0 {
			bit := bits.TrailingZeros64(w)
			r.ready[i].And(^(uint64(1) << bit))
			return 64*i + bit
		}
	}
	return backends.None
}

// takeStray removes a reply without a request, if there is one.
func (r *results) takeStray() bool {
	if r.strays.Load() == 0 {
		return false
	}
	r.strays.Add(-1)
	return true
}

// empty reports whether no slot is reported.
func (r *results) empty() bool {
	for i := range r.ready {
		if r.ready[i].Load() != 0 {
			return false
		}
	}
	return true
}

// idRing holds the last ids that were added.
type idRing struct {
	mu   sync.Mutex
	ids  []uint64
	next int
}

func (r *idRing) add(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[r.next] = id
	r.next = (r.next + 1) % len(r.ids)
}

func (r *idRing) has(id uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.ids, id)
}
