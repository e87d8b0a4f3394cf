package grpcraw

import (
	"context"
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
