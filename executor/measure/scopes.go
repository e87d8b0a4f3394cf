package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/backends"
)

// Span is a stretch of the hold window, ns since hold began. To math.MaxInt64: to its end.
type Span struct{ From, To int64 }

// length is that of the part of s that lies before end.
func (s Span) lengthBefore(end int64) int64 { return max(min(s.To, end)-s.From, 0) }

// Scope is a part of a node's requests that has numbers of its own: those due in a phase of a ramp, those of one entry of
// a mix, or both. Its rates count the completions within its spans, over their length.
type Scope struct {
	Phase string
	Spans []Span // in order, apart from each other; nil: all of hold
	Entry int    // Sample.Entry; -1: all
}

// Parts say what is kept beside the numbers of the whole hold window. The zero Parts are nothing.
type Breakdown struct {
	// Holds are the spans that count in the unscoped numbers, in order; nil: all of hold. What lies between them is the
	// ramp: a scope may show it, but it is in no number of the node.
	Holds []Span
	// Scopes have numbers of their own, in Total.Scopes, in this order.
	Scopes []Scope
	// Every are the windows that assertions are judged on, in Total.Series, in this order.
	Every []Every
	// Goodput are the bounds that a request must keep to be good; nil: nothing is.
	Goodput []Bound
}

// parts are a node's scopes while it is folded: hold cut in pieces within which a request counts in the same sums.
type scopeSums struct {
	scopes    []*Aggregate
	pieces    []piece
	lastPiece int // of the piece that was found last: times come nearly in order
}

// cut is one piece of hold.
type piece struct {
	Span
	hold          bool    // it is in the unscoped numbers
	scopesByEntry [][]int // scopes by entry; the last is for entries that no scope names
}

// newParts is nil where a node has nothing but its whole hold window.
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
		c := piece{Span: Span{edges[i], edges[i+1]}, scopesByEntry: make([][]int, entries+1)}
		c.hold = p.Holds == nil || covers(p.Holds, c.From)
		for k, s := range p.Scopes {
			if s.Spans != nil && !covers(s.Spans, c.From) {
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
func (p *scopeSums) fold(s *backends.Sample, due, completed bool, start, ended int64, info requestInfo) {
	if due {
		for _, k := range p.pieceAt(s.Due - start).scopesOf(s.Entry) {
			p.scopes[k].count(s, ended, info)
		}
	}
	if completed {
		for _, k := range p.pieceAt(ended - start).scopesOf(s.Entry) {
			p.scopes[k].countFlow(s, info.good)
		}
	}
}

func covers(list []Span, t int64) bool {
	return slices.ContainsFunc(list, func(s Span) bool { return t >= s.From && t < s.To })
}

// piece is the cut that t belongs to, ns since hold began and not below 0.
func (p *scopeSums) pieceAt(t int64) *piece {
	if c := &p.pieces[p.lastPiece]; t >= c.From && t < c.To {
		return c
	}
	i, found := slices.BinarySearchFunc(p.pieces, t, func(c piece, t int64) int { return cmp.Compare(c.From, t) })
	if !found {
		i--
	}
	p.lastPiece = i
	return &p.pieces[i]
}

// of are the scopes of a request of entry.
func (c *piece) scopesOf(entry uint16) []int {
	return c.scopesByEntry[min(int(entry), len(c.scopesByEntry)-1)]
}

// Within reports whether t, ns since hold began, lies in the scope's spans.
func (s Scope) Within(t int64) bool { return s.Spans == nil || covers(s.Spans, t) }

// Length is how much of a scope lies within a hold window of the given length, ns.
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
