package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// The checks of loads that change while they last, and of those whose times are recorded.

// checkRamp checks the steps of a ramp. lasts: the stage says how long it lasts, so the last value
// is held.
func checkRamp[T language.Amount, X any](
	c *checker, q *language.Quantity[T, X], dim dimension[T], lasts bool,
) {
	at := q.At.Path + "/ramp"
	if c.Doubtful(at) {
		return
	}
	if len(q.Ramp) == 0 {
		c.under(q.At, "ramp", missing("the ramp has no steps"))
		return
	}
	if len(q.Ramp) > language.MaxSteps {
		c.under(
			q.At, "ramp",
			source.Errorf(source.CodeLevels, "%d steps are more than %d", len(q.Ramp), language.MaxSteps),
		)
		return
	}
	var length time.Duration
	moves := false // some value is above 0
	names := map[string]bool{}
	unnamed := false // some hold has no name, so it is called "hold"
	for i, step := range q.Ramp {
		if to := step.To; to != nil {
			moves = moves || to.V.Expr != nil || to.V.V > 0
			if to.V.Expr == nil && to.V.V != 0 { // a ramp may go down to nothing
				c.at(to.At, dim.wrong(to.V.V))
			}
		}
		hold := lasts && i == len(q.Ramp)-1
		if step.Hold != nil {
			length, hold = length+step.Hold.V, hold || step.Hold.V > 0
		}
		if step.Over != nil {
			length += step.Over.V
		}
		checkStepName(c, step.Name, names, hold)
		unnamed = unnamed || hold && step.Name == nil
	}
	for _, step := range q.Ramp {
		if step.Name != nil && step.Name.V == HoldPhase && unnamed {
			c.at(
				step.Name.At,
				source.Errorf(source.CodeDuplicate, "%q is what the holds without a name are called together",
					HoldPhase).Help("name the other holds, or this one otherwise"),
			)
		}
	}
	switch {
	case !moves:
		c.under(q.At, "ramp", outOfRange("the ramp never leaves 0"))
	case length == 0 && !lasts:
		c.under(q.At, "ramp",
			outOfRange("the ramp takes no time").Help("give its steps `over` or `hold`, or the stage `for`"))
	}
}

// checkStepName checks the name of a hold.
func checkStepName(c *checker, name *language.Val[string], names map[string]bool, holds bool) {
	if name == nil {
		return
	}
	if names[name.V] {
		c.at(name.At, source.Errorf(source.CodeDuplicate, "two holds are named %q", name.V))
	}
	names[name.V] = true
	if name.V == RampPhase {
		c.at(
			name.At,
			source.Errorf(source.CodeDuplicate, "%q is the phase between the holds of every ramp",
				name.V).Help("give the hold another name"),
		)
	}
	if !holds {
		c.at(name.At,
			doesNotFit("%q names a hold, and this step holds nothing",
				name.V).Help("give the step `hold`"))
	}
}

func checkSearch[T language.Amount](c *checker, s *language.Search[T], dim dimension[T]) {
	checkDerived(c, s.From, dim)
	checkDerived(c, s.To, dim)
	if s.From != nil && s.To != nil && s.From.V.Expr == nil && s.To.V.Expr == nil && s.To.V.V <= s.From.V.V {
		c.at(s.To.At, outOfRange("a search goes up: \"to\" must be above \"from\""))
	}
	p := s.Precision
	switch {
	case p == nil:
	case p.V.Ratio == 0 && p.V.Amount <= 0:
		c.at(p.At, outOfRange("precision must be above 0"))
	case p.V.Ratio > 1:
		c.at(p.At, outOfRange("precision must be at most 100%%"))
	}
}

func checkPeriodic(c *checker, p *language.Periodic) {
	if p != nil && p.From != nil && p.To != nil && p.To.V <= p.From.V {
		c.at(p.To.At, outOfRange("\"to\" must be above \"from\""))
	}
}

func checkArrivals(c *checker, a *language.Arrivals) {
	const most = 100
	if a != nil && a.CV != nil && (a.CV.V < 0 || a.CV.V > most) {
		c.at(a.CV.At, outOfRange("cv must be from 0 to %d", most).
			Help("0 is constant, 1 is poisson, more comes in bursts"))
	}
}

// schedule checks recorded times: those of a file need a unit, those of the data need rows that
// have some.
func (c *stageChecks) schedule(s *language.Stage, r *language.Schedule) {
	if r == nil {
		return
	}
	c.file(r.File)
	if r.File != nil && c.Absent(r.At, "unit") {
		c.under(r.At, "file",
			missing("the times of a file need \"unit\"").Help("add `unit: ns`, us, ms or s"))
	}
	if r.Speed != nil && r.Speed.V <= 0 {
		c.at(r.Speed.At, outOfRange("speed must be above 0"))
	}
	if r.From != nil && r.To != nil && r.To.V <= r.From.V {
		c.at(r.To.At, outOfRange("\"to\" must be above \"from\""))
	}
	if !c.Absent(r.At, "file") {
		return
	}
	for _, q := range s.Requests() {
		ds, _ := pick(c.datasets, q.Data, "main")
		if ds != nil && ds.Generate != nil {
			c.at(r.At,
				doesNotFit("generated data has no times to follow").Help("name a `file` of times here, or one with timestamps "+
					"in `data`"))
			return
		}
	}
}
