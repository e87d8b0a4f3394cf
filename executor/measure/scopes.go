package measure

import (
	"cmp"
	"math"
	"slices"
)

// Span is a part of the hold window, in ns since hold began. To math.MaxInt64 means the end of
// hold.
type Span struct{ From, To int64 }

func (s Span) contains(t int64) bool { return t >= s.From && t < s.To }

// lengthBefore returns the length of the part of s before end.
func (s Span) lengthBefore(end int64) int64 { return max(min(s.To, end)-s.From, 0) }

// Scope is a part of a node's requests with numbers of its own: those due in a phase of a ramp,
// those of one entry of a mix, or both. Its rates count the completions within its spans, over
// their length.
type Scope struct {
	Phase string
	Spans []Span // ascending and disjoint; nil: all of hold
	Entry int    // Sample.Entry; -1: all
	// Steady says that the scope is the steady span of hold, which is found when hold is over.
	Steady bool
}

// Breakdown lists what is measured besides the whole hold window. The zero Breakdown adds nothing.
type Breakdown struct {
	// Holds are the spans that count in the unscoped numbers, ascending; nil: all of hold. The
	// ramps between them count only in scopes.
	Holds []Span
	// Scopes are reported in Total.Scopes, in this order.
	Scopes []Scope
	// Every lists the windows for assertions, reported in Total.Series in this order.
	Every []Every
	// Timed lists what is kept in equal parts of its time, reported in Total.Timelines in this order.
	Timed []Timed
	// Goodput lists the conditions of a good request; nil: none is good.
	Goodput []Bound
}

// scopeSums are the aggregates of a node's scopes. Hold is cut into pieces within which a request
// counts in the same scopes.
type scopeSums struct {
	scopes    []*Aggregate
	pieces    []piece
	lastPiece int // index of the piece found last: times come nearly in order
}

// piece is one piece of hold.
type piece struct {
	Span
	hold bool // it counts in the unscoped numbers
	scopesByEntry
}

// scopesByEntry lists indexes of scopes by entry; the last list is for entries that no scope names.
type scopesByEntry [][]int

// anyEntry stands for all entries of the mix.
const anyEntry = -1

// of returns the scopes of a request of entry, or of anyEntry.
func (l scopesByEntry) of(entry int) []int {
	if entry == anyEntry {
		all := slices.Concat(l...)
		slices.Sort(all)
		return slices.Compact(all)
	}
	return l[min(entry, len(l)-1)]
}

// newScopeSums returns nil if only the whole hold window is measured.
func newScopeSums(p Breakdown, template template) *scopeSums {
	if p.Holds == nil && len(p.Scopes) == 0 {
		return nil
	}
	edges, entries := []int64{0, math.MaxInt64}, 0
	collect := func(list []Span) {
		for _, s := range list {
			edges = append(edges, s.From, s.To)
		}
	}
	collect(p.Holds)
	out := &scopeSums{}
	for _, s := range p.Scopes {
		collect(s.Spans)
		entries = max(entries, s.Entry+1)
		out.scopes = append(out.scopes, template.newAggregate())
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for i := range edges[1:] {
		c := piece{Span: Span{edges[i], edges[i+1]}, scopesByEntry: make(scopesByEntry, entries+1)}
		c.hold = p.Holds == nil || covers(p.Holds, c.From)
		for k, s := range p.Scopes {
			if s.Steady || s.Spans != nil && !covers(s.Spans, c.From) {
				continue
			}
			for entry := range c.scopesByEntry {
				if s.Entry < 0 || s.Entry == entry {
					c.scopesByEntry[entry] = append(c.scopesByEntry[entry], k)
				}
			}
		}
		out.pieces = append(out.pieces, c)
	}
	return out
}

// fold counts a sample in its scopes.
func (p *scopeSums) fold(s *finished) {
	if s.due {
		for _, k := range p.pieceAt(s.dueAt).of(int(s.Entry)) {
			p.scopes[k].addDue(s)
		}
	}
	if s.completed {
		for _, k := range p.pieceAt(s.endedAt).of(int(s.Entry)) {
			p.scopes[k].addCompleted(s)
		}
	}
}

func covers(list []Span, t int64) bool {
	return slices.ContainsFunc(list, func(s Span) bool { return s.contains(t) })
}

// pieceAt returns the piece that contains t, in ns since hold began, not negative.
func (p *scopeSums) pieceAt(t int64) *piece {
	if c := &p.pieces[p.lastPiece]; c.contains(t) {
		return c
	}
	i, found := slices.BinarySearchFunc(p.pieces, t,
		func(c piece, t int64) int { return cmp.Compare(c.From, t) })
	if !found {
		i--
	}
	p.lastPiece = i
	return &p.pieces[i]
}

// Within reports whether t, in ns since hold began, lies in the scope's spans.
func (s Scope) Within(t int64) bool { return s.Spans == nil || covers(s.Spans, t) }

// Length returns the length of the scope, in ns, within a hold window of the given length.
func (s Scope) Length(hold int64) int64 { return lengthOf(s.Spans, hold) }

func lengthOf(spans []Span, hold int64) (n int64) {
	if spans == nil {
		return hold
	}
	for _, s := range spans {
		n += s.lengthBefore(hold)
	}
	return n
}
