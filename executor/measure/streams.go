package measure

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/stats"
)

// partialRequest holds the parts of an unfinished request: its responses exceed the events of one
// sample. Whether they count is known when the request ends.
type partialRequest struct {
	gen  uint32
	gaps stats.Dist
	last int64 // time of its latest response, run clock
}

// partialRequests holds the unfinished requests with parts, by lane and slot. The zero value is
// empty.
type partialRequests struct {
	open map[uint64]*partialRequest
	free []*partialRequest // for reuse: a distribution of many values is large
}

func streamKey(s *backends.Sample) uint64 { return uint64(s.Lane)<<16 | uint64(s.Slot) }

// add adds the events of an unfinished request.
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
	x.last = addGaps(&x.gaps, x.last, s.Events)
}

// addGaps adds the times between responses, of which the one before events came at last (0: none).
// It returns the time of the latest.
func addGaps(d *stats.Dist, last int64, events []backends.Event) int64 {
	for i := range events {
		at := events[i].At
		if last != 0 {
			d.Add(at - last)
		}
		last = at
	}
	return last
}

// take removes and returns the parts of a request that has ended, nil if there are none.
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

// recycle returns a value of take for reuse.
func (m *partialRequests) recycle(x *partialRequest) {
	if x == nil {
		return
	}
	x.gen = 0
	m.free = append(m.free, x)
}
