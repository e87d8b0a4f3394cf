package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Timed asks for the numbers of a scope in equal consecutive parts of its time: bounds with a confidence
// need them, as requests that wait for each other are worth less than independent ones.
type Timed struct {
	Scope int           // index into Breakdown.Scopes; -1: the unscoped numbers
	Rows  []*metric.Row // rows whose values are kept by part; counts and flow always are
}

// Timeline holds the complete parts of one Timed, at most stats.MaxParts, oldest first.
type Timeline struct {
	Width  int64        // of a part, ns
	Rest   *Aggregate   // what is in hold after the last whole part; nil: nothing, or unknown
	Parts  []*Aggregate // sums without distributions
	closed bool
	spans  []Span
	rows   []int            // of extracts
	values [3][]stats.Parts // by side and row
	from   int              // number of the first part in values
}

// Values returns the values of a row by part: as measured, and in the low and in the high set, which are
// nil where all is exact. It is nil unless they were asked for.
func (t *Timeline) Values(row *metric.Row) (measured, lowest, highest *stats.Table) {
	i := slices.Index(t.rows, distOf(row.Name, t.closed))
	if i < 0 || len(t.Parts) == 0 {
		return nil, nil, nil
	}
	of := func(s side) *stats.Table {
		if t.values[s+1] == nil {
			return nil
		}
		return t.values[s+1][i].Table(t.from, t.from+len(t.Parts))
	}
	return of(asMeasured), of(low), of(high)
}

// IsTimed reports whether a row can be read by parts: it has values, is a flow, or a share of requests
// that needs no distribution.
func IsTimed(row *metric.Row) bool {
	switch {
	case row.From == metric.Sample:
		return extractOf(row.Name) >= 0
	case row.From == metric.Flow:
		return true
	case row.Dim != metric.Ratio || !row.From.Counted():
		return false
	}
	return row.OfErrors() || row.Name == metric.GoodputRatio || row.Name == metric.DroppedRatio
}

// Part returns the part that contains a time, in ns since hold began, or Rest after these.
func (t *Timeline) Part(at int64) *Aggregate {
	passed, ok := t.position(at)
	switch k := int(passed/max(t.Width, 1)) - t.from; {
	case !ok || k < 0 || len(t.Parts) == 0:
		return nil
	case k < len(t.Parts):
		return t.Parts[k]
	}
	return t.Rest
}

// Seconds returns the length of all parts together, s.
func (t *Timeline) Seconds() float64 { return float64(t.Width) * float64(len(t.Parts)) / nsPerSecond }

// keepWithin drops the parts that are not within [from, to), in ns since hold began; the scope is all of
// hold.
func (t *Timeline) keepWithin(from, to int64) {
	if t.Width == 0 {
		return
	}
	n := int64(len(t.Parts))
	last := min(to/t.Width, n)
	first := min((from+t.Width-1)/t.Width, last)
	t.Parts, t.from, t.Rest = t.Parts[first:last], t.from+int(first), nil
}

// mergeShard adds the parts of another shard of the same run. Those of a hold of unknown length may be of
// another width: then there are none.
func (t *Timeline) mergeShard(o *Timeline) {
	if t.Width != o.Width || t.from != o.from || len(t.Parts) != len(o.Parts) {
		*t = Timeline{}
		return
	}
	for i, a := range o.Parts {
		t.Parts[i].mergeShard(a)
	}
	if t.Rest = cmp.Or(t.Rest, o.Rest); t.Rest != o.Rest && o.Rest != nil {
		t.Rest.mergeShard(o.Rest)
	}
	if t.values[low+1] != nil || o.values[low+1] != nil {
		t.split()
		o.split()
	}
	for set := range t.values {
		for i := range t.values[set] {
			t.values[set][i].Merge(&o.values[set][i])
		}
	}
}

// split makes the low and the high set of values, which are the measured ones so far.
func (t *Timeline) split() {
	if t.values[low+1] != nil {
		return
	}
	for _, set := range []side{low, high} {
		copied := make([]stats.Parts, len(t.rows))
		for i := range copied {
			copied[i].Merge(&t.values[asMeasured+1][i])
		}
		t.values[set+1] = copied
	}
}

// timeline collects one Timed. A part is a share of the time that its spans have together.
type timeline struct {
	Timeline
	entry    int // of the mix; -1: all
	template template
}

// firstWidth is the length of a part, ns, where that of hold is not known: it doubles as hold grows.
const firstWidth = int64(1e6)

// newTimeline returns an empty timeline of a hold of length ns, 0: unknown.
func newTimeline(t Timed, p Breakdown, template template, length int64) *timeline {
	s := &timeline{entry: -1, template: template}
	s.template.kept, s.spans = nil, p.Holds
	if t.Scope >= 0 {
		s.entry, s.spans = p.Scopes[t.Scope].Entry, p.Scopes[t.Scope].Spans
	}
	if s.spans == nil {
		s.spans = []Span{{0, math.MaxInt64}}
	}
	s.closed, s.Width = template.closed, firstWidth
	if length > 0 {
		s.Width = max((lengthOf(s.spans, length)+stats.MaxParts-1)/stats.MaxParts, 1)
	}
	for _, row := range t.Rows {
		if i := distOf(row.Name, template.closed); i >= 0 && !slices.Contains(s.rows, i) {
			s.rows = append(s.rows, i)
		}
	}
	s.values[asMeasured+1] = make([]stats.Parts, len(s.rows))
	return s
}

