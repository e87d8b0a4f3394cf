package measure

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/stats"
)

// stream is what came in parts of a request that goes on: its responses were too many for the events of one sample. Whether
// they count is known when it ends.
type partialRequest struct {
	gen  uint32
	gaps stats.Dist
	last int64 // when its latest response came, run clock
}

// streams are the requests of which parts have come, by lane and slot. The zero streams are none.
type partialRequests struct {
	open map[uint64]*partialRequest
	free []*partialRequest // to be used again: a distribution of many values is large
}

func streamKey(s *backends.Sample) uint64 { return uint64(s.Lane)<<16 | uint64(s.Slot) }

// part takes the events of a request that goes on.
func (m *partialRequests) add(s *backends.Sample) {
	if m.open == nil {
		m.open = map[uint64]*partialRequest{}
	}
	x := m.open[streamKey(s)]
	switch n := len(m.free); {
	case x == nil && n > 0:
		x, m.free = m.free[n-1], m.free[:n-1]
	case x == nil:
		x = &partialRequest{}
	}
	m.open[streamKey(s)] = x
	if x.gen != s.Gen {
		x.gen, x.last = s.Gen, 0
		x.gaps.Reset()
	}
	for i := range s.Events {
		at := s.Events[i].At
		if x.last != 0 {
			x.gaps.Add(at - x.last)
		}
		x.last = at
	}
}

// take gives what came before of a request that has ended; nil: nothing.
func (m *partialRequests) take(s *backends.Sample) *partialRequest {
	if len(m.open) == 0 {
		return nil
	}
	x := m.open[streamKey(s)]
	if x == nil || x.gen != s.Gen {
		return nil
	}
	delete(m.open, streamKey(s))
	return x
}

// done gives back what take gave.
func (m *partialRequests) recycle(x *partialRequest) {
	if x == nil {
		return
	}
	x.gen = 0
	m.free = append(m.free, x)
}
