package executor

import (
	"fmt"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/source"
)

// lookEvery is how often assertions with `abort` are looked at: each look is another chance to be wrong.
const lookEvery = int64(time.Second)

// doom watches the assertions that may end a run.
type doom struct {
	checks []*doomed
	looked int64 // run clock
}

// cutShort is a level or a trial that was over as soon as an assertion with `abort` had become certainly false. The zero
// cutShort is one that was not.
type cutShort struct{ that, why string }

// doomed is one of them. Where it is judged on windows, those that are complete are judged once each.
type doomed struct {
	program.Check
	series int // of its windows, in scopes.series; -1: it is judged as a whole
	seen   int // windows judged so far
	wrong  int // of those, how many are false
}

// doom finds what may end the run while node n is measured: assertions on it with `abort`, wherever they stand: on the
// stage, in an slo, in the plan. Where `while` decides whether a level or a trial counts they end that one alone: it is
// one that does not hold, and the node goes on.
func (t *trial) doom() doom {
	var d doom
	for _, c := range t.r.program.ChecksOn(t.node) {
		if !c.Assertion.Abort {
			continue
		}
		x := &doomed{Check: c.Check, series: -1}
		if every := c.Window(); every > 0 {
			at := expression.Place{Phase: c.Refs[0].Phase, Mix: c.Refs[0].Mix}
			for i, w := range t.parts.Series {
				if w.Place == at && w.Every == every {
					x.series = i
				}
			}
		}
		d.checks = append(d.checks, x)
	}
	return d
}

// abort says why the run is to end now: an assertion with `abort` has become certainly false, whatever comes. It is asked
// once a tick and looks once a second. "": it goes on.
func (t *trial) abort(now int64) (why string) {
	begin := t.control.HoldStart.Load()
	if len(t.fate.checks) == 0 || begin == 0 || now < begin || now-t.fate.looked < lookEvery {
		return ""
	}
	t.fate.looked = now
	l := &live{t: t, now: now, begin: begin}
	l.all, l.scopes = t.folder.Sofar()
	for _, c := range t.fate.checks {
		if c.series >= 0 {
			why = c.windows(l)
		} else {
			why = verdict.Abort(c.Assertion, c.Program, l)
		}
		if why != "" {
			if len(t.node.While) > 0 {
				t.short = cutShort{that: c.Assertion.That.Text, why: why}
				return why
			}
			t.out.Aborted = &result.Abort{Assertion: c.Assertion.ID, At: seconds(now - begin), Reason: why, InFlight: l.older}
			return why
		}
	}
	return ""
}

// windows says why an assertion that is judged on windows is certainly false: with `within` by the first false window that
// ends too late, with `every` when more windows are false than all of hold may have.
func (c *doomed) windows(l *live) string {
	t := l.t
	done := t.folder.Complete(c.series)
	for ; c.seen < len(done); c.seen++ {
		w := t.parts.Series[c.series]
		s := storedSeries(w, measure.Series{From: t.scopeStart(w), Windows: done[c.seen : c.seen+1]})
		within := c.Assertion.Within.Seconds()
		if within > 0 && s.Windows[0].To-s.From <= within+1e-9 {
			continue // it may still be false
		}
		one := c.Assertion
		one.Every, one.Within, one.Allow = time.Duration(w.Every), 0, 0
		n := *t.out
		n.Series = []result.Series{s}
		a := verdict.Judge(one, c.Program, verdict.Context{}, result.Values(t.m.view(), &n).Against(t.r.program.Baseline))
		if a.Verdict != result.Fail {
			continue
		}
		if c.wrong++; within > 0 || c.wrong > c.allowed(t, w) {
			return c.Assertion.That.Text + " is certainly false: " + a.Reason
		}
	}
	return c.hanging(l)
}

// hanging looks at the windows that have ended and still wait for replies: with a server that answers nothing none is ever
// complete. Requests that have been open for longer than the limit are over it.
func (c *doomed) hanging(l *live) string {
	t, w := l.t, l.t.parts.Series[c.series]
	wrong, one, within := c.wrong, c.Assertion, int64(c.Assertion.Within)
	one.Every, one.Within, one.Allow = 0, 0, 0
	for _, s := range t.folder.Open(c.series, l.now-l.begin) {
		if within > 0 && s.To-t.scopeStart(w) <= within {
			continue // it may still be false
		}
		x := &live{t: t, now: l.now, begin: l.begin + s.From, until: l.begin + s.To, place: w.Place, all: s.Aggregate}
		why := verdict.Abort(one, c.Program, x)
		if why == "" {
			continue
		}
		if wrong++; within > 0 || wrong > c.allowed(t, w) {
			l.older = x.older
			return fmt.Sprintf("%s (in the window from %s to %s)", why, source.About(time.Duration(s.From)), source.About(time.Duration(s.To)))
		}
	}
	return ""
}

// allowed is how many windows of the whole scope may be false.
func (c *doomed) allowed(t *trial, w program.WindowSeries) int {
	if c.Assertion.Allow == 0 {
		return 0
	}
	if t.course.length == 0 {
		return measure.MaxWindows // nobody knows how many there will be
	}
	return verdict.Allowed(c.Assertion, t.windowsOf(w))
}
