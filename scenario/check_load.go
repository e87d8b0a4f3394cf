package scenario

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// dimension is what differs between quantities of requests in flight and of requests per second.
type dimension[T language.Amount] struct {
	name  string
	min   T // smallest value; 0: above 0
	max   T
	write func(float64) string
}

func inFlight() dimension[int64] {
	return dimension[int64]{
		"concurrency", 1, language.MaxSlots, func(v float64) string {
			return strconv.FormatFloat(v, 'f', 0, 64)
		},
	}
}

func perSecond() dimension[language.Rate] {
	return dimension[language.Rate]{
		"rate", 0, language.MaxRate,
		func(v float64) string { return strconv.FormatFloat(language.Round(v), 'f', -1, 64) + "/s" },
	}
}

// checkLoad checks the load of a stage. lasts: the stage says how long it lasts.
func checkLoad(c *checker, l *language.Load, lasts bool) {
	checkQuantity(c, l.Concurrency, inFlight(), lasts)
	checkQuantity(c, l.Rate, perSecond(), lasts)
	if l.Concurrency != nil {
		checkPeriodic(c, l.Concurrency.More.Periodic)
	}
	checkArrivals(c, l.Arrivals)
	checkDist(c, l.Think)
	if l.Intervals != nil {
		c.file(l.Intervals.File)
	}
}

func checkQuantity[T language.Amount, X any](
	c *checker, q *language.Quantity[T, X], dim dimension[T], lasts bool,
) {
	if q == nil {
		return
	}
	checkDerived(c, q.One, dim)
	seen := map[T]bool{}
	for _, v := range q.Many {
		checkAmount(c, v, dim)
		if seen[v.V] {
			c.at(v.At, source.Errorf(source.CodeDuplicate, "duplicate %s %s", dim.name, v.At.Node.Text))
		}
		seen[v.V] = true
	}
	if q.Many != nil && len(q.At.Node.Items) == 0 {
		c.at(q.At, source.Errorf(source.CodeLevels, "%s", dim.name+" has no values"))
	}
	if len(q.Many) > language.MaxValues {
		c.at(q.At, tooMany(len(q.Many)))
	}
	if q.Levels != nil {
		checkLevels(c, q.Levels, dim)
	}
	if q.Ramp != nil {
		checkRamp(c, q, dim, lasts)
	}
	if q.Search != nil {
		checkSearch(c, q.Search, dim)
	}
}

func tooMany(n int) *source.Diagnostic {
	return source.Errorf(source.CodeLevels, "%d levels are more than %d", n,
		language.MaxValues).Help("use a larger step, or `factor`")
}

// checkAmount checks one value of a quantity.
func checkAmount[T language.Amount](c *checker, v *language.Val[T], dim dimension[T]) {
	if v != nil {
		c.at(v.At, dim.wrong(v.V))
	}
}

// checkDerived checks one value of a quantity that may come from an earlier result.
func checkDerived[T language.Amount](c *checker, v *language.Val[language.Derived[T]], dim dimension[T]) {
	if v != nil && v.V.Expr == nil {
		c.at(v.At, dim.wrong(v.V.V))
	}
}

// wrong says what is wrong with a value of the quantity; nil: nothing.
func (dim dimension[T]) wrong(v T) *source.Diagnostic {
	switch {
	case v < dim.min || v <= 0:
		m := outOfRange("%s must be above 0", dim.name)
		if dim.min > 0 {
			m.Summary = fmt.Sprintf(
				"%s must be from %s to %s", dim.name, dim.write(float64(dim.min)),
				dim.write(float64(dim.max)),
			)
		}
		return m
	case v > dim.max:
		return outOfRange("%s must be at most %s", dim.name, dim.write(float64(dim.max)))
	}
	return nil
}

func checkLevels[T language.Amount](c *checker, l *language.Levels[T], dim dimension[T]) {
	checkAmount(c, l.From, dim)
	checkAmount(c, l.To, dim)
	if l.Step != nil && l.Step.V <= 0 {
		c.at(l.Step.At, source.Errorf(source.CodeLevels, "step must be above 0"))
	}
	if l.Factor != nil && l.Factor.V <= 1 {
		c.at(l.Factor.At, source.Errorf(source.CodeLevels, "factor must be above 1"))
	}
	switch {
	case l.From == nil:
		if c.Absent(l.At, "from") && !c.Lacks[l.At.Path] {
			c.at(l.At, missing("levels need \"from\""))
		}
	case c.Absent(l.At, "to") && c.Absent(l.At, "while"):
		c.at(l.At,
			source.Errorf(source.CodeLevels,
				"levels without \"to\" never end").
				Help("add `to`, or `while` with the condition for going on"))
	case l.To == nil:
	case l.To.V < l.From.V:
		c.at(l.To.At, source.Errorf(source.CodeLevels, "levels must ascend: \"to\" is below \"from\""))
	case l.Sound():
		if n := l.Count(); n > language.MaxValues {
			c.at(l.At, tooMany(n))
		}
	}
}

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
				doesNotFit("generated data has no times to follow").
					Help("name a `file` of times here, or one with timestamps "+
						"in `data`"))
			return
		}
	}
}
