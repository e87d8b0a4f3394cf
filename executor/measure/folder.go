package measure

import (
	"cmp"
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/stats"
)

// Progress is the state that a progress display shows. It is immutable once published.
type Progress struct {
	At               int64 // run clock, ns
	Sent, OK, Failed int64 // finished requests due in hold
	InFlight         int64
	// Over the last second, in every phase.
	Rate     float64 // OK completions per second
	N        int64   // latencies behind P50 and P99; 0: both unknown
	P50, P99 int64   // in ns
}

// Total is the measurement of a node. Times are on the run clock; slices are relative to From.
type Total struct {
	From, To  int64 // hold window; both 0 if it never began
	Aggregate *Aggregate
	Scopes    []*Aggregate // by index into Config.Scopes
	Series    []Series     // by index into Config.Every
	Timelines []Timeline   // by index into Config.Timed
	Slices    []Slice
	Steady    Span   // of scopes that are steady, ns since hold began; empty: there is none
	NotSteady string // why there is none, where a scope is
	steady    *steadiness
}

// Folder folds finished samples of one node. All methods but Progress must be called by one
// goroutine.
type Folder struct {
	c         Config
	template  template
	hold      *Aggregate
	scopes    *scopeSums // nil without scopes
	ramp      Aggregate  // requests outside the unscoped numbers; sums only
	series    []*series
	timelines []*timeline
	steady    *steadiness // nil: no scope is steady
	bounds    []bound
	slices    *slicer // nil until hold began
	partials  partialRequests
	windows   *windows // nil without Config.Windows or until hold began
	last      int64    // time of the previous drain
	settled   int64    // all requests due before it have been counted, run clock; 0: unknown
	sinkErr   error

	pending    []*pendingRequest
	texts      texts
	known      int64 // until when Client is up to date, run clock
	median     int64 // service time so far, ns
	delaySlice int64 // length of a slice of delays, ns

	progress   atomic.Pointer[Progress]
	recent     stats.Dist // latencies since the last Progress
	recentOK   int64
	progressAt int64
}

// New returns the folder of one node.
func New(c Config) *Folder {
	if c.Slice <= 0 {
		c.Slice = nsPerSecond
	}
	template := template{closed: c.Closed, goodput: c.Goodput != nil, limited: c.Limited}
	for i := range extracts {
		ofTokens := i >= firstOfTokens && i < endOfTokens
		if (!c.Closed || i < closedLoop || c.Waits && i == clientDelay) && (c.Tokens || !ofTokens) && i != chunkGap {
			template.kept = append(template.kept, i)
		}
	}
	f := &Folder{
		c: c, hold: template.newAggregate(), scopes: newScopeSums(c.Breakdown, template), template: template,
		bounds: newBounds(c.Goodput), delaySlice: delay.SliceLength(0),
	}
	for _, e := range c.Every {
		f.series = append(f.series, newSeries(e, c.Breakdown, template))
	}
	for _, t := range c.Timed {
		f.timelines = append(f.timelines, newTimeline(t, c.Breakdown, template, c.Length))
	}
	f.steady = newSteadiness(c.Breakdown, template, c.Length)
	f.progress.Store(&Progress{})
	return f
}

