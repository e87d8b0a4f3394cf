package measure

import (
	"math"

	"github.com/sluice-bench/sluice/backends"
)

// Windows says how hold is cut for `until: stable`. Exactly one of Length and Requests is set; Keep 0: no windows.
type Windows struct {
	Length   int64 // ns
	Requests int64 // completions, failed ones included; a window ends with the drain that sees the last of them
	Keep     int   // complete windows in memory
	template template
}

// Window is one stability window. Windows follow each other without a gap from the start of hold.
type Window struct {
	Index    int   // from 0
	From, To int64 // run clock
	// Completed has the requests that ended in the window, in its distributions too: what stability is judged by.
	Completed *Aggregate
	// Due has those due in it, like the hold window: what is reported. Its flow is by completion, as everywhere.
	Due *Aggregate
	// Scopes are Due for each of Config.Scopes; nil without any.
	Scopes []*Aggregate
}

// windows are consecutive stability windows. The last is being filled. A window is complete when its end lay before
// the previous drain, so that whoever had a completion in hand has handed it over.
type windows struct {
	c             Windows
	list          []*Window
	completeCount int // the first of list that are complete
}

func newWindows(c Windows, start int64) *windows {
	w := &windows{c: c}
	w.open(start)
	return w
}

func (w *windows) open(from int64) {
	x := &Window{From: from, To: math.MaxInt64, Completed: w.c.template.newAggregate(), Due: w.c.template.newAggregate()}
	for range w.c.template.scopeCount() {
		x.Scopes = append(x.Scopes, w.c.template.newAggregate())
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

// at is the window that t belongs to, nil when it is no longer kept.
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

func (w *windows) fold(s *backends.Sample, due, completed bool, ended int64, info requestInfo) {
	if due {
		if x := w.windowAt(s.Due); x != nil {
			x.Due.count(s, ended, info)
			for _, k := range w.c.template.scopesOf(s.Entry) {
				x.Scopes[k].count(s, ended, info)
			}
		}
	}
	if !completed {
		return
	}
	if x := w.windowAt(ended); x != nil {
		x.Due.countFlow(s, info.good)
		for _, k := range w.c.template.scopesOf(s.Entry) {
			x.Scopes[k].countFlow(s, info.good)
		}
		x.Completed.count(s, ended, info)
		x.Completed.countFlow(s, info.good)
	}
}

// advance closes what is complete, ends a window that has its requests, and forgets windows that are too old. A window
// that was handed out is never changed for another one. After the end of hold nothing moves any more: the windows that
// are reported go on collecting until the drain is over.
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

func (w *windows) complete() []*Window { return w.list[:w.completeCount] }

// MergeWindows is the measurement of several windows as one: sums over sums, distributions pooled, those of the scopes
// beside them. It does not change the windows.
func MergeWindows(list []*Window) (all *Aggregate, scopes []*Aggregate) {
	all = &Aggregate{}
	for _, w := range list {
		all.Merge(w.Due)
		for len(scopes) < len(w.Scopes) {
			scopes = append(scopes, &Aggregate{})
		}
		for i, a := range w.Scopes {
			scopes[i].Merge(a)
		}
	}
	return all, scopes
}
