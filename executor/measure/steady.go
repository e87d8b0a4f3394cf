package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/stats"
)

// steadyShare is the share of the most requests in flight from which a part of hold is steady.
const steadyShare = 0.9

// A steady span is at least 1/leastSteady of hold, and steadyTimes as long as a request takes in the mean. The
// peak is the largest of many parts: where the load varies by itself, as with random arrivals, a shorter span is
// the part with the most arrivals by chance, and its rate is far above that of hold.
const (
	leastSteady = 4
	steadyTimes = 3
)

// steadiness finds the steady span of hold: the longest one that has at least 90 % of the peak in flight. Hold
// is kept in equal parts, at most stats.MaxParts, with sums of their own and the mean number of requests that
// were in flight; so numerator and denominator of every metric are those of one span.
type steadiness struct {
	scopes []int       // indexes of Breakdown.Scopes that are steady
	parts  []*timeline // by scope
	load   inFlight
	hold   int64         // its length, ns; 0: it is not over
	start  int64         // of hold, run clock
	client *delay.Client // nil: without pauses
}

// newSteadiness returns nil if no scope is steady. length is that of hold as far as it is known before, ns.
func newSteadiness(p Breakdown, template template, length int64) *steadiness {
	var s *steadiness
	for i, scope := range p.Scopes {
		if !scope.Steady {
			continue
		}
		if s == nil {
			s = &steadiness{load: inFlight{width: firstWidth}}
		}
		whole := Breakdown{Scopes: []Scope{{Entry: scope.Entry}}}
		t := newTimeline(Timed{Scope: 0}, whole, template, length)
		t.template.kept = template.kept
		s.load.width = t.Width
		s.scopes, s.parts = append(s.scopes, i), append(s.parts, t)
	}
	return s
}

// fold adds a request.
func (s *steadiness) fold(x *finished) {
	for _, t := range s.parts {
		t.fold(x)
	}
}

// visit calls do for the sums of each scope that contain t, in ns since hold began, for requests of an entry of
// the mix.
func (s *steadiness) visit(t int64, entry int, do func(*Aggregate)) {
	for _, part := range s.parts {
		if part.entry >= 0 && entry != part.entry && entry != anyEntry {
			continue
		}
		if k, ok := part.partAt(t); ok {
			do(part.Parts[k])
		}
	}
}

// setSteady finds the steady span within a part of hold and enters its sums.
func (t *Total) setSteady(within Span) {
	s := t.steady
	if s == nil {
		return
	}
	width := s.widest()
	s.widen(width)
	whole := Span{(within.From + width - 1) / width, within.To / width}
	if s.hold-within.To < width { // of a hold of known length the last part may be a few ns shorter
		whole.To = (s.hold + stats.MaxParts) / width
	}
	found := longest(s.load.means(), whole)
	t.Steady = Span{found.From * width, min(found.To*width, s.hold)}
	if t.NotSteady = s.tooShort(t.Steady, within); t.NotSteady != "" {
		found, t.Steady = Span{}, Span{}
	}
	for i, part := range s.parts {
		a := part.template.newAggregate()
		for k := found.From; k < found.To; k++ {
			part.extend(int(k) + 1)
			a.Merge(part.Parts[k])
		}
		a.Window = t.Steady.To - t.Steady.From
		if s.client != nil {
			_, within := s.client.Paused(s.start+t.Steady.From, s.start+t.Steady.To)
			a.Paused += within
		}
		if a.Closed && a.Paused > 0 {
			a.split()
		}
		t.Scopes[s.scopes[i]] = a
	}
}

// tooShort returns why a span within a part of hold is no steady one, "" if it is.
func (s *steadiness) tooShort(found, within Span) string {
	length, whole := found.To-found.From, within.To-within.From
	request := s.load.request()
	about := func(ns int64) time.Duration { return time.Duration(ns).Round(max(time.Duration(ns)/1000, 1)) }
	switch {
	case length == 0:
		return "no request was in flight in hold"
	case length*leastSteady < whole:
		return fmt.Sprintf("the longest span with at least 90 %% of the most requests in flight has %v of %v of hold, "+
			"less than a quarter: the load varies; leave `steady` out, or use a closed loop or a ramp with a longer hold",
			about(length), about(whole))
	case length < steadyTimes*request:
		return fmt.Sprintf("the longest span with at least 90 %% of the most requests in flight has %v, "+
			"and a request takes %v in the mean: measure until it has %d times that", about(length), about(request),
			steadyTimes)
	}
	return ""
}