// Drain folds every finished sample and returns its buffer. now is the run clock. It returns the
// number of samples that belong to the load.
func (f *Folder) Drain(now int64) (folded int) {
	settled := f.c.Settled() // before the rings are emptied, so that they contain all samples due before it
	start, end := f.window()
	f.begin(start, min(now, end-1))
	if f.known = now; f.c.Client != nil {
		f.c.Client.Update(now)
	}
	for i := range f.c.Rings.lanes {
		l := &f.c.Rings.lanes[i]
		for s := l.full.pop(); s != nil; s = l.full.pop() {
			if s.Flags&backends.Partial != 0 {
				f.partials.add(s)
				f.writeSink(s)
				l.eventBuffers.push(s)
				continue
			}
			if start == 0 && s.Flags&backends.Warmup == 0 {
				start, end = f.window()
				f.begin(start, min(now, end-1))
			}
			f.fold(s, start, end, now)
			if s.Flags&backends.Closing == 0 {
				folded++
			}
			l.empty.push(s)
		}
	}
	if over := f.texts.size - maxTexts; over > 0 {
		f.countTexts(max(over, textsAtOnce), start)
	}
	if f.slices != nil && now < end {
		f.slices.inFlight(now, f.c.InFlight())
	}
	if f.windows != nil {
		f.windows.advance(f.last, now, end)
	}
	if start != 0 {
		if len(f.pending) > 0 {
			f.release(now, start, end)
			settled = min(settled, f.oldestPending())
		}
		for _, s := range f.series {
			s.packComplete(settled - start)
		}
		f.settled = settled
	}
	f.publish(now)
	f.last = now
	return folded
}

// window returns the hold window as far as it is known: start 0 before it begins, end math.MaxInt64
// while open.
func (f *Folder) window() (start, end int64) {
	if end = f.c.HoldEnd(); end <= 0 {
		end = math.MaxInt64
	}
	return f.c.HoldStart(), end
}

// begin opens slices and windows once hold has begun, and the windows up to t.
func (f *Folder) begin(start, t int64) {
	if start == 0 {
		return
	}
	if f.slices == nil {
		f.slices = &slicer{start: start, width: f.c.Slice}
		if f.c.Windows.Keep > 0 {
			f.windows = f.newWindows(start)
		}
	}
	if f.windows != nil {
		f.windows.extend(t)
	}
}

func (f *Folder) fold(s *backends.Sample, start, end, now int64) {
	if s.Flags&backends.Closing != 0 { // not part of the load
		f.partials.recycle(f.partials.take(s))
		return
	}
	written := f.countPrompt(s)
	f.writeSink(s)
	ended := s.LastByte
	if ended == 0 {
		ended = now // a failure without a time stamp ended after the previous drain
	}
	if s.Class == backends.OK {
		f.recentOK++
		f.recent.Add(ended - s.Due)
	}
	if start == 0 {
		return
	}
	x := finished{
		Sample: s, due: s.Flags&backends.Warmup == 0 && s.Due >= start && s.Due < end,
		completed: ended >= start && ended < end, dueAt: s.Due - start, ended: ended, endedAt: ended - start,
		partial: f.partials.take(s), delay: f.delayOf(s, ended), written: written,
	}
	if s.FirstToken != 0 {
		x.visible = x.visibleTokens()
	}
	kept := f.keepText(&x)
	x.good = f.bounds != nil && good(f.bounds, &x)
	if x.due {
		f.slices.sent(s.Due)
	}
	if x.completed {
		f.slices.completed(s, ended)
	}
	if f.steady != nil {
		f.steady.load.add(cmp.Or(s.SendStart, s.Due)-start, min(ended, end)-start)
	}
	f.count(&x)
	f.addEmpty(&x)
	if !x.delay.IsZero() {
		if p := f.postpone(&x); kept != nil {
			kept.pending = p
		}
	}
	f.partials.recycle(x.partial)
}

// count counts a request, or a share of it, in all parts of hold.
func (f *Folder) count(x *finished) {
	if x.due {
		f.aggregateAt(x.dueAt).addDue(x)
	}
	if x.completed {
		f.aggregateAt(x.endedAt).addCompleted(x)
		if x.portion != withoutTokens {
			f.slices.addTokens(x.Sample, x.ended)
		}
	}
	if f.scopes != nil {
		f.scopes.fold(x)
	}
	for _, e := range f.series {
		e.fold(x)
	}
	for _, t := range f.timelines {
		t.fold(x)
	}
	if f.steady != nil {
		f.steady.fold(x)
	}
	if f.windows != nil {
		f.windows.fold(x)
	}
}

