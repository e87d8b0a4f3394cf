package drive

import "sync/atomic"

// Steps is the profile of a closed loop that grows by what comes back: it begins with some slots, and each time that every
// open one has had so many responses, some more are opened, up to the most. Each slot has one request; one that ends earlier
// has had its share. When all have ended, so has the load.
type Steps struct {
	open       atomic.Int64
	had        atomic.Int64 // slots whose request has had its share
	most, step int64
	enough     uint32
}

// NewSteps makes the profile of one play.
func NewSteps(from, most, step, responses int) *Steps {
	s := &Steps{most: int64(most), step: int64(step), enough: uint32(responses)}
	s.open.Store(int64(from))
	return s
}

// Slots implements load.Profile.
func (s *Steps) Slots(int64) int { return int(s.open.Load()) }

// another notes that one more request has had its share, and reports whether slots were opened.
func (s *Steps) another() bool {
	open := s.open.Load()
	if s.had.Add(1) < open || open >= s.most {
		return false
	}
	s.open.Store(min(open+s.step, s.most))
	return true
}

// progress looks at a request that goes on.
func (cl *closed) progress(sl *slot) {
	if sl.sample.Responses >= cl.steps.enough {
		cl.share(sl.index - sl.pool.first)
	}
}

// share notes that the request of a slot has had its share, once. Of its worker.
func (cl *closed) share(index int) {
	if cl.told[index] {
		return
	}
	cl.told[index] = true
	if cl.steps.another() {
		cl.openSlots(cl.o.Clock.Now())
	}
}