// position returns the time of the scope that has passed at a time since hold began, both ns; false: the
// scope does not contain it.
func (t *Timeline) position(at int64) (passed int64, ok bool) {
	for _, span := range t.spans {
		if span.contains(at) {
			return passed + at - span.From, true
		}
		passed += span.lengthBefore(at)
	}
	return passed, false
}

// partAt returns the number of the part that contains t, in ns since hold began, false if none does.
func (s *timeline) partAt(t int64) (k int, ok bool) {
	at, ok := s.position(t)
	if !ok {
		return 0, false
	}
	for at/s.Width >= stats.MaxParts {
		s.halve()
	}
	k = int(at / s.Width)
	s.extend(k + 1)
	return k, true
}

// extend makes the first n parts.
func (s *timeline) extend(n int) {
	for len(s.Parts) < n {
		s.Parts = append(s.Parts, s.template.newAggregate())
	}
}

// halve merges parts in pairs.
func (s *timeline) halve() {
	s.Width *= 2
	s.extend(len(s.Parts) + len(s.Parts)%2)
	half := s.Parts[:len(s.Parts)/2]
	for i := range half {
		a := s.Parts[2*i]
		a.Merge(s.Parts[2*i+1])
		half[i] = a
	}
	clear(s.Parts[len(half):])
	s.Parts = half
	for _, set := range s.values {
		for i := range set {
			set[i].Halve()
		}
	}
}

// fold adds a sample.
func (s *timeline) fold(x *finished) {
	if s.entry >= 0 && int(x.Entry) != s.entry {
		return
	}
	if x.due {
		if k, ok := s.partAt(x.dueAt); ok {
			s.addDue(k, x)
		}
	}
	if x.completed {
		if k, ok := s.partAt(x.endedAt); ok {
			s.Parts[k].addCompleted(x)
		}
	}
}

// addDue counts a request that was due in part k, in all sets unless it is delayed.
func (s *timeline) addDue(k int, x *finished) {
	switch {
	case !x.delay.IsZero():
		s.split()
	case s.values[low+1] != nil:
		s.addValues(k, low, x)
		s.addValues(k, high, x)
	}
	s.Parts[k].addDue(x)
	s.addValues(k, asMeasured, x)
}

// countPending counts a delayed request in the low and the high sets.
func (s *timeline) countPending(lowest, highest *finished) {
	if s.entry >= 0 && int(lowest.Entry) != s.entry {
		return
	}
	k, ok := s.partAt(lowest.dueAt)
	if !ok {
		return
	}
	s.split()
	a := s.Parts[k]
	a.split()
	a.low.count(lowest)
	a.high.count(highest)
	s.addValues(k, low, lowest)
	s.addValues(k, high, highest)
}

// addValues adds the values of a request that was due in part k to a set.
func (s *timeline) addValues(k int, set side, x *finished) {
	for j, i := range s.rows {
		to := &s.values[set+1][j]
		if i == responseGap && x.portion == ofTokens {
			continue
		}
		if i == responseGap {
			x.eachGap(func(v int64) { to.Add(k, v) })
		} else if v, ok := x.value(i); ok {
			to.Add(k, v)
		}
	}
}

// eachGap calls do for the times between the responses of x, in the set in which it is counted.
func (x *finished) eachGap(do func(v int64)) {
	if !answered(x.Sample) {
		return
	}
	d := x.gaps
	if d == nil {
		d = new(stats.Dist)
		x.gapsTo(d)
	}
	d.Map(func(v int64) int64 {
		if x.side != asMeasured {
			v = x.shift(responseGap, v)
		}
		do(v)
		return v
	})
}

// complete returns the parts that are over at end, in ns since hold began.
func (s *timeline) complete(end int64) Timeline {
	passed, _ := s.position(max(end, 0))
	// of a hold of known length the last part may be a few ns shorter, as all are of whole ns
	n := int(min((passed+stats.MaxParts)/s.Width, stats.MaxParts))
	s.extend(n)
	out := s.Timeline
	out.Parts = s.Parts[:n]
	for _, a := range out.Parts {
		a.Window = s.Width
	}
	return out
}

// finish returns the parts of a hold of length ns, which is over.
func (s *timeline) finish(length int64) Timeline {
	out := s.complete(length)
	if n := len(out.Parts); n < len(s.Parts) {
		out.Rest = s.Parts[n]
	}
	return out
}

// Timelines returns the parts of each of Config.Timed that are over and whose requests have all ended.
func (f *Folder) Timelines(start int64) (list []Timeline) {
	for _, s := range f.timelines {
		list = append(list, s.complete(f.settled-start))
	}
	return list
}
