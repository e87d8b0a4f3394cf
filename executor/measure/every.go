package measure

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// MaxWindows limits the windows of a series: an hour of seconds. Later windows are counted and not
// kept.
const MaxWindows = 3600

// Every asks for windows of one length over one scope, as an assertion with `every` or `within`
// needs them.
type Every struct {
	Length int64         // in ns
	Scope  int           // index into Breakdown.Scopes; -1: the unscoped numbers
	Rows   []*metric.Row // rows whose distributions are kept; counts and rates always are
}

// Series are the complete windows of one Every, oldest first. A shorter rest at the end of a span
// is no window.
type Series struct {
	From, To int64 // of the scope, ns since hold began
	Windows  []SeriesWindow
	Missing  int // windows beyond MaxWindows
}

// SeriesWindow is one window of a series. Requests count by their due time, completions by theirs,
// as in hold.
type SeriesWindow struct {
	Repeat    int   // index, if the node repeats
	From, To  int64 // ns since hold began
	Aggregate *Aggregate
}

// series collects one Every. Windows are numbered across the spans of the scope.
type series struct {
	length      int64
	entry       int // of the mix; -1: all
	spans       []Span
	firstWindow []int // by span: number of its first window
	template    template
	windows     []*Aggregate // by number; nil: empty so far
	packed      int          // windows before this number are complete and packed
	lastSpan    int          // index of the span found last
}

func newSeries(e Every, p Breakdown, template template) *series {
	s := &series{length: e.Length, entry: -1, spans: p.Holds, template: template}
	s.template.kept = nil
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
		s.firstWindow = append(s.firstWindow, n)
		if span.To != math.MaxInt64 {
			n += int((span.To - span.From) / s.length)
		}
	}
	for _, row := range e.Rows {
		i := distOf(row.Name, template.closed)
		if row.Name == metric.Interactivity {
			i = perToken
		}
		if i >= 0 && !slices.Contains(s.template.kept, i) {
			s.template.kept = append(s.template.kept, i)
		}
	}
	return s
}

// windowAt returns the window that contains t, in ns since hold began, nil if none does.
func (s *series) windowAt(t int64) *Aggregate {
	if !s.spans[s.lastSpan].contains(t) {
		i := slices.IndexFunc(s.spans, func(span Span) bool { return span.contains(t) })
		if i < 0 {
			return nil
		}
		s.lastSpan = i
	}
	span := s.spans[s.lastSpan]
	k := (t - span.From) / s.length
	if span.To != math.MaxInt64 && span.From+(k+1)*s.length > span.To {
		return nil // beyond the last complete window of the span
	}
	n := s.firstWindow[s.lastSpan] + int(k)
	if n >= MaxWindows {
		return nil
	}
	for n >= len(s.windows) {
		s.windows = append(s.windows, nil)
	}
	if s.windows[n] == nil {
		s.windows[n] = s.emptyWindow()
	}
	return s.windows[n]
}

// fold adds a sample.
func (s *series) fold(x *finished) {
	if s.entry >= 0 && int(x.Entry) != s.entry {
		return
	}
	if x.due {
		if a := s.windowAt(x.dueAt); a != nil {
			a.addDue(x)
		}
	}
	if x.completed {
		if a := s.windowAt(x.endedAt); a != nil {
			a.addCompleted(x)
		}
	}
}

// windowSpan returns the span of window n.
func (s *series) windowSpan(n int) Span {
	i := len(s.firstWindow) - 1
	for i > 0 && s.firstWindow[i] > n {
		i--
	}
	from := s.spans[i].From + int64(n-s.firstWindow[i])*s.length
	return Span{from, from + s.length}
}

// packComplete packs the windows that end before settled: everything due before it has been folded.
func (s *series) packComplete(settled int64) {
	for ; s.packed < len(s.windows) && s.windowSpan(s.packed).To <= settled; s.packed++ {
		if a := s.windows[s.packed]; a != nil {
			a.packDists()
		}
	}
}

// CompleteSeries returns the windows of Config.Every[i] that are complete, oldest first.
func (f *Folder) CompleteSeries(i int) Series {
	s := f.series[i]
	return s.between(0, s.packed)
}

// between returns the windows from number from to before number to.
func (s *series) between(from, to int) Series {
	out := Series{From: s.spans[0].From}
	for n := from; n < to; n++ {
		out.Windows = append(out.Windows, s.window(n))
	}
	return out
}

// OpenSeries returns the windows of Config.Every[i] that ended by by, in ns since hold began, and
// still wait for replies, oldest first.
func (f *Folder) OpenSeries(i int, by int64) Series {
	s := f.series[i]
	n := s.packed
	for by = min(by, s.spans[len(s.spans)-1].To); n < MaxWindows && s.windowSpan(n).To <= by; n++ {
	}
	return s.between(s.packed, n)
}

// SeriesCount returns the number of windows of Config.Every[i] in a hold window of the given length
// in ns.
func (f *Folder) SeriesCount(i int, hold int64) (n int) {
	s := f.series[i]
	for _, span := range s.spans {
		n += int(span.lengthBefore(hold) / s.length)
	}
	return n
}

// window returns window n, even if it is empty.
func (s *series) window(n int) SeriesWindow {
	at := s.windowSpan(n)
	w := SeriesWindow{From: at.From, To: at.To}
	if n < len(s.windows) {
		w.Aggregate = s.windows[n]
	}
	if w.Aggregate == nil {
		w.Aggregate = s.emptyWindow()
	}
	return w
}

func (s *series) emptyWindow() *Aggregate {
	a := s.template.newAggregate()
	a.Window = s.length
	return a
}

// finish returns the complete windows of a hold window of the given length in ns, including empty
// ones.
func (s *series) finish(hold int64) Series {
	out := Series{From: s.spans[0].From, To: min(s.spans[len(s.spans)-1].To, hold)}
	for i, span := range s.spans {
		whole := int(span.lengthBefore(hold) / s.length)
		for k := range whole {
			n := s.firstWindow[i] + k
			if n >= MaxWindows {
				out.Missing += whole - k
				break
			}
			w := s.window(n)
			w.Aggregate.packDists()
			out.Windows = append(out.Windows, w)
		}
	}
	return out
}

// packDists packs the distributions of a, which must be complete.
func (a *Aggregate) packDists() {
	for _, i := range a.kept {
		a.dists[i].Pack()
	}
	if a.low != nil {
		a.low.packDists()
		a.high.packDists()
	}
}

// template holds the settings of new aggregates.
type template struct {
	closed, goodput, limited bool
	kept                     []int
}

func (m template) newAggregate() *Aggregate {
	return &Aggregate{Closed: m.closed, HasGoodput: m.goodput, limited: m.limited, kept: m.kept}
}
