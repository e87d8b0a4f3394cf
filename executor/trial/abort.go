package trial

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/executor/drive"
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
	in      *Input
	plan    *program.Load
	folder  *measure.Folder
	control *drive.Control
	checks  []*abortCheck
	looked  int64 // run clock
}

// abortCheck watches one assertion. If it is judged on windows, each is judged once, when it is
// complete.
type abortCheck struct {
	program.Check
	series int // of its windows, in scopes.series; -1: it is judged as a whole
	seen   int // windows judged so far
	wrong  int // false ones of those
}

// abortion says that an assertion with `abort` is certainly false, whatever comes.
type abortion struct {
	id, that, why string // of the assertion; its text
	inFlight      int64  // requests without an outcome for longer than its limit
}

// mayAbort reports whether one of the checks on a node may end the run.
func mayAbort(checks []program.AskedCheck) bool {
	return slices.ContainsFunc(checks, func(c program.AskedCheck) bool { return c.Assertion.Abort })
}

// newAbortWatch finds what may end the run while the node of a trial is measured.
func newAbortWatch(in *Input, p *program.Load, f *measure.Folder, c *drive.Control) abortWatch {
	w := abortWatch{in: in, plan: p, folder: f, control: c}
	for _, c := range in.Checks {
		if !c.Assertion.Abort {
			continue
		}
		x := &abortCheck{Check: c.Check, series: -1}
		if every := c.Window(); every > 0 {
			at := expression.Place{Phase: c.Refs[0].Phase, Mix: c.Refs[0].Mix}
			x.series = slices.IndexFunc(in.Parts.Series, func(w program.WindowSeries) bool {
				return w.Place == at && w.Every == every
			})
		}
		w.checks = append(w.checks, x)
	}
	return w
}

// look returns the first assertion with `abort` that has become certainly false. It is called once
// a tick and looks once a second. nil: the run goes on.
func (w *abortWatch) look(now int64) *abortion {
	begin := w.control.HoldStart.Load()
	if len(w.checks) == 0 || begin == 0 || now < begin || now-w.looked < lookEvery {
		return nil
	}
	w.looked = now
	p := &progress{abortWatch: w, now: now, begin: begin}
	p.all, p.scopes = w.folder.Current()
	for _, c := range w.checks {
		var why string
		if c.series >= 0 {
			why = c.windows(p)
		} else {
			why = verdict.Abort(c.Assertion, c.Program, p)
		}
		if why != "" {
			return &abortion{id: c.Assertion.ID, that: c.Assertion.That.Text, why: why, inFlight: p.older}
		}
	}
	return nil
}

// windows says why an assertion that is judged on windows is certainly false: with `within` by the
// first false window that ends too late, with `every` when more windows are false than all of hold
// may have.
func (c *abortCheck) windows(p *progress) string {
	w, done := p.in.Parts.Series[c.series], p.folder.CompleteSeries(c.series)
	for ; c.seen < len(done.Windows); c.seen++ {
		s := storedSeries(w, measure.Series{From: done.From, Windows: done.Windows[c.seen : c.seen+1]})
		within := c.Assertion.Within.Seconds()
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
			return c.Assertion.That.Text + " is certainly false: " + a.Reason
		}
	}
	return c.openWindows(p)
}

// openWindows looks at the windows that have ended and still wait for replies: with a server that
// answers nothing none is ever complete. Requests that have been open for longer than the limit are
// over it.
func (c *abortCheck) openWindows(p *progress) string {
	wrong, one, within := c.wrong, c.Assertion, int64(c.Assertion.Within)
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
	if c.Assertion.Allow == 0 {
		return 0
	}
	if p.plan.Length == 0 {
		return measure.MaxWindows // their number is unknown
	}
	return verdict.AllowedFalse(c.Assertion, p.folder.SeriesCount(c.series, p.plan.Length))
}
