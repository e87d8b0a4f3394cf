package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// checkLoad checks the load of a stage. lasts: the stage says how long it lasts.
func checkLoad(c *checker, l *language.Load, lasts bool) {
	checkQuantity(c, l.Concurrency, lasts)
	checkQuantity(c, l.Rate, lasts)
	if l.Concurrency != nil {
		checkPeriodic(c, l.Concurrency.More.Periodic)
	}
	checkDist(c, l.Think)
	checkUsers(c, l)
}

// checkUsers refuses what users, each of whom has a rate of its own, cannot have.
func checkUsers(c *checker, l *language.Load) {
	if l.Of.Or("") != OfUsers || l.Rate == nil || c.Doubtful(l.At.Path) {
		return
	}
	for _, key := range []string{"arrivals", "max_in_flight", "overflow"} {
		if l.At.Node.Entry(key) != nil {
			c.under(l.At, key, doesNotFit("%q does not fit `of: users`", key).
				Help("a user's requests are as far apart as the rate says, and never overlap: leave it out"))
		}
	}
	for key, found := range map[string]bool{"ramp": l.Rate.Ramp != nil, "search": l.Rate.Search != nil} {
		if found {
			c.under(l.Rate.At, key, doesNotFit("%q does not fit `of: users`", key).
				Help("write one rate, or levels"))
		}
	}
}

func checkQuantity[T language.Amount, X any](c *checker, q *language.Quantity[T, X], lasts bool) {
	if q == nil {
		return
	}
	if len(q.Many) > language.MaxValues {
		c.at(q.At, tooMany(len(q.Many)))
	}
	if q.Levels != nil {
		checkLevels(c, q.Levels)
	}
	if q.Ramp != nil {
		checkRamp(c, q, lasts)
	}
	if q.Search != nil {
		checkSearch(c, q.Search)
	}
}

func tooMany(n int) *source.Diagnostic {
	return source.Errorf(source.CodeLevels, "%d levels are more than %d", n,
		language.MaxValues).Help("use a larger step, or `factor`")
}

func checkLevels[T language.Amount](c *checker, l *language.Levels[T]) {
	switch {
	case c.Absent(l.At, "to") && c.Absent(l.At, "while"):
		c.at(l.At,
			source.Errorf(source.CodeLevels,
				"levels without \"to\" never end").
				Help("add `to`, or `while` with the condition for going on"))
	case l.To == nil || l.From == nil:
	case l.To.V < l.From.V:
		c.at(l.To.At, source.Errorf(source.CodeLevels, "levels must ascend: \"to\" is below \"from\""))
	case !c.Doubtful(l.At.Path):
		if n := l.Count(); n > language.MaxValues {
			c.at(l.At, tooMany(n))
		}
	}
}

// The checks of loads that change while they last, and of those whose times are recorded.

// checkRamp checks the steps of a ramp. lasts: the stage says how long it lasts, so the last value
// is held.
func checkRamp[T language.Amount, X any](c *checker, q *language.Quantity[T, X], lasts bool) {
	if c.Doubtful(q.At.Path + "/ramp") {
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
		}
		hold := lasts && i == len(q.Ramp)-1 || step.Hold.V > 0
		length += step.Over.V + step.Hold.V
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
	if name.V == expression.Steady {
		c.at(
			name.At,
			source.Errorf(source.CodeDuplicate, "%q is the span of every stage with at least 90 %% of the most "+
				"requests in flight", name.V).Help("give the hold another name"),
		)
	}
	if !holds {
		c.at(name.At,
			doesNotFit("%q names a hold, and this step holds nothing",
				name.V).Help("give the step `hold`"))
	}
}

func checkSearch[T language.Amount](c *checker, s *language.Search[T]) {
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

// schedule checks recorded times: those of a file need a unit, those of the data need rows that
// have some.
func (c *stageChecks) schedule(s *language.Stage, r *language.Schedule) {
	if r == nil {
		return
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
				doesNotFit("generated data has no times to follow").
					Help("name a `file` of times here, or one with timestamps "+
						"in `data`"))
			return
		}
	}
}