// countPrompt enters the length of a prompt that this client knows, where the server does not count it.
func (f *Folder) countPrompt(s *backends.Sample) bool {
	if f.c.Prompt == nil || s.Class != backends.OK {
		return false
	}
	if _, known := s.InputTokens.Get(); known {
		return false
	}
	n := f.c.Prompt(s.Entry, s.Row)
	if n > 0 {
		s.InputTokens = backends.CountOf(int64(n))
	}
	return n > 0
}

// aggregateAt returns the node's aggregate for due times and completions at t, in ns since hold
// began.
func (f *Folder) aggregateAt(t int64) *Aggregate {
	if f.scopes != nil && !f.scopes.pieceAt(t).hold {
		return &f.ramp
	}
	return f.hold
}

// publish publishes the progress once a second.
func (f *Folder) publish(now int64) {
	if f.progressAt == 0 { // the node begins: there is no previous second
		f.progressAt = now
	}
	if now-f.progressAt < nsPerSecond {
		return
	}
	l := &Progress{
		At:       now,
		Sent:     f.hold.Sent + f.ramp.Sent,
		OK:       f.hold.OK() + f.ramp.OK(),
		Failed:   f.hold.Failed() + f.ramp.Failed(),
		InFlight: f.c.InFlight(),
		Rate:     float64(f.recentOK) / (float64(now-f.progressAt) / nsPerSecond),
		N:        f.recent.N(),
	}
	l.P50, _ = f.recent.Rank(50)
	l.P99, _ = f.recent.Rank(99)
	f.progress.Store(l)
	f.setService(f.hold.medianService())
	f.recent.Reset()
	f.recentOK, f.progressAt = 0, now
}

// Progress returns the latest progress, never nil. Any goroutine may call it.
func (f *Folder) Progress() *Progress { return f.progress.Load() }

// writeSink writes a sample to the sink.
func (f *Folder) writeSink(s *backends.Sample) {
	if f.c.Sink != nil && f.sinkErr == nil {
		f.sinkErr = f.c.Sink.Write(s)
	}
}

// SinkErr returns the first error of the sink.
func (f *Folder) SinkErr() error { return f.sinkErr }

// CompleteWindows returns the latest complete stability windows, oldest first, at most
// Config.Windows.Keep. Requests due in them that are in flight are still added until Finish.
func (f *Folder) CompleteWindows() []*Window {
	if f.windows == nil {
		return nil
	}
	return f.windows.list[:f.windows.completeCount]
}

// Current returns the sums so far, of hold and of each of Config.Scopes, for decisions between two
// drains. They keep growing. Their Window, and so their rates, are unknown before Finish.
func (f *Folder) Current() (hold *Aggregate, scopes []*Aggregate) {
	if f.scopes != nil {
		scopes = f.scopes.scopes
	}
	return f.hold, scopes
}

// Finish folds the remaining samples, after the player has ended, and returns the node's
// measurement. An open hold window ends with the last completion.
func (f *Folder) Finish(now int64) Total {
	f.Drain(now)
	start, end := f.window()
	t := Total{Aggregate: f.hold}
	if f.scopes != nil {
		t.Scopes = f.scopes.scopes
	}
	if f.slices == nil {
		return t
	}
	if end == math.MaxInt64 {
		end = max(f.hold.Last, f.ramp.Last)
	}
	t.From, t.To = start, max(start, min(end, now))
	f.release(math.MaxInt64, start, end)
	f.countTexts(math.MaxInt, start)
	length := t.To - t.From
	t.Slices = f.slices.finish(t.To)
	f.hold.Window = lengthOf(f.c.Holds, length)
	for i, s := range f.c.Scopes {
		t.Scopes[i].Window = s.Length(length)
	}
	for _, s := range f.series {
		t.Series = append(t.Series, s.finish(length))
	}
	for _, s := range f.timelines {
		t.Timelines = append(t.Timelines, s.finish(length))
	}
	if t.steady = f.steady; t.steady != nil {
		t.steady.hold, t.steady.start, t.steady.client = length, start, f.c.Client
		t.setSteady(Span{0, length})
	}
	f.finishPauses(&t)
	return t
}