// widest returns the width of the widest parts.
func (s *steadiness) widest() int64 {
	width := s.load.width
	for _, part := range s.parts {
		width = max(width, part.Width)
	}
	return width
}

// widen makes parts of a width that is the current one doubled some times.
func (s *steadiness) widen(width int64) {
	s.load.widen(width)
	for _, part := range s.parts {
		for part.Width < width {
			part.halve()
		}
	}
}

// mergeShard adds another shard of the same run.
func (s *steadiness) mergeShard(o *steadiness) {
	width := max(s.widest(), o.widest())
	s.widen(width)
	o.widen(width)
	s.load.merge(&o.load)
	for i, part := range s.parts {
		part.extend(len(o.parts[i].Parts))
		for k, a := range o.parts[i].Parts {
			part.Parts[k].mergeShard(a)
		}
	}
	s.hold = max(s.hold, o.hold)
}

// longest returns the longest span of parts within a range that have at least steadyShare of the most in
// flight; of two of a length the first.
func longest(means []float64, within Span) (best Span) {
	within.To = min(within.To, int64(len(means)))
	if within.From >= within.To {
		return Span{}
	}
	least := steadyShare * slices.Max(means[within.From:within.To])
	if least == 0 {
		return Span{}
	}
	from := within.From
	for k := within.From; k <= within.To; k++ {
		if k < within.To && means[k] >= least {
			continue
		}
		if k-from > best.To-best.From {
			best = Span{from, k}
		}
		from = k + 1
	}
	return best
}

// inFlight counts the requests in flight in equal parts of hold.
type inFlight struct {
	width int64
	count int64   // of requests
	area  []int64 // by part: ns of requests in flight, without those of level
	level []int64 // by part: by how many more requests are in flight from its start to its end than before it
}

// add counts a request that was in flight from a to b, in ns since hold began; a may lie before it.
func (f *inFlight) add(a, b int64) {
	if a = max(a, 0); b <= a {
		return
	}
	f.count++
	for (b-1)/f.width >= stats.MaxParts {
		f.widen(2 * f.width)
	}
	first, last := a/f.width, (b-1)/f.width
	f.extend(int(last) + 1)
	if first == last {
		f.area[first] += b - a
		return
	}
	f.area[first] += (first+1)*f.width - a
	f.level[first+1]++
	f.level[last]--
	f.area[last] += b - last*f.width
}

// extend makes the first n parts.
func (f *inFlight) extend(n int) {
	for len(f.area) < n {
		f.area, f.level = append(f.area, 0), append(f.level, 0)
	}
}

// widen makes parts of a width that is the current one doubled some times.
func (f *inFlight) widen(width int64) {
	for f.width < width {
		half := make([]int64, (len(f.area)+1)/2)
		for k, area := range f.areas() {
			half[k/2] += area
		}
		f.width, f.area, f.level = 2*f.width, half, make([]int64, len(half))
	}
}

// areas returns the time of requests in flight by part, ns.
func (f *inFlight) areas() (list []int64) {
	var level int64
	for k, area := range f.area {
		level += f.level[k]
		list = append(list, area+level*f.width)
	}
	return list
}

// request returns the mean time that a request was in flight in hold, ns.
func (f *inFlight) request() (mean int64) {
	for _, area := range f.areas() {
		mean += area / max(f.count, 1)
	}
	return mean
}

// merge adds the requests of another shard, in parts of the same width.
func (f *inFlight) merge(o *inFlight) {
	f.extend(len(o.area))
	f.count += o.count
	for k := range o.area {
		f.area[k] += o.area[k]
		f.level[k] += o.level[k]
	}
}

// means returns the mean number of requests in flight by part.
func (f *inFlight) means() (list []float64) {
	for _, area := range f.areas() {
		list = append(list, float64(area)/float64(f.width))
	}
	return list
}
