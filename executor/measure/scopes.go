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
func (s Span) length(end int64) int64 { return max(min(s.To, end)-s.From, 0) }

// Scope is a part of a node's requests that has numbers of its own: those due in a phase of a ramp, those of one entry of
// a mix, or both. Its rates count the completions within its spans, over their length.
type Scope struct {
	Phase string
	Spans []Span // in order, apart from each other; nil: all of hold
	Entry int    // Sample.Entry; -1: all
}

// Parts say what is kept beside the numbers of the whole hold window. The zero Parts are nothing.
type Parts struct {
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
type parts struct {
	scopes []*Aggregate
	cuts   []cut
	at     int // of the piece that was found last: times come nearly in order
}

// cut is one piece of hold.
type cut struct {
	Span
	hold bool    // it is in the unscoped numbers
	in   [][]int // scopes by entry; the last is for entries that no scope names
}

// newParts is nil where a node has nothing but its whole hold window.
func newParts(p Parts, like maker) *parts {
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
	out := &parts{}
	for _, s := range p.Scopes {
		collect(s.Spans)
		entries = max(entries, s.Entry+1)
		out.scopes = append(out.scopes, like.aggregate())
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for i := range edges[1:] {
		c := cut{Span: Span{edges[i], edges[i+1]}, in: make([][]int, entries+1)}
		c.hold = p.Holds == nil || covers(p.Holds, c.From)
		for k, s := range p.Scopes {
			if s.Spans != nil && !covers(s.Spans, c.From) {
				continue
			}
			for entry := range c.in {
				if s.Entry < 0 || s.Entry == entry {
					c.in[entry] = append(c.in[entry], k)
				}
			}
		}
		out.cuts = append(out.cuts, c)
	}
	return out
}

// fold counts a sample in its scopes.
func (p *parts) fold(s *backends.Sample, due, completed bool, start, ended int64, about known) {
	if due {
		for _, k := range p.piece(s.Due - start).of(s.Entry) {
			p.scopes[k].count(s, ended, about)
		}
	}
	if completed {
		for _, k := range p.piece(ended - start).of(s.Entry) {
			p.scopes[k].flow(s, about.good)
		}
	}
}

func covers(list []Span, t int64) bool {
	return slices.ContainsFunc(list, func(s Span) bool { return t >= s.From && t < s.To })
}

// piece is the cut that t belongs to, ns since hold began and not below 0.
func (p *parts) piece(t int64) *cut {
	if c := &p.cuts[p.at]; t >= c.From && t < c.To {
		return c
	}
	i, found := slices.BinarySearchFunc(p.cuts, t, func(c cut, t int64) int { return cmp.Compare(c.From, t) })
	if !found {
		i--
	}
	p.at = i
	return &p.cuts[i]
}

// of are the scopes of a request of entry.
func (c *cut) of(entry uint16) []int { return c.in[min(int(entry), len(c.in)-1)] }

// Within reports whether t, ns since hold began, lies in the scope's spans.
func (s Scope) Within(t int64) bool { return s.Spans == nil || covers(s.Spans, t) }

// Length is how much of a scope lies within a hold window of the given length, ns.
func (s Scope) Length(hold int64) int64 { return lengthOf(s.Spans, hold) }

func lengthOf(spans []Span, hold int64) (n int64) {
	if spans == nil {
		return hold
	}
	for _, s := range spans {
		n += s.length(hold)
	}
	return n
}
