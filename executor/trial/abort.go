package trial

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/source"
)

// lookEvery is the time between two looks at the assertions with `abort`, ns: each look is another
// chance to be wrong.
const lookEvery = int64(time.Second)

// abortWatch watches the assertions that may end a run while a node is measured: those with `abort`
// that read the node, wherever they are defined: on the stage, in an slo, in the plan.
type abortWatch struct {
	*running
	checks []*abortCheck
	looked int64 // run clock
}

// abortCheck watches one assertion. If it is judged on windows, each is judged once, when it is
// complete.
type abortCheck struct {
	program.Check
	series int // of its windows, in scopes.series; -1: it is judged as a whole
	seen   int // windows judged so far
	wrong  int // false ones of those
}

// newAbortWatch finds what may end the run while the node of a trial is measured.
func newAbortWatch(r *running) abortWatch {
	w := abortWatch{running: r}
	for _, c := range r.in.Checks {
		if !c.Abort {
			continue
		}
		x := &abortCheck{Check: c.Check, series: -1}
		if every := c.Window(); every > 0 {
			at := expression.Place{Phase: c.Asked[0].Phase, Mix: c.Asked[0].Mix}
			x.series = slices.IndexFunc(r.in.Parts.Series, func(w program.WindowSeries) bool {
				return w.Place == at && w.Every == every
			})
		}
		w.checks = append(w.checks, x)
	}
	return w
}

// look returns the first assertion with `abort` that has become certainly false, and its text. It is
// called once a tick and looks once a second. nil: the run goes on.
func (w *abortWatch) look(now int64) (a *result.Abort, that string) {
	begin := w.control.HoldStart.Load()
	if len(w.checks) == 0 || begin == 0 || now < begin || now-w.looked < lookEvery {
		return nil, ""
	}
	w.looked = now
	p := &progress{abortWatch: w, now: now, begin: begin}
	p.all, p.scopes = w.folder.Current()
	for _, c := range w.checks {
		var why string
		if c.series >= 0 {
			why = c.windows(p)
		} else {
			why = c.whole(p)
		}
		if why != "" {
			return &result.Abort{
				Assertion: c.ID, At: seconds(now - begin), Reason: why, InFlight: p.older,
			}, c.That.Text
		}
	}
	return nil, ""
}

// whole says why an assertion that is judged as a whole is certainly false. One with `confidence` is so if
// as many independent requests as tell as much show it too.
func (c *abortCheck) whole(p *progress) string {
	why := verdict.Abort(c.Assertion, c.Program, p)
	if why == "" || c.Confidence <= 0 {
		return why
	}
	p.confidence = c.Confidence
	defer func() { p.confidence = 0 }()
	if verdict.Abort(c.Assertion, c.Program, p) == "" {
		return ""
	}
	return why
}

// windows says why an assertion that is judged on windows is certainly false: with `within` by the
// first false window that ends too late, with `every` when more windows are false than all of hold
// may have.
func (c *abortCheck) windows(p *progress) string {
	w, done := p.in.Parts.Series[c.series], p.folder.CompleteSeries(c.series)
	for ; c.seen < len(done.Windows); c.seen++ {
		s := storedSeries(w, measure.Series{From: done.From, Windows: done.Windows[c.seen : c.seen+1]})
		within := c.Within.Seconds()
		if within > 0 && s.Windows[0].To-s.From <= within+1e-9 {
			continue // it may still be false
		}
		one := c.Assertion
		one.Every, one.Within, one.Allow = time.Duration(w.Every), 0, 0
		n := *p.in.Result
		n.Series = []result.Series{s}
		a := verdict.Judge(one, c.Program, verdict.Context{}, p.in.Values(&n))
		if a.Verdict != result.Fail {
			continue
		}
		if c.wrong++; within > 0 || c.wrong > c.allowed(p) {
			return c.That.Text + " is certainly false: " + a.Reason
		}
	}
	return c.openWindows(p)
}

// openWindows looks at the windows that have ended and still wait for replies: with a server that
// answers nothing none is ever complete. Requests that have been open for longer than the limit are
// over it.
func (c *abortCheck) openWindows(p *progress) string {
	wrong, one, within := c.wrong, c.Assertion, int64(c.Within)
	one.Every, one.Within, one.Allow = 0, 0, 0
	open := p.folder.OpenSeries(c.series, p.now-p.begin)
	for _, s := range open.Windows {
		if within > 0 && s.To-open.From <= within {
			continue // it may still be false
		}
		x := &progress{
			abortWatch: p.abortWatch, now: p.now, begin: p.begin + s.From, until: p.begin + s.To,
			place: p.in.Parts.Series[c.series].Place, all: s.Aggregate,
		}
		why := verdict.Abort(one, c.Program, x)
		if why == "" {
			continue
		}
		if wrong++; within > 0 || wrong > c.allowed(p) {
			p.older = x.older
			return fmt.Sprintf("%s (in the window from %s to %s)",
				why, source.About(time.Duration(s.From)), source.About(time.Duration(s.To)))
		}
	}
	return ""
}

// allowed counts the windows of the whole scope that may be false.
func (c *abortCheck) allowed(p *progress) int {
	if c.Allow == 0 {
		return 0
	}
	if p.plan.Length == 0 {
		return measure.MaxWindows // their number is unknown
	}
	return verdict.AllowedFalse(c.Assertion, p.folder.SeriesCount(c.series, p.plan.Length))
}
