package measure

import (
	"math"
)

// Windows configures stability windows, for `until: stable`. Exactly one of Length and Requests is
// set; Keep 0: no windows.
type Windows struct {
	Length int64 // in ns
	// completions, including failures; a window ends with the drain that sees the last of them
	Requests int64
	Keep     int // complete windows in memory
}

// Window is one stability window. Windows follow each other without gaps from the start of hold.
type Window struct {
	Index    int   // from 0
	From, To int64 // run clock, ns
	// Completed aggregates the requests that ended in the window, including their distributions:
	// stability is judged by it.
	Completed *Aggregate
	// Due aggregates the requests due in the window, like the hold window: it is reported. Its flow
	// is by completion, as everywhere.
	Due *Aggregate
	// Scopes are Due for each of Config.Scopes; nil without scopes.
	Scopes []*Aggregate
}

// windows are consecutive stability windows; the last is being filled. A window is complete if it
// ended before the previous drain, so that every completion has been handed over.
type windows struct {
	c             Windows
	template      template
	scopes        scopesByEntry
	scopeCount    int
	list          []*Window
	completeCount int // list[:completeCount] are complete
}

func (f *Folder) newWindows(start int64) *windows {
	w := &windows{
		c: f.c.Windows, template: f.template, scopes: scopesByEntry{nil}, scopeCount: len(f.c.Scopes),
	}
	if f.scopes != nil {
		w.scopes = f.scopes.pieces[0].scopesByEntry // a load with `until: stable` has one piece
	}
	w.open(start)
	return w
}

func (w *windows) open(from int64) {
	x := &Window{
		From: from, To: math.MaxInt64, Completed: w.template.newAggregate(), Due: w.template.newAggregate(),
	}
	for range w.scopeCount {
		x.Scopes = append(x.Scopes, w.template.newAggregate())
	}
	if n := len(w.list); n > 0 {
		x.Index = w.list[n-1].Index + 1
	}
	if w.c.Length > 0 {
		w.end(x, from+w.c.Length)
	}
	w.list = append(w.list, x)
}

func (w *windows) end(x *Window, to int64) {
	x.To = to
	x.Completed.Window, x.Due.Window = to-x.From, to-x.From
	for _, a := range x.Scopes {
		a.Window = to - x.From
	}
}

// extend opens the windows up to t.
func (w *windows) extend(t int64) {
	for last := w.list[len(w.list)-1]; last.To <= t; last = w.list[len(w.list)-1] {
		w.open(last.To)
	}
}

// windowAt returns the window that contains t, nil if it is no longer kept.
func (w *windows) windowAt(t int64) *Window {
	for i := len(w.list) - 1; i >= 0; i-- {
		if x := w.list[i]; t >= x.From {
			if t < x.To {
				return x
			}
			return nil
		}
	}
	return nil
}

func (w *windows) fold(s *finished) {
	if s.due {
		if x := w.windowAt(s.Due); x != nil {
			x.Due.addDue(s)
			for _, k := range w.scopes.of(int(s.Entry)) {
				x.Scopes[k].addDue(s)
			}
		}
	}
	if !s.completed {
		return
	}
	if x := w.windowAt(s.ended); x != nil {
		x.Due.addCompleted(s)
		for _, k := range w.scopes.of(int(s.Entry)) {
			x.Scopes[k].addCompleted(s)
		}
		x.Completed.count(s)
		x.Completed.countFlow(s)
	}
}

// advance completes windows, ends a window that has its requests, and drops the oldest. A window
// that was returned is never replaced. After the end of hold nothing changes: reported windows
// still collect replies until the drain is over.
func (w *windows) advance(last, now, end int64) {
	if now >= end {
		return
	}
	if x := w.list[len(w.list)-1]; w.c.Requests > 0 && x.Completed.Sent >= w.c.Requests && now > x.From {
		w.end(x, now)
		w.open(now)
	}
	for w.completeCount < len(w.list)-1 && w.list[w.completeCount].To <= last {
		w.completeCount++
	}
	if old := w.completeCount - w.c.Keep; old > 0 {
		w.list, w.completeCount = w.list[old:], w.c.Keep
	}
}

// MergeWindows merges several windows into one measurement, and their scopes likewise. It does not
// change the windows.
func MergeWindows(list []*Window) (all *Aggregate, scopes []*Aggregate) {
	all = &Aggregate{}
	for _, w := range list {
		all.Merge(w.Due)
		scopes = mergeScopes(scopes, w.Scopes)
	}
	return all, scopes
}
