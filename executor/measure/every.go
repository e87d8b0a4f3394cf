package measure

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// MaxWindows is how many windows a series keeps: an hour of seconds. Those beyond are counted and not kept.
const MaxWindows = 3600

// Every asks for windows of one length over one scope: what an assertion with `every` or `within` is judged on.
type Every struct {
	Length int64         // ns
	Scope  int           // index into Parts.Scopes; -1: the unscoped numbers
	Rows   []*metric.Row // whose distributions are kept; counts and rates always are
}

// Series are the whole windows of one Every, oldest first; what is left of a span at its end is no window.
type Series struct {
	From, To int64 // of the scope, ns since hold began
	Windows  []Stretch
	Missing  int // windows that lay beyond MaxWindows
}

// Stretch is one window of a series. Requests count by their due time, completions by theirs, as in hold.
type Stretch struct {
	Repeat    int   // of a node that repeats
	From, To  int64 // ns since hold began
	Aggregate *Aggregate
}

// series is one Every while it is folded. Windows are numbered through the spans of the scope.
type series struct {
	length  int64
	entry   int // -1: all
	spans   []Span
	first   []int // number of the first window of each span
	like    maker
	windows []*Aggregate // by number; nil: nothing yet
	packed  int          // windows before this number are complete, and small
	at      int          // span that was found last
}

func newSeries(e Every, p Parts, like maker) *series {
	s := &series{length: e.Length, entry: -1, spans: p.Holds, like: like}
	s.like.only = []int{}
	if e.Scope >= 0 {
		s.entry, s.spans = p.Scopes[e.Scope].Entry, p.Scopes[e.Scope].Spans
		if s.spans == nil {
			s.spans = p.Holds
		}
	}
	if s.spans == nil {
		s.spans = []Span{{0, math.MaxInt64}}
	}
	n := 0
	for _, span := range s.spans {
		s.first = append(s.first, n)
		if span.To != math.MaxInt64 {
			n += int((span.To - span.From) / s.length)
		}
	}
	for _, row := range e.Rows {
		i := extractOf(row.Name)
		if like.closed && i == serviceTime {
			i = latency
		}
		if i >= 0 && !slices.Contains(s.like.only, i) {
			s.like.only = append(s.like.only, i)
		}
	}
	return s
}

// of is the window that t belongs to, ns since hold began; nil where there is none.
func (s *series) of(t int64) *Aggregate {
	if span := s.spans[s.at]; t < span.From || t >= span.To {
		if s.at = s.find(t); s.at < 0 {
			s.at = 0
			return nil
		}
	}
	span := s.spans[s.at]
	k := (t - span.From) / s.length
	if span.To != math.MaxInt64 && span.From+(k+1)*s.length > span.To {
		return nil // no whole window
	}
	n := s.first[s.at] + int(k)
	if n >= MaxWindows {
		return nil
	}
	for n >= len(s.windows) {
		s.windows = append(s.windows, nil)
	}
	if s.windows[n] == nil {
		s.windows[n] = s.like.aggregate()
		s.windows[n].Window = s.length
	}
	return s.windows[n]
}

func (s *series) find(t int64) int {
	for i, span := range s.spans {
		if t >= span.From && t < span.To {
			return i
		}
	}
	return -1
}

// fold takes a sample. Times are ns since hold began.
func (s *series) fold(x *backends.Sample, due, completed bool, start, ended int64, about known) {
	if s.entry >= 0 && int(x.Entry) != s.entry {
		return
	}
	if due {
		if a := s.of(x.Due - start); a != nil {
			a.count(x, ended, about)
		}
	}
	if completed {
		if a := s.of(ended - start); a != nil {
			a.flow(x, about.good)
		}
	}
}

// span is where window n lies.
func (s *series) span(n int) Span {
	i := len(s.first) - 1
	for i > 0 && s.first[i] > n {
		i--
	}
	from := s.spans[i].From + int64(n-s.first[i])*s.length
	return Span{from, from + s.length}
}

// pack makes the windows small that end before settled: everything that was due before it has been folded.
func (s *series) pack(settled int64) {
	for ; s.packed < len(s.windows) && s.span(s.packed).To <= settled; s.packed++ {
		if a := s.windows[s.packed]; a != nil {
			a.pack()
		}
	}
}

// complete are the windows that are packed.
func (s *series) complete() []Stretch {
	var out []Stretch
	for n := range s.packed {
		at := s.span(n)
		out = append(out, Stretch{From: at.From, To: at.To, Aggregate: s.aggregate(n)})
	}
	return out
}

// open are the windows after the complete ones that ended by then: requests due in them are still on their way.
func (s *series) open(by int64) []Stretch {
	var out []Stretch
	for n := s.packed; n < MaxWindows; n++ {
		at := s.span(n)
		if at.To > by || at.To > s.spans[len(s.spans)-1].To {
			break
		}
		out = append(out, Stretch{From: at.From, To: at.To, Aggregate: s.aggregate(n)})
	}
	return out
}

// aggregate is window n, also one in which nothing happened.
func (s *series) aggregate(n int) *Aggregate {
	if n < len(s.windows) && s.windows[n] != nil {
		return s.windows[n]
	}
	a := s.like.aggregate()
	a.Window = s.length
	return a
}

// finish gives the whole windows of a hold window of the given length. One in which nothing happened is there as well.
func (s *series) finish(hold int64) Series {
	out := Series{From: s.spans[0].From, To: min(s.spans[len(s.spans)-1].To, hold)}
	for i, span := range s.spans {
		whole := int(span.length(hold) / s.length)
		for k := range whole {
			n := s.first[i] + k
			if n >= MaxWindows {
				out.Missing += whole - k
				break
			}
			a := s.aggregate(n)
			a.pack()
			at := s.span(n)
			out.Windows = append(out.Windows, Stretch{From: at.From, To: at.To, Aggregate: a})
		}
	}
	return out
}

// pack makes a small: nothing is added to it any more.
func (a *Aggregate) pack() {
	for _, i := range a.only {
		a.dists[i].Pack()
	}
}

// maker makes aggregates of one form.
type maker struct {
	closed, judged bool
	only           []int
	entries        [][]int // scopes by entry; of stability windows
}

func (m maker) aggregate() *Aggregate {
	return &Aggregate{Closed: m.closed, Judged: m.judged, only: m.only}
}

// scopes is how many scopes there are.
func (m maker) scopes() (n int) {
	for _, list := range m.entries {
		for _, k := range list {
			n = max(n, k+1)
		}
	}
	return n
}

// of are the scopes of a request of entry.
func (m maker) of(entry uint16) []int {
	if m.entries == nil {
		return nil
	}
	return m.entries[min(int(entry), len(m.entries)-1)]
}
