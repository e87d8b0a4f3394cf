package measure

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/stats"
)

// pendingRequest is a delayed request. It counts in the low and the high sets once its delay is final.
type pendingRequest struct {
	finished
	sample backends.Sample
	final  bool  // its delay is
	end    int64 // of hold, as it was known then
}

// delayOf returns the delay of a request that has ended, as far as it is known.
func (f *Folder) delayOf(s *backends.Sample, ended int64) delay.Delay {
	c := f.c.Client
	if c == nil || s.SendStart == 0 {
		return delay.Delay{}
	}
	if own, late := f.late(s); late {
		c.Late(s.SendStart, own)
	}
	if ended >= f.known { // everything that was sent late before is in the log
		f.known = ended
		c.Update(ended)
	}
	return c.Of(s.SendStart, ended, f.delaySlice, f.c.Closed)
}

// late returns the client's own send delay, and whether it makes a request late.
func (f *Folder) late(s *backends.Sample) (own int64, late bool) {
	own = s.SendStart - max(s.Due, s.Free)
	return own, f.c.Waits && s.SendStart != 0 && own > f.lateLimit()
}

// addEmpty enters the time for which a late send kept its slot empty, as a share of the open slots: in a closed
// loop what follows in the slot is due later, so that delays add up.
func (f *Folder) addEmpty(x *finished) {
	if own, late := f.late(x.Sample); late && x.due && f.c.SlotsAt != nil {
		lost := own / int64(max(f.c.SlotsAt(x.Due), 1))
		f.visit(x.dueAt, anyEntry, func(a *Aggregate) { a.Paused += lost })
	}
}

// lateLimit returns the own send delay up to which a request is on time, ns.
func (f *Folder) lateLimit() int64 {
	if f.c.Log != nil {
		return f.c.Log.Limit()
	}
	return max(delay.SendLimit, f.median/100)
}

// setService takes the median service time so far, by which slices of delays and limits grow.
func (f *Folder) setService(median int64) {
	f.median, f.delaySlice = median, delay.SliceLength(median)
	if f.c.Log != nil {
		f.c.Log.SetService(median)
	}
}

// postpone keeps a delayed request until its delay is final.
func (f *Folder) postpone(x *finished) *pendingRequest {
	p := &pendingRequest{finished: *x, sample: *x.Sample}
	p.sample.Text, p.sample.Note, p.sample.Events = nil, nil, p.sample.Events[:0]
	p.Sample, p.partial = &p.sample, nil
	if answered(x.Sample) {
		p.gaps = new(stats.Dist)
		x.gapsTo(p.gaps)
	}
	f.pending = append(f.pending, p)
	return p
}

// oldestPending returns the first due time of a delayed request, math.MaxInt64 if there is none.
func (f *Folder) oldestPending() int64 {
	due := int64(math.MaxInt64)
	for _, p := range f.pending {
		due = min(due, p.Due)
	}
	return due
}

// release counts the delayed requests whose delay is final at now.
func (f *Folder) release(now, start, end int64) {
	f.pending = slices.DeleteFunc(f.pending, func(p *pendingRequest) bool {
		p.delay = f.c.Client.Of(p.SendStart, p.ended, f.delaySlice, f.c.Closed)
		_, latest := p.delay.Due(p.ended - p.Due)
		if now < delay.Settles(p.SendStart, f.delaySlice) || now < p.Due+latest {
			return false
		}
		p.final, p.end = true, end
		f.countPending(p, start, end)
		return true
	})
}

// countPending counts a delayed request in the low and the high sets.
func (f *Folder) countPending(p *pendingRequest, start, end int64) {
	lowest, highest := p.finished, p.finished
	lowest.side, highest.side = low, high
	early, late := p.delay.Due(p.ended - p.Due)
	highest.mayTimeOut = p.Class == backends.OK && f.c.Timeout > 0 && late > f.c.Timeout
	// fewer are good if all take as long as they can
	lowest.good = f.bounds != nil && good(f.bounds, &highest)
	highest.good = f.bounds != nil && (p.excused() || good(f.bounds, &lowest))
	if p.due {
		f.visit(p.dueAt, int(p.Entry), func(a *Aggregate) {
			a.split()
			a.low.count(&lowest)
			a.high.count(&highest)
		})
		for _, t := range f.timelines {
			t.countPending(&lowest, &highest)
		}
	}
	first, last := f.holding(p.Due+early, start, end, p.Entry), f.holding(p.Due+late, start, end, p.Entry)
	either := slices.Concat(first, last)
	if p.completed {
		either = append(either, f.holding(p.ended, start, end, p.Entry)...)
	}
	for i, a := range either {
		if slices.Contains(either[:i], a) {
			continue
		}
		a.split()
		a.high.countFlow(&highest)
		if slices.Contains(first, a) && slices.Contains(last, a) {
			a.low.countFlow(&lowest)
		}
	}
}

// holding returns the sums of all parts of hold that contain a time on the run clock.
func (f *Folder) holding(t, start, end int64, entry uint16) (list []*Aggregate) {
	if t >= start && t < end {
		f.visit(t-start, int(entry), func(a *Aggregate) { list = append(list, a) })
	}
	return list
}

// visit calls do for the sums of each part of hold that contains t, in ns since hold began, for
// requests of an entry of the mix, or of anyEntry.
func (f *Folder) visit(t int64, entry int, do func(*Aggregate)) {
	do(f.aggregateAt(t))
	if f.scopes != nil {
		for _, k := range f.scopes.pieceAt(t).of(entry) {
			do(f.scopes.scopes[k])
		}
	}
	for _, s := range f.series {
		if s.entry >= 0 && entry != s.entry && entry != anyEntry {
			continue
		}
		if a := s.windowAt(t); a != nil {
			do(a)
		}
	}
	if f.steady != nil {
		f.steady.visit(t, entry, do)
	}
	if f.windows == nil {
		return
	}
	if w := f.windows.windowAt(f.slices.start + t); w != nil {
		do(w.Due)
		for _, k := range f.windows.scopes.of(entry) {
			do(w.Scopes[k])
		}
	}
}

// finishPauses enters how long the client stood still in each part of hold, and the sets that follow
// from that in a closed loop.
func (f *Folder) finishPauses(t *Total) {
	if f.c.Client == nil {
		return
	}
	paused := func(a *Aggregate, spans ...Span) {
		for _, s := range spans {
			_, within := f.c.Client.Paused(t.From+s.From, min(t.From+s.To, t.To))
			a.Paused += within
		}
		if a.Closed && a.Paused > 0 {
			a.split()
		}
	}
	whole := []Span{{0, t.To - t.From}}
	spansOf := func(list []Span) []Span {
		if list == nil {
			return whole
		}
		return list
	}
	paused(t.Aggregate, spansOf(f.c.Holds)...)
	for i, s := range f.c.Scopes {
		if !s.Steady { // which knows them
			paused(t.Scopes[i], spansOf(s.Spans)...)
		}
	}
	for _, s := range t.Series {
		for _, w := range s.Windows {
			paused(w.Aggregate, Span{w.From, w.To})
		}
	}
	if f.windows == nil {
		return
	}
	for _, w := range f.windows.list {
		for _, a := range append([]*Aggregate{w.Due}, w.Scopes...) {
			paused(a, Span{w.From - t.From, min(w.To, t.To) - t.From})
		}
	}
}
